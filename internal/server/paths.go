package server

import (
	"net/http"
	"slices"
	"strings"

	"pdpp/internal/auth"
	"pdpp/internal/httpx"
)

func (s *Server) probes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", httpx.Health())
	mux.Handle("GET /readyz", httpx.Ready(s.ready))
	return mux
}

// isPublic reports whether a path needs no token and may be read by any web page (H-56).
// An unknown path below /.well-known/ is public too, so that a page can see the 404.
func isPublic(path string) bool {
	return path == "/" || path == httpx.IconPath || strings.HasPrefix(path, "/.well-known/")
}

// public returns the handlers of the public paths.
func (s *Server) public() paths {
	p := paths{}
	p.get("/", s.document(func(d *documents) document { return d.index }))
	p.get(httpx.MetadataPath, s.resource)
	p.get(httpx.MetadataPath+auth.MCP.Path, s.document(func(d *documents) document { return d.mcp }))
	p.get(httpx.IconPath, httpx.Icon)
	return p
}

// signIn returns the handlers of the paths of an authorization server. There is none yet,
// so they answer with an explanation (H-135).
func (s *Server) signIn() paths {
	p := paths{}
	p.post("/register", noSignIn("access_denied"))
	p.get("/authorize", noSignIn("access_denied"))
	p.post("/token", noSignIn("unsupported_grant_type"))
	return p
}

// paths are handlers by their escaped path (C-3).
type paths map[string]http.Handler

func (p paths) get(path string, h httpx.Handler)  { p.add(path, h, http.MethodGet, http.MethodHead) }
func (p paths) post(path string, h httpx.Handler) { p.add(path, h, http.MethodPost) }

func (p paths) add(path string, h httpx.Handler, methods ...string) {
	refuse := httpx.MethodNotAllowed(strings.Join(methods, ", "))
	p[path] = httpx.Handler(func(w http.ResponseWriter, r *http.Request) error {
		httpx.SetRoute(r.Context(), path)
		if !slices.Contains(methods, r.Method) {
			return refuse(w, r)
		}
		return h(w, r)
	})
}

// or returns a handler that serves these paths and passes all others to next.
func (p paths) or(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := p[r.URL.EscapedPath()]; ok {
			h.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}
