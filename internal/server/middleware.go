package server

import (
	"net/http"

	"pdpp/internal/as"
	"pdpp/internal/auth"
	"pdpp/internal/httpx"
)

// Handler returns the handler of the whole server. The middleware at the end is for all
// paths, in the order of H-41; each group of paths has further middleware of its own.
func (s *Server) Handler() http.Handler {
	edge := s.Edge
	v1 := httpx.Chain(s.v1, edge.CORS(httpx.MethodsREST), httpx.Version, edge.Challenge(auth.REST.Path))
	public := httpx.Chain(s.public().or(httpx.Handler(httpx.NotFound)), httpx.PublicCORS, httpx.Version)
	mcp := v1 // answers 404 for /mcp
	if s.MCP != nil {
		mcp = httpx.Chain(s.MCP(s), noStore, edge.IconLink, edge.StrictCORS(httpx.MethodsMCP), httpx.Version, edge.Challenge(auth.MCP.Path))
	}
	authorize := s.as.Handler() // for browsers: no other page may read its answers (H-56)
	oauth := httpx.Chain(authorize, edge.CORS(httpx.MethodsMCP))
	probes := s.probes()
	mux := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath() // /%6dcp is not /mcp
		switch {
		case path == auth.MCP.Path:
			mcp.ServeHTTP(w, r)
		case httpx.IsProbe(r):
			probes.ServeHTTP(w, r)
		case isPage(path) || path == "/" && prefersHTML(r):
			s.pages.ServeHTTP(w, r)
		case path == as.AuthorizePath:
			authorize.ServeHTTP(w, r)
		case isOAuth(path):
			oauth.ServeHTTP(w, r)
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

// Inside returns the handler of the reads of /v1 that the process makes for an
// auth.Caller (H-53).
func (s *Server) Inside() http.Handler {
	return httpx.Chain(s.v1, httpx.WithRequestID, httpx.Observe(s.Observer))
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
