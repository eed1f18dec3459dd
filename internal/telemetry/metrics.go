package telemetry

import (
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pdpp"
	"pdpp/internal/httpx"
)

// The bucket boundaries. Durations follow the conventions, with smaller steps for short
// ones, where most requests of this server are.
var (
	requestSeconds   = []float64{.001, .0025, .005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 30}
	operationSeconds = []float64{.001, .0025, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60}
	resultBytes      = []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}
)

// metrics holds the exposed metric families.
type metrics struct {
	registry   *prometheus.Registry
	active     prometheus.Gauge
	requests   *prometheus.HistogramVec
	errors     *prometheus.CounterVec
	operations *prometheus.HistogramVec
	results    *prometheus.HistogramVec
}

func newMetrics(cfg Config) *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		active: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "http_server_active_requests", Help: "HTTP requests being served.",
		}),
		requests: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "http_server_request_duration_seconds", Help: "Duration of HTTP requests.", Buckets: requestSeconds,
		}, []string{"http_request_method", "http_route", "http_response_status_class"}),
		errors: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "pdpp_http_errors_total", Help: "Error responses by code. Throttled requests are rate_limit_exceeded and overloaded.",
		}, []string{"error_type"}),
		operations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "mcp_server_operation_duration_seconds", Help: "Duration of MCP operations.", Buckets: operationSeconds,
		}, []string{"mcp_method_name", "gen_ai_tool_name", "error_type"}),
		results: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "pdpp_mcp_result_size_bytes", Help: "Size of the results of tool calls.", Buckets: resultBytes,
		}, []string{"gen_ai_tool_name"}),
	}
	m.registry.MustRegister(m.active, m.requests, m.errors, m.operations, m.results, buildInfo(cfg.Version),
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	if cfg.Store != "" {
		m.registry.MustRegister(fileSize("database", cfg.Store), fileSize("log", cfg.Store+"-wal"))
	}
	if cfg.DroppedLines != nil {
		m.registry.MustRegister(prometheus.NewCounterFunc(prometheus.CounterOpts{
			Name: "pdpp_log_dropped_lines_total", Help: "Log lines that were dropped because they were not read in time.",
		}, func() float64 { return float64(cfg.DroppedLines()) }))
	}
	// Throttling starts at zero instead of being absent.
	for _, code := range []pdpp.Code{pdpp.CodeRateLimited, pdpp.CodeOverloaded} {
		m.errors.WithLabelValues(string(code))
	}
	return m
}

func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pdpp_build_info", Help: "The running version.", ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	return info
}

// fileSize returns a gauge that reads the size at each scrape. A missing file has size 0:
// the log does not exist while the store is closed.
func fileSize(part, path string) prometheus.Collector {
	return prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "pdpp_store_size_bytes", Help: "Size of the files of the database.", ConstLabels: prometheus.Labels{"part": part},
	}, func() float64 {
		info, err := os.Stat(path)
		if err != nil {
			return 0
		}
		return float64(info.Size())
	})
}

func (m *metrics) handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// exchange counts a request. Unknown routes share one label.
func (m *metrics) exchange(x httpx.Exchange) {
	m.requests.WithLabelValues(x.Method, orOther(plainRoute(x.Route)), class(x.Status)).Observe(x.Duration.Seconds())
	if x.Code != "" {
		m.errors.WithLabelValues(string(x.Code)).Inc()
	}
}

func orOther(s string) string {
	if s == "" {
		return other
	}
	return s
}

// class returns the class of a status, or "cut" for an aborted connection.
func class(status int) string {
	names := [...]string{"cut", "1xx", "2xx", "3xx", "4xx", "5xx"}
	return names[min(status/100, len(names)-1)]
}
