package rs

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/auth"
	"pdpp/internal/blobfile"
	"pdpp/internal/httpx"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Config is what a resource server is made of.
type Config struct {
	Store        store.Store
	Blobs        *blobfile.Store // the bytes of blobs
	InstanceKey  []byte          // cursors are authenticated with a key derived from it
	Edge         *httpx.Edge
	Rate         httpx.Rate    // per token; 0 lifts the per-token limits
	Memory       *httpx.Budget // of all requests together; nil for no bound
	ProviderName string
	Log          *slog.Logger
	Clock        func() time.Time
	Observer     httpx.Observer // measures and traces requests; nil for nobody
}

// Server serves /v1 and the discovery documents. It is safe for concurrent use.
type Server struct {
	Config
	cursors   *query.Sealer
	documents httpx.PerOrigin[*documents]
	turns     fairShare
	routes    []route

	Auth    *auth.Authenticator
	Limiter *httpx.Limiter // per token (H-67)
}

// New makes a server.
func New(cfg Config) (*Server, error) {
	cursors, err := query.NewSealer(cfg.InstanceKey)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Config: cfg, cursors: cursors, turns: newFairShare(cfg.Rate), Limiter: httpx.NewLimiter(cfg.Rate, cfg.Clock),
		Auth: auth.New(auth.Config{Store: cfg.Store, Edge: cfg.Edge, Clock: cfg.Clock, Log: cfg.Log}),
	}
	s.routes = s.table()
	return s, nil
}

// table is every path this server answers, with its methods.
func (s *Server) table() []route {
	return []route{
		{"/v1/connectors", methods{"GET": s.read(cheap, listConnectors)}},
		{"/v1/streams", methods{"GET": s.read(cheap, listStreams)}},
		{"/v1/streams/{stream}", methods{"GET": s.read(cheap, streamMetadata)}},
		{"/v1/schema", methods{"GET": s.read(cheap, schema, "view", "detail", "stream")}},
		{"/v1/streams/{stream}/records", methods{
			"GET":    s.read(unlessPlain, listRecords, "limit", "cursor", "order", "sort", "count", "fields", "view", "filter", "expand", "expand_limit", "changes_since"),
			"DELETE": s.write(deleteRecords),
		}},
		{"/v1/streams/{stream}/records/{id}", methods{
			"GET":    s.read(unlessPlain, getRecord, "fields", "view", "expand", "expand_limit"),
			"DELETE": s.write(deleteRecord),
		}},
		{"/v1/streams/{stream}/records/{id}/field-window", methods{"GET": s.read(cheap, fieldWindow, query.WindowParams...)}},
		{"/v1/streams/{stream}/aggregate", methods{"GET": s.read(expensive, aggregate, query.AggregateParams...)}},
		{"/v1/search", methods{"GET": s.read(expensive, search, query.SearchParams...)}},
		{"/v1/blobs", methods{"POST": s.write(postBlob, "mime_type", "stream", "record_key", "run_id")}},
		{"/v1/blobs/{blob_id}", methods{"GET": s.read(cheap, getBlob)}},
		{"/v1/ingest/{stream}", methods{"POST": s.write(ingestRecords, "run_id")}},
		{"/v1/state/{connector}", methods{"GET": s.write(getState, "grant_id", "run_id"), "PUT": s.write(putState, "grant_id", "run_id")}},
		{"/", methods{"GET": s.discovery(func(d *documents) document { return d.index })}},
		{httpx.MetadataPath, methods{"GET": s.resource}},
		{httpx.MetadataPath + mcpPath, methods{"GET": s.discovery(func(d *documents) document { return d.mcp })}},
		{"/register", methods{"POST": noSignIn("access_denied")}},
		{"/authorize", methods{"GET": noSignIn("access_denied")}},
		{"/token", methods{"POST": noSignIn("unsupported_grant_type")}},
		{httpx.IconPath, methods{"GET": func(w http.ResponseWriter, r *http.Request, _ vars) error { return httpx.Icon(w, r) }}},
	}
}

// Inside serves reads that the process makes for an auth.Caller (H-53), through the same
// routes as requests from outside.
func (s *Server) Inside() http.Handler {
	return httpx.Chain(httpx.Handler(s.route), httpx.WithRequestID, httpx.Observe(s.Observer))
}

// Endpoint is a handler of its own at a path.
type Endpoint struct {
	Path string
	http.Handler
}

// Handler is the whole server behind the edge, in the order of H-41. endpoints are
// served at their paths beside the routes of this package.
func (s *Server) Handler(endpoints ...Endpoint) http.Handler {
	probes := http.NewServeMux()
	probes.Handle("GET /healthz", httpx.Health())
	probes.Handle("GET /readyz", httpx.Ready(s.ready))
	routes := httpx.Handler(s.route)
	v1 := httpx.Chain(routes, s.Edge.CORS(httpx.MethodsREST), httpx.Version, s.Edge.Challenge(""))
	public := httpx.Chain(routes, httpx.PublicCORS, httpx.Version)
	top := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		path := r.URL.EscapedPath() // /%6dcp is not /mcp
		for _, e := range endpoints {
			if e.Path == path {
				e.ServeHTTP(w, r)
				return
			}
		}
		switch {
		case httpx.IsProbe(r):
			probes.ServeHTTP(w, r)
		case isPublic(path):
			public.ServeHTTP(w, r)
		default:
			v1.ServeHTTP(w, r)
		}
	})
	return httpx.Chain(top, httpx.CloseAmbiguous, httpx.WithRequestID, httpx.Observe(s.Observer), httpx.AccessLog(s.Log, s.Clock), httpx.Recover, httpx.Deadlines,
		s.Memory.Within, httpx.InFlight(httpx.MaxInFlight), s.Edge.Gate)
}

// ready reports whether the store answers.
func (s *Server) ready(ctx context.Context) error {
	return s.Store.View(ctx, func(v store.View) error {
		_, err := v.Generation()
		return err
	})
}
