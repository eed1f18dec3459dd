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

// asMetadataPath is the path of the metadata of the authorization server (RFC 8414).
const asMetadataPath = "/.well-known/oauth-authorization-server"

// public returns the handlers of the public paths.
func (s *Server) public() paths {
	p := paths{}
	p.get("/", s.document(func(d *documents) document { return d.index }))
	p.get(httpx.MetadataPath, s.resource)
	p.get(httpx.MetadataPath+auth.MCP.Path, s.document(func(d *documents) document { return d.mcp }))
	metadata := s.document(func(d *documents) document { return d.as })
	p.get(asMetadataPath, metadata)
	p.get(asMetadataPath+auth.MCP.Path, metadata) // for clients that append the path of the resource
	p.get(httpx.IconPath, httpx.Icon)
	return p
}

// isPage reports whether a path is that of a page for people (package pages).
func isPage(path string) bool {
	for _, prefix := range []string{"/owner", "/consent", "/device", "/setup", "/static"} {
		if rest, ok := strings.CutPrefix(path, prefix); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// isOAuth reports whether a path is one of the authorization server (package as).
func isOAuth(path string) bool {
	return strings.HasPrefix(path, "/oauth/") || strings.HasPrefix(path, "/grants/")
}

// prefersHTML reports whether a client is a browser: it names text/html, and JSON not
// before it.
func prefersHTML(r *http.Request) bool {
	accept := r.Header.Get("Accept")
	html, json := strings.Index(accept, "text/html"), strings.Index(accept, "application/json")
	return html >= 0 && (json < 0 || html < json)
}

// paths are handlers by their escaped path (C-3).
type paths map[string]http.Handler

func (p paths) get(path string, h httpx.Handler) { p.add(path, h, http.MethodGet, http.MethodHead) }

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
