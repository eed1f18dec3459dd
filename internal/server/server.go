package server

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/activity"
	"pdpp/internal/as"
	"pdpp/internal/auth"
	"pdpp/internal/blobfile"
	"pdpp/internal/httpx"
	"pdpp/internal/pages"
	"pdpp/internal/query"
	"pdpp/internal/rs"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

// Config is what the server needs from its process: the store, the keys and the settings.
type Config struct {
	Store        store.Store
	Blobs        *blobfile.Store
	InstanceKey  []byte // the keys that protect cursors are derived from it
	Edge         *httpx.Edge
	Rate         httpx.Rate    // per token; 0 removes the per-token limits
	Memory       *httpx.Budget // for all requests together; nil for no limit
	ProviderName string
	Log          *slog.Logger
	Clock        func() time.Time
	Observer     httpx.Observer // measures and traces requests; nil if there is none

	Registration    bool         // clients may register themselves (H-152)
	ClientDocuments *http.Client // fetches client-id metadata documents (H-154); nil: they are not accepted

	// MCP returns the handler of /mcp, which authenticates and reads /v1 through the
	// server. Without it there is no /mcp.
	MCP func(*Server) http.Handler
}

// Server is the HTTP server of one process. It is safe for concurrent use.
type Server struct {
	Config
	Auth     *auth.Authenticator
	Activity *activity.Recorder
	Limiter  *httpx.Limiter // per token (H-67)
	Cursors  *query.Sealer
	SignIn   *signin.Service

	v1        *rs.Server
	as        *as.Server
	pages     *pages.Pages
	documents httpx.PerOrigin[*documents]
}

// New returns a server. Handler serves it, Run does its background work.
func New(cfg Config) (*Server, error) {
	cursors, err := query.NewSealer(cfg.InstanceKey)
	if err != nil {
		return nil, err
	}
	s := &Server{
		Config: cfg, Cursors: cursors, Limiter: httpx.NewLimiter(cfg.Rate, cfg.Clock),
		Activity: activity.New(activity.Config{Store: cfg.Store, Log: cfg.Log}),
	}
	s.Auth = auth.New(auth.Config{Store: cfg.Store, Edge: cfg.Edge, Clock: cfg.Clock, Activity: s.Activity})
	s.v1 = rs.New(rs.Config{
		Store: cfg.Store, Blobs: cfg.Blobs, Cursors: cursors, Auth: s.Auth, Limiter: s.Limiter, Rate: cfg.Rate, Log: cfg.Log, Clock: cfg.Clock,
	})
	if s.SignIn, err = signin.New(signin.Config{Store: cfg.Store, Clock: cfg.Clock, Log: cfg.Log, Key: cfg.InstanceKey, Name: cfg.ProviderName}); err != nil {
		return nil, err
	}
	s.as = as.New(as.Config{
		Store: cfg.Store, Auth: s.Auth, Edge: cfg.Edge, Clock: cfg.Clock, Log: cfg.Log, Limiter: s.Limiter, Registration: cfg.Registration, Documents: cfg.ClientDocuments,
		Page: func(w http.ResponseWriter, r *http.Request, status int, title, text string) {
			s.pages.ShowError(w, r, status, title, text)
		},
	})
	s.pages = pages.New(pages.Config{
		Store: cfg.Store, SignIn: s.SignIn, AS: s.as, Edge: cfg.Edge, ProviderName: cfg.ProviderName, Clock: cfg.Clock, Log: cfg.Log,
	})
	return s, nil
}

// ready reports whether the store answers.
func (s *Server) ready(ctx context.Context) error {
	return s.Store.View(ctx, func(v store.View) error {
		_, err := v.Generation()
		return err
	})
}
