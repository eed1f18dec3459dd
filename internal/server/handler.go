package server

import (
	"net/http"
	"slices"
	"strings"

	"pdpp/internal/auth"
	"pdpp/internal/httpx"
)

// Handler returns the whole server: every path, behind one list of middleware in the
// order of H-41.
func (s *Server) Handler() http.Handler {
	edge := s.Edge
	v1 := httpx.Chain(s.signIn().or(s.v1), edge.CORS(httpx.MethodsREST), httpx.Version, edge.Challenge(auth.REST.Path))
	public := httpx.Chain(s.public().or(httpx.Handler(httpx.NotFound)), httpx.PublicCORS, httpx.Version)
	mcp := v1 // which answers 404
	if s.MCP != nil {
		mcp = httpx.Chain(s.MCP(s), noStore, edge.IconLink, edge.StrictCORS(httpx.MethodsMCP), httpx.Version, edge.Challenge(auth.MCP.Path))
	}
	probes := s.probes()
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath() // /%6dcp is not /mcp
		switch {
		case path == auth.MCP.Path:
			mcp.ServeHTTP(w, r)
		case httpx.IsProbe(r):
			probes.ServeHTTP(w, r)
		case isPublic(path):
			public.ServeHTTP(w, r)
		default:
			v1.ServeHTTP(w, r)
		}
	})
	return httpx.Chain(
		mux,
		httpx.CloseAmbiguous,
		httpx.WithRequestID,
		httpx.Observe(s.Observer),
		httpx.AccessLog(s.Log, s.Clock),
		httpx.Recover,
		httpx.Deadlines,
		s.Memory.Within,
		httpx.InFlight(httpx.MaxInFlight),
		edge.Gate,
	)
}

// Inside serves reads of /v1 that the process makes for an auth.Caller (H-53).
func (s *Server) Inside() http.Handler {
	return httpx.Chain(s.v1, httpx.WithRequestID, httpx.Observe(s.Observer))
}

func (s *Server) probes() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /healthz", httpx.Health())
	mux.Handle("GET /readyz", httpx.Ready(s.ready))
	return mux
}

// isPublic reports the paths that need no token and that any page may read (H-56). An
// unknown path below /.well-known/ is public too, so that a page can see the 404.
func isPublic(path string) bool {
	return path == "/" || path == httpx.IconPath || strings.HasPrefix(path, "/.well-known/")
}

// public are the public paths.
func (s *Server) public() paths {
	p := paths{}
	p.get("/", s.document(func(d *documents) document { return d.index }))
	p.get(httpx.MetadataPath, s.resource)
	p.get(httpx.MetadataPath+auth.MCP.Path, s.document(func(d *documents) document { return d.mcp }))
	p.get(httpx.IconPath, httpx.Icon)
	return p
}

// signIn are the paths of an authorization server, which there is not yet.
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

// or serves the paths, and all others with next.
func (p paths) or(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if h, ok := p[r.URL.EscapedPath()]; ok {
			h.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	})
}

var (
	valueNoStore = []string{"no-store"}
	valueVersion = []string{httpx.PDPPVersion}
)

// noStore sets the headers that all answers of /mcp have, preflights too (H-64).
func noStore(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Cache-Control"], h["Pdpp-Version"] = valueNoStore, valueVersion
		next.ServeHTTP(w, r)
	})
}
