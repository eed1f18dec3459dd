package telemetry

import (
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pdpp"
	"pdpp/internal/httpx"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// collector is an OTLP receiver that keeps the requests.
type collector struct {
	*httptest.Server
	mu       sync.Mutex
	refusals []int // statuses of the first responses
	headers  []http.Header
	bodies   []string
}

func newCollector(t *testing.T, refusals ...int) *collector {
	t.Helper()
	c := &collector{refusals: refusals}
	c.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		c.mu.Lock()
		defer c.mu.Unlock()
		if len(c.refusals) > 0 {
			w.WriteHeader(c.refusals[0])
			c.refusals = c.refusals[1:]
			return
		}
		c.headers = append(c.headers, r.Header)
		c.bodies = append(c.bodies, r.URL.Path+" "+string(body))
		io.WriteString(w, "{}")
	}))
	t.Cleanup(c.Close)
	return c
}

// sent is a span as received by a collector.
type sent struct {
	TraceID, SpanID, ParentSpanID, Name string
	Kind                                int
	StartTimeUnixNano, EndTimeUnixNano  string
	Attributes                          []struct {
		Key   string
		Value map[string]string
	}
	Links  []struct{ TraceID, SpanID string }
	Status struct{ Code int }
}

func (s sent) attr(key string) string {
	for _, a := range s.Attributes {
		if a.Key == key {
			return a.Value["stringValue"] + a.Value["intValue"]
		}
	}
	return ""
}

func (c *collector) spans(t *testing.T) map[string]sent {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	found := map[string]sent{}
	for _, body := range c.bodies {
		var message struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []sent }
			}
		}
		path, body, _ := strings.Cut(body, " ")
		if err := json.Unmarshal([]byte(body), &message); err != nil || path != "/v1/traces" {
			t.Fatalf("%s: %v: %s", path, err, body)
		}
		for _, s := range message.ResourceSpans[0].ScopeSpans[0].Spans {
			found[s.Name] = s
		}
	}
	return found
}

func newTelemetry(t *testing.T, metrics bool, c *collector, log io.Writer) *Telemetry {
	t.Helper()
	cfg := Config{
		Metrics: metrics, Tools: []string{"search", "schema"}, Version: "v1", Clock: time.Now,
		Log: slog.New(slog.NewTextHandler(log, nil)),
	}
	if c != nil {
		var err error
		cfg.Traces, err = ReadTraces(variables{"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL, "OTEL_EXPORTER_OTLP_HEADERS": "x-key=a%20b"}.get)
		if err != nil {
			t.Fatal(err)
		}
	}
	tel, err := New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return tel
}

type variables map[string]string

func (v variables) get(name string) string { return v[name] }

func scrape(t *testing.T, tel *Telemetry) string {
	t.Helper()
	w := httptest.NewRecorder()
	tel.Metrics().ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	if w.Code != http.StatusOK {
		t.Fatalf("status %d", w.Code)
	}
	return w.Body.String()
}

// wantLine checks that the exposition contains a line.
func wantLine(t *testing.T, text, line string) {
	t.Helper()
	if !slices.Contains(strings.Split(text, "\n"), line) {
		t.Errorf("no line %q in\n%s", line, text)
	}
}

// handler returns a small server behind the edge. POST /mcp makes an inner request.
func handler(tel *Telemetry) http.Handler {
	read := httpx.Handler(func(w http.ResponseWriter, r *http.Request) error {
		httpx.SetRoute(r.Context(), "/v1/search")
		_, err := io.WriteString(w, "found")
		return err
	})
	inside := httpx.Chain(read, httpx.WithRequestID, httpx.Observe(tel.Observer()))
	mux := http.NewServeMux()
	mux.Handle("POST /mcp", httpx.Handler(func(w http.ResponseWriter, r *http.Request) error {
		ctx, run := tel.StartOperation(r.Context(), Operation{
			Method: "tools/call", Tool: r.Header.Get("Tool"), Protocol: "2025-11-25", TraceParent: r.Header.Get("Meta"),
		})
		in := httptest.NewRequest(http.MethodGet, "/v1/search?q=hidden", nil).WithContext(ctx)
		inside.ServeHTTP(httptest.NewRecorder(), in)
		run.End(r.Header.Get("Fails"), 2000)
		return nil
	}))
	mux.Handle("GET /busy", httpx.Handler(func(http.ResponseWriter, *http.Request) error {
		return pdpp.Errorf(pdpp.CodeRateLimited, "Wait.")
	}))
	mux.Handle("GET /cut", httpx.Handler(func(http.ResponseWriter, *http.Request) error { panic(http.ErrAbortHandler) }))
	mux.Handle("/", httpx.Handler(httpx.NotFound))
	return httpx.Chain(mux, httpx.WithRequestID, httpx.Observe(tel.Observer()), httpx.Recover)
}

func send(t *testing.T, method, url string, headers ...string) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	if res, err := client.Do(req); err == nil {
		res.Body.Close()
	}
}

func TestOff(t *testing.T) {
	tel, err := New(Config{})
	if tel != nil || err != nil {
		t.Fatalf("New = %v, %v", tel, err)
	}
	if tel.Observer() != nil || tel.Metrics() != nil || tel.Close(t.Context()) != nil {
		t.Error("telemetry is off, but Observer, Metrics or Close is not nil")
	}
	allocs := testing.AllocsPerRun(100, func() {
		_, run := tel.StartOperation(t.Context(), Operation{Method: "tools/call", Tool: "search"})
		run.End("", 1)
	})
	if allocs != 0 {
		t.Errorf("%.0f allocations", allocs)
	}
}

func TestMetrics(t *testing.T) {
	tel := newTelemetry(t, true, nil, io.Discard)
	srv := httptest.NewServer(handler(tel))
	defer srv.Close()
	send(t, "POST", srv.URL+"/mcp", "Tool", "search")
	send(t, "POST", srv.URL+"/mcp", "Tool", "search", "Fails", "invalid_cursor")
	send(t, "POST", srv.URL+"/mcp", "Tool", "made-up", "Fails", "made up")
	send(t, "GET", srv.URL+"/busy")
	send(t, "GET", srv.URL+"/cut")
	send(t, "BREW", srv.URL+"/anything/at/all?q=x")
	srv.Close() // waits for open requests

	got := scrape(t, tel)
	for _, line := range []string{
		`http_server_active_requests 0`,
		`http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_class="2xx",http_route="/mcp"} 3`,
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_class="4xx",http_route="/busy"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="GET",http_response_status_class="cut",http_route="/cut"} 1`,
		`http_server_request_duration_seconds_count{http_request_method="other",http_response_status_class="4xx",http_route="/"} 1`,
		`pdpp_http_errors_total{error_type="rate_limit_exceeded"} 1`,
		`pdpp_http_errors_total{error_type="overloaded"} 0`,
		`pdpp_http_errors_total{error_type="not_found"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="",gen_ai_tool_name="search",mcp_method_name="tools/call"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="invalid_cursor",gen_ai_tool_name="search",mcp_method_name="tools/call"} 1`,
		`mcp_server_operation_duration_seconds_count{error_type="_OTHER",gen_ai_tool_name="_OTHER",mcp_method_name="tools/call"} 1`,
		`pdpp_mcp_result_size_bytes_sum{gen_ai_tool_name="search"} 4000`,
		`pdpp_build_info{version="v1"} 1`,
	} {
		wantLine(t, got, line)
	}
	for _, never := range []string{"/v1/search", "made", "anything", "BREW"} {
		if strings.Contains(got, never) {
			t.Errorf("the metrics contain %q", never)
		}
	}
	for _, name := range []string{"go_goroutines ", "go_gc_duration_seconds_count "} {
		if !strings.Contains(got, "\n"+name) {
			t.Errorf("no %s", name)
		}
	}
}

func TestSpans(t *testing.T) {
	c := newCollector(t)
	tel := newTelemetry(t, false, c, io.Discard)
	srv := httptest.NewServer(handler(tel))
	defer srv.Close()
	const (
		trace  = "0af7651916cd43dd8448eb211c80319c"
		caller = "b7ad6b7169203331"
		meta   = "00-11112222333344445555666677778888-1234567812345678-01"
	)
	send(t, "POST", srv.URL+"/mcp", "Tool", "search", "Traceparent", "00-"+trace+"-"+caller+"-01", "Tracestate", "v=hidden", "Baggage", "b=hidden")
	send(t, "POST", srv.URL+"/mcp", "Tool", "schema", "Traceparent", "nonsense", "Meta", meta, "Fails", "upstream_timeout")
	send(t, "GET", srv.URL+"/busy?hidden=1")
	srv.Close()
	if err := tel.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := c.headers[0].Get("X-Key"); got != "a b" {
		t.Errorf("X-Key = %q", got)
	}
	spans := c.spans(t)
	op, failed, busy, read := spans["tools/call search"], spans["tools/call schema"], spans["GET /busy"], spans["GET /v1/search"]

	t.Run("the parent of an operation is its request", func(t *testing.T) {
		if op.TraceID != trace || op.ParentSpanID == "" || op.ParentSpanID == caller || len(op.Links) != 0 || op.Kind != 2 {
			t.Errorf("%+v", op)
		}
		for key, want := range map[string]string{
			"mcp.method.name": "tools/call", "gen_ai.tool.name": "search", "mcp.protocol.version": "2025-11-25",
			"pdpp.mcp.result.size": "2000", "error.type": "",
		} {
			if got := op.attr(key); got != want {
				t.Errorf("%s = %q, want %q", key, got, want)
			}
		}
	})
	t.Run("a message can name its parent", func(t *testing.T) {
		if failed.TraceID != "11112222333344445555666677778888" || failed.ParentSpanID != "1234567812345678" || len(failed.Links) != 1 {
			t.Errorf("%+v", failed)
		}
		if failed.attr("error.type") != "upstream_timeout" || failed.Status.Code != statusError {
			t.Errorf("%+v", failed)
		}
	})
	t.Run("the parent of a read is its operation", func(t *testing.T) {
		if read.Kind != 1 || read.ParentSpanID != failed.SpanID || read.attr("http.route") != "/v1/search" {
			t.Errorf("%+v", read)
		}
	})
	t.Run("a rejected request is not a failure of the server", func(t *testing.T) {
		if busy.Status.Code != 0 || busy.attr("error.type") != "rate_limit_exceeded" || busy.attr("http.response.status_code") != "429" {
			t.Errorf("%+v", busy)
		}
		if busy.StartTimeUnixNano == "" || busy.StartTimeUnixNano > busy.EndTimeUnixNano {
			t.Errorf("from %s to %s", busy.StartTimeUnixNano, busy.EndTimeUnixNano)
		}
	})
	if text := strings.Join(c.bodies, ""); strings.Contains(text, "hidden") {
		t.Errorf("the spans contain text of the client: %s", text)
	}
}

func TestCollectorFailures(t *testing.T) {
	one := func(c *collector, log io.Writer) {
		tel := newTelemetry(t, false, c, log)
		_, run := tel.StartOperation(t.Context(), Operation{Method: "ping"})
		run.End("", 0)
		if err := tel.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	t.Run("fails once", func(t *testing.T) {
		var log strings.Builder
		c := newCollector(t, http.StatusServiceUnavailable)
		one(c, &log)
		if len(c.spans(t)) != 1 || log.Len() > 0 {
			t.Errorf("%d batches; log: %s", len(c.bodies), log.String())
		}
	})
	t.Run("fails twice", func(t *testing.T) {
		var log strings.Builder
		c := newCollector(t, http.StatusServiceUnavailable, http.StatusServiceUnavailable)
		one(c, &log)
		if len(c.bodies) != 0 || !strings.Contains(log.String(), "the collector responded with 503") {
			t.Errorf("%d batches; log: %s", len(c.bodies), log.String())
		}
	})
	t.Run("fails permanently", func(t *testing.T) {
		var log strings.Builder
		c := newCollector(t, http.StatusUnauthorized)
		one(c, &log)
		if len(c.bodies) != 0 || !strings.Contains(log.String(), "401") {
			t.Errorf("%d batches; log: %s", len(c.bodies), log.String())
		}
	})
	t.Run("is unreachable", func(t *testing.T) {
		var log strings.Builder
		c := newCollector(t)
		c.Close()
		one(c, &log)
		if !strings.Contains(log.String(), "cannot be sent") || strings.Contains(log.String(), "/v1/traces") {
			t.Errorf("log: %s", log.String())
		}
	})
}

func TestReadTraces(t *testing.T) {
	for name, c := range map[string]struct {
		env      variables
		endpoint string // "": off
		bad      bool
	}{
		"nothing":               {},
		"an address":            {env: variables{"OTEL_EXPORTER_OTLP_ENDPOINT": "https://c.example:4318/"}, endpoint: "https://c.example:4318/v1/traces"},
		"one for traces":        {env: variables{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://c/x"}, endpoint: "http://c/x"},
		"otlp":                  {env: variables{"OTEL_TRACES_EXPORTER": "otlp"}, endpoint: "http://localhost:4318/v1/traces"},
		"none":                  {env: variables{"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}},
		"disabled":              {env: variables{"OTEL_SDK_DISABLED": "true", "OTEL_EXPORTER_OTLP_ENDPOINT": "http://c"}},
		"another exporter":      {env: variables{"OTEL_TRACES_EXPORTER": "zipkin"}, bad: true},
		"sampler":               {env: variables{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:4318", "OTEL_TRACES_SAMPLER": "zzz"}, bad: true},
		"grpc":                  {env: variables{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"}, bad: true},
		"no URL":                {env: variables{"OTEL_EXPORTER_OTLP_ENDPOINT": "localhost:4318"}, bad: true},
		"headers without value": {env: variables{"OTEL_TRACES_EXPORTER": "otlp", "OTEL_EXPORTER_OTLP_HEADERS": "secret"}, bad: true},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := ReadTraces(c.env.get)
			if c.bad != (pdpp.CodeOf(err) == pdpp.CodeNotConfigured) || err != nil && !c.bad {
				t.Fatalf("err = %v", err)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the message contains the value: %v", err)
			}
			endpoint := ""
			if got != nil {
				endpoint = got.Endpoint
			}
			if endpoint != c.endpoint {
				t.Errorf("endpoint %q, want %q", endpoint, c.endpoint)
			}
		})
	}
}
