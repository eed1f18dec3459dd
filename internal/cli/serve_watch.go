package cli

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"time"

	"pdpp/internal/httpx"
	"pdpp/internal/mcp"
	"pdpp/internal/telemetry"
)

// lastSpans is how long a stop waits for the collector of traces.
const lastSpans = 3 * time.Second

// watch sets up metrics, on a separate listener, and traces, each if configured. After a
// nil error the caller calls stop when the server has ended.
func (s *service) watch(ctx context.Context, metricsListen string, getenv func(string) string, database string) (stop func(), err error) {
	if s.traces, err = telemetry.ReadTraces(getenv); err != nil {
		return nil, err
	}
	s.telemetry, err = telemetry.New(telemetry.Config{
		Metrics: metricsListen != "", Traces: s.traces, Tools: mcp.Tools().Names(), Store: database, DroppedLines: s.dropped,
		Version: readVersion().Version, Clock: s.clock, Log: s.log,
	})
	if err != nil {
		return nil, err
	}
	if metricsListen != "" {
		if s.metrics, err = listen(ctx, metricsListen, "--metrics-listen"); err != nil {
			return nil, errors.Join(err, s.telemetry.Close(ctx))
		}
	}
	return func() {
		if s.metrics != nil {
			_ = s.metrics.Close() // closed already, unless the server never ran
		}
		ended, cancel := context.WithTimeout(context.WithoutCancel(ctx), lastSpans)
		defer cancel()
		if err := s.telemetry.Close(ended); err != nil {
			s.log.Warn("the last traces were not sent", "cause", err.Error())
		}
	}, nil
}

// watched returns the facts about metrics and traces for the start message (H-11).
func (s *service) watched() (facts [][2]string) {
	if s.metrics != nil {
		facts = append(facts, [2]string{"metrics", "http://" + s.metrics.Addr().String() + "/metrics"})
	}
	if s.traces != nil {
		facts = append(facts, [2]string{"traces", "sent by OTLP"})
	}
	return facts
}

// metricsServer serves metrics and nothing else. It has the host gate of the public
// listener, against DNS rebinding (H-126).
func (s *service) metricsServer() *http.Server {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.telemetry.Metrics())
	srv := httpx.NewServer(httpx.Chain(mux, httpx.WithRequestID, httpx.Recover, httpx.Deadlines, s.edge.Gate))
	srv.ErrorLog = slog.NewLogLogger(s.log.Handler(), slog.LevelWarn)
	return srv
}
