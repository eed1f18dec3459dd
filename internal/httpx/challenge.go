package httpx

import (
	"net/http"

	"pdpp"
)

// MetadataPath is the path of the metadata document of /v1. For another resource the
// path of the resource is appended (RFC 9728 §3.1).
const MetadataPath = "/.well-known/oauth-protected-resource"

// challenge tells a rejected client where to get a token (C-19). The zero value means
// no challenge.
type challenge struct {
	base     string // R
	metadata string // the URL of the resource's metadata document
}

// challengeFor returns the challenge of a response. Responses with status 401 or 403 have
// one if Edge.Challenge wraps their handler, except errors that another token would not
// solve (H-51).
func challengeFor(r *http.Request, code pdpp.Code, status int) challenge {
	if status != http.StatusUnauthorized && status != http.StatusForbidden {
		return challenge{}
	}
	if code == pdpp.CodeOriginNotAllowed {
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

// header returns the value of WWW-Authenticate. It contains an error only if the request
// had a bearer token (RFC 6750 §3.1).
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

// appendAuthParam appends name="value" and a separator. It replaces characters that RFC
// 6750 §3 does not allow, so that a value needs no escaping and cannot end the quoted
// string or the header.
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

// nextStep returns the advice of a 401 (H-50).
func (c challenge) nextStep() string {
	return "Read resource_metadata and start its OAuth flow, or run: pdpp " + pdpp.ConnectCommand(c.base)
}
