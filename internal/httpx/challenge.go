package httpx

import (
	"net/http"

	"pdpp"
)

// MetadataPath is where the metadata document of /v1 is; that of another resource has
// the path of the resource added (RFC 9728 §3.1).
const MetadataPath = "/.well-known/oauth-protected-resource"

// challenge is where a refused caller learns how to get a token (C-19). The zero
// value is no challenge.
type challenge struct {
	base     string // R
	metadata string // the URL of the resource's metadata document
}

// challengeFor gives the challenge of an answer: on 401 and 403 below
// Edge.Challenge, but not where a bearer would not help (H-51).
func challengeFor(r *http.Request, code pdpp.Code, status int) challenge {
	if status != http.StatusUnauthorized && status != http.StatusForbidden {
		return challenge{}
	}
	if code == pdpp.CodeOriginNotAllowed || code == codeOwnerSessionRequired {
		return challenge{}
	}
	st := stateOf(r.Context())
	if st == nil {
		return challenge{}
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	if !st.challenged {
		return challenge{}
	}
	return challenge{base: st.base, metadata: st.base + MetadataPath + st.resource}
}

// set writes the challenge headers (H-50, H-51).
func (c challenge) set(h http.Header, e *pdpp.Error, status int) {
	if c.metadata == "" {
		return
	}
	h[keyWWWAuthenticate] = []string{c.header(e, status)}
	if status == http.StatusUnauthorized && h[keyLink] == nil {
		h[keyLink] = iconLink(c.base)
	}
}

// header has an error only when a bearer was sent: a 401 without one is an
// invitation, not a refusal (RFC 6750 §3.1).
func (c challenge) header(e *pdpp.Error, status int) string {
	b := append(make([]byte, 0, 256), "Bearer "...)
	switch {
	case status == http.StatusForbidden:
		b = appendAuthParam(b, "error", "insufficient_scope")
		b = appendAuthParam(b, "error_description", e.Message)
	case e.Code != pdpp.CodeAuthentication:
		b = appendAuthParam(b, "error", "invalid_token")
		b = appendAuthParam(b, "error_description", e.Message)
	}
	b = appendAuthParam(b, "resource_metadata", c.metadata)
	b = appendAuthParam(b, "scope", "pdpp:read")
	return string(b[:len(b)-len(", ")])
}

// appendAuthParam writes name="value" and a separator. The value is cut down to
// the characters that RFC 6750 §3 allows, so nothing needs escaping and nothing
// can end the string or the header.
func appendAuthParam(b []byte, name, value string) []byte {
	b = append(b, name...)
	b = append(b, '=', '"')
	n := 0
	for _, c := range value {
		if n++; n > maxHeaderDescription && name == "error_description" {
			break
		}
		switch {
		case c == '"':
			c = '\''
		case c == '\\', c < ' ', c > '~':
			c = '?'
		}
		b = append(b, byte(c))
	}
	return append(b, '"', ',', ' ')
}

// nextStep is the advice of a 401 (H-50).
func (c challenge) nextStep() string {
	return "Ask the owner of this data for a token. Where the data is kept, they run: " + pdpp.ConnectCommand(c.base)
}
