package as

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/auth"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// Config is what the authorization server needs.
type Config struct {
	Store store.Store
	Auth  *auth.Authenticator // authenticates the bearer of a revocation
	Edge  *httpx.Edge
	Clock func() time.Time
	Log   *slog.Logger

	Limiter *httpx.Limiter // of requests with one token (H-67); nil if there is no limit

	Registration bool         // clients may register themselves (H-152)
	Documents    *http.Client // fetches client documents (H-154); nil: they are not accepted

	// Page shows an error that must not be sent to a redirect URI. If it is nil, the text is
	// sent as it is.
	Page func(w http.ResponseWriter, r *http.Request, status int, title, text string)
}

// Server is the authorization server. It is safe for concurrent use.
type Server struct {
	Config
	throttle *httpx.Throttle // of requests with invalid secrets (H-166)
	sources  []source
	hosts    hostQueue // of client documents
}

// New returns an authorization server.
func New(cfg Config) *Server {
	if cfg.Page == nil {
		cfg.Page = plainPage
	}
	s := &Server{
		Config: cfg, throttle: httpx.NewThrottle(cfg.Clock),
	}
	s.sources = s.clientSources()
	return s
}

// change changes rights in one transaction. The changes have audit rows (H-197).
func (s *Server) change(ctx context.Context, by store.Actor, fn func(store.Tx) error) error {
	return s.Store.Update(ctx, audited(ctx, by, fn))
}

func audited(ctx context.Context, by store.Actor, fn func(store.Tx) error) func(store.Tx) error {
	return store.Audited(store.Cause{Actor: by, RequestID: httpx.RequestID(ctx), Address: httpx.AddressOf(ctx)}, fn)
}

// now returns the time in the precision of the store.
func (s *Server) now() time.Time { return s.Clock().UTC().Truncate(time.Millisecond) }

func plainPage(w http.ResponseWriter, _ *http.Request, status int, title, text string) {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.Header().Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	_, _ = w.Write([]byte(title + "\n\n" + text + "\n")) // the browser may have disconnected
}
