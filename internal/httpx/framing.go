package httpx

import "net/http"

var valueClose = []string{"close"}

// CloseAmbiguous closes the connection after a request whose length a proxy and this
// server may interpret differently (RFC 9112 §6.1): a request with Transfer-Encoding,
// which may have had a Content-Length too, and a request of HTTP/1.0, which may have had
// either. net/http removes these headers before a handler sees them. Nothing more is read
// from such a connection, so that no request can be smuggled past a proxy.
func CloseAmbiguous(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && (r.ProtoMinor == 0 || len(r.TransferEncoding) > 0) {
			w.Header()["Connection"] = valueClose
		}
		next.ServeHTTP(w, r)
	})
}
