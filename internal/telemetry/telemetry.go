package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/httpx"
)

// Config is what is watched, and how.
type Config struct {
	Metrics bool
	Traces  *Traces  // nil: none
	Tools   []string // the names of the tools there are
	Store   string   // the file of the database, whose size is told; "": none
	Version string   // of the program
	// DroppedLines counts the lines that are missing in the log; nil: not known.
	DroppedLines func() int64
	Clock        func() time.Time
	Log          *slog.Logger
}

// Telemetry watches one server. It is safe for concurrent use.
type Telemetry struct {
	clock   func() time.Time
	words   words
	metrics *metrics // nil: none
	tracer  *tracer  // nil: none
}

var _ httpx.Observer = (*Telemetry)(nil)

// New starts to watch; nil when there is nothing to watch for. Close ends it.
func New(cfg Config) (*Telemetry, error) {
	if !cfg.Metrics && cfg.Traces == nil {
		return nil, nil
	}
	t := &Telemetry{clock: cfg.Clock, words: newWords(cfg.Tools)}
	if cfg.Metrics {
		t.metrics = newMetrics(cfg)
	}
	if cfg.Traces != nil {
		var err error
		if t.tracer, err = newTracer(cfg); err != nil {
			return nil, err
		}
	}
	return t, nil
}

// Close sends the spans that are left, as long as ctx lasts.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil || t.tracer == nil {
		return nil
	}
	return t.tracer.provider.Shutdown(ctx)
}

// Metrics answers scrapes; nil when there are no metrics.
func (t *Telemetry) Metrics() http.Handler {
	if t == nil || t.metrics == nil {
		return nil
	}
	return t.metrics.handler()
}

// Observer is what an HTTP server tells of its requests: nil, and not an interface
// that holds nil, when telemetry is off.
func (t *Telemetry) Observer() httpx.Observer {
	if t == nil {
		return nil
	}
	return t
}

// Begin implements httpx.Observer.
func (t *Telemetry) Begin(r *http.Request, inner bool) *http.Request {
	if t.metrics != nil && !inner {
		t.metrics.active.Inc()
	}
	if t.tracer != nil {
		return t.tracer.begin(r, inner)
	}
	return r
}

// End implements httpx.Observer. Requests made inside the process are not counted:
// nobody sent them. They have their spans.
func (t *Telemetry) End(r *http.Request, x httpx.Exchange) {
	if t.metrics != nil && !x.Inner {
		t.metrics.active.Dec()
		t.metrics.exchange(x)
	}
	if t.tracer != nil {
		t.tracer.end(r, x)
	}
}
