package rs

import (
	"net/http"

	"pdpp/internal/httpx"
	"pdpp/internal/rawjson"
)

// noSignInMessage is ASCII, as RFC 6749 wants an error_description to be.
const noSignInMessage = "This server has no sign-in yet. Ask the owner of the data for a token, and set it in your client as the header " +
	"Authorization: Bearer TOKEN. Where the data is kept, they make one with: pdpp grants create --client NAME --spec FILE"

// noSignIn answers what is missing until there is an authorization server (H-135). MCP
// clients that find no metadata of one use the paths of MCP 2025-03-26; they show people
// the description of an OAuth error, and of anything else a parser's complaint.
func noSignIn(code string) handler {
	return func(w http.ResponseWriter, r *http.Request, _ vars) error {
		b := append([]byte(`{"error":`), rawjson.AppendString(nil, code)...)
		b = appendMember(b, "error_description", noSignInMessage)
		b = appendMember(b, "request_id", httpx.RequestID(r.Context()))
		h := w.Header()
		httpx.SetJSON(h)
		h["Cache-Control"] = []string{"no-store"}
		h["Pragma"] = []string{"no-cache"}
		w.WriteHeader(http.StatusBadRequest)
		_, err := w.Write(appendText(b, "}\n"))
		return err
	}
}
