package server

import (
	"io"
	"net/http"

	"pdpp/internal/httpx"
)

// noSignInMessage is ASCII, as RFC 6749 requires of an error_description. Neither it nor
// a Request-Id needs escaping in JSON.
const noSignInMessage = "This server has no sign-in yet. Ask the owner of the data for a token, and set it in your client as the header " +
	"Authorization: Bearer TOKEN. Where the data is kept, they make one with: pdpp grants create --client NAME --spec FILE"

// noSignIn answers requests for an authorization server (H-135). MCP clients that find no
// metadata of one use the paths of MCP 2025-03-26. They show the description of an OAuth
// error to the user. For any other answer they only show that it cannot be parsed.
func noSignIn(code string) httpx.Handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		body := `{"error":"` + code + `","error_description":"` + noSignInMessage + `","request_id":"` + httpx.RequestID(r.Context()) + "\"}\n"
		h := w.Header()
		httpx.SetJSON(h)
		h["Cache-Control"] = valueNoStore
		h["Pragma"] = []string{"no-cache"}
		w.WriteHeader(http.StatusBadRequest)
		_, err := io.WriteString(w, body)
		return err
	}
}
