package telemetry

import (
	"net/http"
	"os"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"pdpp/internal/httpx"
)

// The limits of the buckets. Durations are those of the conventions with finer steps
// below, where most answers of this server are.
var (
	requestSeconds   = []float64{.001, .0025, .005, .01, .025, .05, .075, .1, .25, .5, .75, 1, 2.5, 5, 7.5, 10, 30}
	operationSeconds = []float64{.001, .0025, .005, .01, .02, .05, .1, .2, .5, 1, 2, 5, 10, 30, 60}
	resultBytes      = []float64{256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}
)

// metrics are the families that are exposed.
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
			Name: "pdpp_http_errors_total", Help: "Error answers by code. Throttled requests are rate_limit_exceeded and overloaded.",
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
			Name: "pdpp_log_dropped_lines_total", Help: "Lines of the log that were dropped because nobody read them in time.",
		}, func() float64 { return float64(cfg.DroppedLines()) }))
	}
	// Throttling is zero, not unknown, before it happens.
	for _, code := range []string{"rate_limit_exceeded", "overloaded"} {
		m.errors.WithLabelValues(code)
	}
	return m
}

func buildInfo(version string) prometheus.Collector {
	info := prometheus.NewGauge(prometheus.GaugeOpts{
		Name: "pdpp_build_info", Help: "The version that runs.", ConstLabels: prometheus.Labels{"version": version},
	})
	info.Set(1)
	return info
}

// fileSize looks when it is asked. A file that is not there has no bytes: the log is
// gone when nobody has the store open.
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

// exchange counts a request. A route that is none of ours has no label of its own.
func (m *metrics) exchange(x httpx.Exchange) {
	m.requests.WithLabelValues(x.Method, orOther(plainRoute(x.Route)), class(x.Status)).Observe(x.Took.Seconds())
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

// class is the class of a status; that of a connection that was cut is "cut".
func class(status int) string {
	names := [...]string{"cut", "1xx", "2xx", "3xx", "4xx", "5xx"}
	return names[min(status/100, len(names)-1)]
}
