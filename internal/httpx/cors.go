package httpx

import (
	"net/http"
	"slices"

	"pdpp"
)

// The methods that a preflight allows (H-57).
const (
	MethodsREST = "GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS" // /v1
	MethodsMCP  = "POST, OPTIONS"                                // /mcp
)

var (
	valueAny         = []string{"*"}
	valueVaryOrigin  = []string{"Origin"}
	valueReadMethods = []string{"GET, HEAD, OPTIONS"}
	valueMaxAge      = []string{"600"}
	valueHeaders     = []string{"Authorization, Content-Type, Accept, Prefer, Range, If-Range, If-None-Match, MCP-Protocol-Version, " +
		"Mcp-Method, Mcp-Name, Mcp-Session-Id, Last-Event-ID, Request-Id, PDPP-Version"}
	valueExpose = []string{"WWW-Authenticate, Link, Request-Id, X-Request-Id, Retry-After, Preference-Applied, ETag, Content-Range, " +
		"MCP-Protocol-Version, PDPP-Version"}
)

var errOrigin = &pdpp.Error{
	Code:    pdpp.CodeOriginNotAllowed,
	Message: "Web pages of this origin may not use this server. Its operator can allow them with --allowed-origins.",
}

// originStatus classifies the origin of a request (H-55).
type originStatus uint8

const (
	originAbsent originStatus = iota
	originAllowed
	originRefused
)

// checkOrigin applies H-55. An opaque origin ("null") identifies nobody and is refused
// even where any origin is allowed.
func (e *Edge) checkOrigin(r *http.Request) originStatus {
	sent := r.Header[keyOrigin]
	if len(sent) == 0 {
		return originAbsent
	}
	if len(sent) > 1 || sent[0] == "" || sent[0] == "null" {
		return originRefused
	}
	// An origin with another scheme, such as that of a browser extension, parses to
	// the zero Origin, which only "*" matches.
	o, ok := parseOrigin(sent[0])
	if ok && (o.browserLoopback() || o.text == e.Base(r)) {
		return originAllowed
	}
	if slices.ContainsFunc(e.AllowedOrigins, func(p OriginPattern) bool { return p.matches(o) }) {
		return originAllowed
	}
	return originRefused
}

// CORS adds the CORS headers for /v1 and the OAuth POST endpoints (H-56 … H-58). An
// allowed origin is echoed. Another origin gets no CORS headers, and its preflight is
// refused. CORS answers all OPTIONS requests.
func (e *Edge) CORS(methods string) Middleware {
	allow := []string{methods}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			status := e.checkOrigin(r)
			addVary(w.Header(), valueVaryOrigin)
			if r.Method == http.MethodOptions {
				preflight(w, r, status, allow)
				return
			}
			if status == originAllowed {
				exposeTo(w.Header(), r.Header[keyOrigin])
			}
			next.ServeHTTP(w, r)
		})
	}
}

// StrictCORS adds the CORS headers for /mcp. It answers every request of an origin that
// is not allowed with 403 (H-55).
func (e *Edge) StrictCORS(methods string) Middleware {
	lenient := e.CORS(methods)
	return func(next http.Handler) http.Handler {
		inner := lenient(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if e.checkOrigin(r) == originRefused {
				addVary(w.Header(), valueVaryOrigin)
				WriteError(w, r, errOrigin)
				return
			}
			inner.ServeHTTP(w, r)
		})
	}
}

// PublicCORS allows every page to read documents that contain nothing private:
// /.well-known/* and /icon.svg (H-56).
func PublicCORS(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodOptions {
			w.Header()[keyAllowOrigin] = valueAny
			allowRequest(w, valueReadMethods)
			return
		}
		exposeTo(w.Header(), valueAny)
		next.ServeHTTP(w, r)
	})
}

func preflight(w http.ResponseWriter, r *http.Request, status originStatus, methods []string) {
	switch status {
	case originRefused:
		WriteError(w, r, errOrigin)
		return
	case originAllowed:
		w.Header()[keyAllowOrigin] = r.Header[keyOrigin]
	}
	allowRequest(w, methods)
}

func allowRequest(w http.ResponseWriter, methods []string) {
	h := w.Header()
	h[keyAllowMethods] = methods
	h[keyAllowHeaders] = valueHeaders
	h[keyMaxAge] = valueMaxAge
	w.WriteHeader(http.StatusNoContent)
}

// exposeTo lets a page read an actual response and its headers (H-58). Credentials
// are never allowed: a page sets the Authorization header itself.
func exposeTo(h http.Header, origin []string) {
	h[keyAllowOrigin] = origin
	h[keyExposeHeaders] = valueExpose
}
