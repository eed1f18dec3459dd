//go:build !race

// The race detector itself allocates, so counts mean nothing under it.

package telemetry

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/httpx"
)

// Counting does not allocate.
func TestMetricsDoNotAllocate(t *testing.T) {
	tel := newTelemetry(t, true, nil, io.Discard)
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	x := httpx.Exchange{Method: "GET", Route: "/v1/search", Status: 429, Duration: time.Millisecond, Code: pdpp.CodeRateLimited}
	op := Operation{Method: "tools/call", Tool: "search", Protocol: "2026-07-28"}
	once := func() {
		tel.End(tel.Begin(r, false), x)
		_, run := tel.StartOperation(r.Context(), op)
		run.End("", 100)
	}
	once()
	if got := testing.AllocsPerRun(1000, once); got != 0 {
		t.Errorf("%.0f allocations, want none", got)
	}
}
