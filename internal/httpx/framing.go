package httpx

import "net/http"

var valueClose = []string{"close"}

// CloseAmbiguous ends the connection after a request whose end two servers might see at
// different places: one with a Transfer-Encoding, which may have had a Content-Length too,
// and one of HTTP/1.0, which may have had either (RFC 9112 §6.1). net/http removes these
// headers before a handler sees them. What follows on such a connection is not read, so
// that nothing can be smuggled past a proxy in front.
func CloseAmbiguous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && (r.ProtoMinor == 0 || len(r.TransferEncoding) > 0) {
			w.Header()["Connection"] = valueClose
		}
		next.ServeHTTP(w, r)
	})
}
