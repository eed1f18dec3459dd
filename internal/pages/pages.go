package pages

import (
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/as"
	"pdpp/internal/httpx"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

// Config is what the pages need from the server.
type Config struct {
	Store        store.Store
	SignIn       *signin.Service
	AS           *as.Server
	Edge         *httpx.Edge
	ProviderName string
	Clock        func() time.Time
	Log          *slog.Logger
}

// Pages serves the pages. It is safe for concurrent use.
type Pages struct {
	Config
	handler http.Handler
}

// New returns the pages.
func New(cfg Config) *Pages {
	p := &Pages{Config: cfg}
	p.handler = p.routes()
	return p
}

// ServeHTTP implements http.Handler.
func (p *Pages) ServeHTTP(w http.ResponseWriter, r *http.Request) { p.handler.ServeHTTP(w, r) }

// ShowError shows an error of the authorization server that must not be redirected.
func (p *Pages) ShowError(w http.ResponseWriter, r *http.Request, status int, title, text string) {
	p.open(func(v *visit) error {
		return v.render(status, "message", &page{Title: title, Narrow: true, Body: message{Text: []string{text}}})
	}).ServeHTTP(w, r)
}
