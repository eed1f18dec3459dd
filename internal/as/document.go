package as

import (
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"pdpp/internal/rawjson"
)

// The rules of client-id metadata documents (H-154, H-155): a client id that is a URL, and
// the document there that says what a registration says.

const (
	maxDocument = 64 << 10 // bytes

	// A document is used as long as its server allows, within these limits.
	minFresh = 5 * time.Minute
	maxFresh = 24 * time.Hour
)

// isDocumentID reports whether a client id is the URL of a document.
func isDocumentID(id string) bool {
	u, err := url.Parse(id)
	if err != nil || len(id) > maxURI || !isURIText(id) {
		return false
	}
	hasDots := slices.ContainsFunc(strings.Split(u.Path, "/"), func(s string) bool { return s == "." || s == ".." })
	isPlain := u.Hostname() != "" && hasPlainHost(u) && u.User == nil && !strings.Contains(id, "#")
	return strings.HasPrefix(id, "https://") && isPlain && u.Path != "" && u.Path != "/" && !hasDots
}

// documentFault says why a document was not accepted, in words for the client.
type documentFault struct {
	reason string
	// changed is true for a document that was read but no longer has its URL as client_id:
	// the client has given up this id (H-155).
	changed bool
}

func (f *documentFault) Error() string { return f.reason }

// parseDocument parses the document of a client. Errors are of type *documentFault.
func parseDocument(id string, body []byte) (*metadata, error) {
	compact, err := rawjson.Compact(nil, body)
	if err != nil || compact[0] != '{' {
		return nil, &documentFault{reason: "the document is not a JSON object"}
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(compact, &members); err != nil {
		return nil, &documentFault{reason: "the document is not a JSON object"}
	}
	var named string
	if err := json.Unmarshal(members["client_id"], &named); err != nil || named != id {
		return nil, &documentFault{reason: "client_id in the document is not the URL of the document", changed: true}
	}
	var m metadata
	if err := json.Unmarshal(compact, &m); err != nil {
		return nil, &documentFault{reason: "the members of the document do not have the types of RFC 7591"}
	}
	for name := range members {
		if strings.HasPrefix(name, "client_secret") {
			return nil, &documentFault{reason: "the document contains " + name + ", but a public document must not contain a secret"}
		}
	}
	if m.AuthMethod != "" && m.AuthMethod != "none" {
		return nil, &documentFault{reason: "token_endpoint_auth_method in the document must be none"}
	}
	if err := m.normalize(); err != nil {
		return nil, &documentFault{reason: "in the document, " + resolve(err).description}
	}
	return &m, nil
}

// freshness returns how long a document may be used without fetching it again.
func freshness(h http.Header) time.Duration {
	var age time.Duration
	for directive := range strings.SplitSeq(strings.Join(h.Values("Cache-Control"), ","), ",") {
		name, value, _ := strings.Cut(strings.ToLower(strings.TrimSpace(directive)), "=")
		switch name {
		case "max-age":
			seconds, err := strconv.ParseUint(strings.Trim(value, `"`), 10, 31)
			if err == nil {
				age = time.Duration(seconds) * time.Second
			}
		case "no-store", "no-cache":
			return minFresh
		}
	}
	return min(max(age, minFresh), maxFresh)
}
