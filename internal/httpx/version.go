package httpx

import (
	"net/http"

	"pdpp"
)

// PDPPVersion is the only protocol version that this server supports (C-11).
const PDPPVersion = "2026-04-06"

// Version sets PDPP-Version on every response and rejects a request for another
// version. It comes before authentication (C-11, H-41).
func Version(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header()[keyVersion] = valueVersion
		for _, v := range r.Header[keyVersion] {
			if v != PDPPVersion {
				WriteError(w, r, &pdpp.Error{
					Code:    pdpp.CodeUnsupportedVersion,
					Message: "This server supports PDPP-Version " + PDPPVersion + ". Send that value, or leave the header out.",
				})
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}
