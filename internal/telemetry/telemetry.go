package telemetry

import (
	"context"
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/httpx"
)

// Config selects what is measured.
type Config struct {
	Metrics bool
	Traces  *Traces  // nil if there is none
	Tools   []string // the names of all tools
	Store   string   // the database file, whose size is reported; "" if there is none
	Version string   // of the program
	// DroppedLines returns the number of dropped log lines; nil if unknown.
	DroppedLines func() int64
	Clock        func() time.Time
	Log          *slog.Logger
}

// Telemetry measures one server. It is safe for concurrent use.
type Telemetry struct {
	clock   func() time.Time
	labels  labels
	metrics *metrics // nil if there is none
	tracer  *tracer  // nil if there is none
}

var _ httpx.Observer = (*Telemetry)(nil)

// New starts telemetry. It returns nil when metrics and traces are off. The caller must
// call Close.
func New(cfg Config) (*Telemetry, error) {
	if !cfg.Metrics && cfg.Traces == nil {
		return nil, nil
	}
	t := &Telemetry{clock: cfg.Clock, labels: newLabels(cfg.Tools)}
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

// Close sends the remaining spans until ctx ends.
func (t *Telemetry) Close(ctx context.Context) error {
	if t == nil || t.tracer == nil {
		return nil
	}
	return t.tracer.provider.Shutdown(ctx)
}

// Metrics returns the handler for scrapes, or nil when metrics are off.
func (t *Telemetry) Metrics() http.Handler {
	if t == nil || t.metrics == nil {
		return nil
	}
	return t.metrics.handler()
}

// Observer returns the observer for HTTP requests. It is a nil interface when telemetry
// is off.
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

// End implements httpx.Observer. Requests that the process makes itself have spans but
// are not counted.
func (t *Telemetry) End(r *http.Request, x httpx.Exchange) {
	if t.metrics != nil && !x.Inner {
		t.metrics.active.Dec()
		t.metrics.exchange(x)
	}
	if t.tracer != nil {
		t.tracer.end(r, x)
	}
}
