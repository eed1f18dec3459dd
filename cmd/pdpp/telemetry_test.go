package main

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

// Metrics, traces and the log contain no words of the data, of queries or of tokens.
func TestTelemetryContainsNothingPrivate(t *testing.T) {
	needSignals(t)
	received := new(watched)
	collector := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		fmt.Fprintf(received, "%s\n%s %s\n", body, r.Method, r.URL)
	}))
	defer collector.Close()

	words := [6]string{}
	for i := range words {
		words[i] = "w" + strings.ToLower(rand.Text()[:12])
	}
	inKey, inMemo, inQuery, inFilter, inPath, inMethod := words[0], words[1], words[2], words[3], words[4], words[5]
	dir, shared := t.TempDir(), filepath.Join("testdata", "shared")
	lines := filepath.Join(dir, "lines.jsonl")
	record := fmt.Sprintf(`{"key":%q,"data":{"id":%[1]q,"memo":"paid for %s","amount_minor":5}}`, inKey, inMemo)
	if err := os.WriteFile(lines, []byte(record), 0o600); err != nil {
		t.Fatal(err)
	}
	data := filepath.Join(dir, "data")
	run(t, "--data", data, "ingest", "--manifest", filepath.Join(shared, "manifest.json"), "--connection", "giro", "--stream", "entries", lines)
	token := regexp.MustCompile(`pdpp_ot_[\w-]+`).FindString(run(t, "--data", data, "owner", "token", "create"))

	spec := filepath.Join(dir, "spec.json")
	if err := os.WriteFile(spec, []byte(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"*"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	granted := run(t, "--data", data, "grants", "create", "--client", inFilter, "--spec", spec, "--json")
	agent := regexp.MustCompile(`pdpp_at_[\w-]+`).FindString(granted)

	p := &process{stdout: new(watched), stderr: new(watched), done: make(chan error, 1)}
	p.cmd = exec.Command("pdpp", "--data", data, "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0")
	p.cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector.URL)
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	url := p.await(t, p.stderr, listening)
	metrics := p.await(t, p.stderr, `metrics: (http://\S+)`)
	p.await(t, p.stderr, `traces: sent`)

	ask := func(method, target, bearer string) int {
		t.Helper()
		req, err := http.NewRequest(method, target, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+bearer)
		req.Header.Set("User-Agent", inQuery)
		req.Header.Set("Tracestate", "x="+inQuery)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		io.Copy(io.Discard, res.Body)
		return res.StatusCode
	}
	for _, c := range []struct {
		want                   int
		method, target, bearer string
	}{
		{200, "GET", "/v1/streams/entries/records", token},
		{200, "GET", "/v1/streams/entries/records/" + inKey, token},
		{200, "GET", "/v1/search?q=" + inQuery, token},
		{400, "GET", "/v1/streams/entries/records?filter[" + inFilter + "]=" + inMemo, token},
		{404, "GET", "/v1/streams/" + inPath + "/records", token},
		{404, "GET", "/" + inPath + "/" + inPath, token},
		{401, "GET", "/v1/streams", inQuery},
		{404, inMethod, "/" + inPath, token},
	} {
		if got := ask(c.method, url+c.target, c.bearer); got != c.want {
			t.Errorf("%s %s: status %d, want %d", c.method, c.target, got, c.want)
		}
	}
	found := callTool(t, url, agent, `"query_records","arguments":{"stream":"entries","fields":["id","memo"]},"_meta":{"traceparent":"`+parent+`"}`)
	if !strings.Contains(found, inMemo) {
		t.Errorf("the tool does not return the record: %s", found)
	}
	callTool(t, url, agent, `"query_records","arguments":{"stream":"entries","cursor":"`+inFilter+`"}`)
	callTool(t, url, agent, `"search","arguments":{"q":"`+inQuery+`"}`)
	callTool(t, url, agent, `"`+inPath+`","arguments":{}`)

	res, err := http.Get(metrics)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	exposed, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if got := ask("GET", url+"/metrics", token); got != http.StatusNotFound {
		t.Errorf("/metrics on the public listener: status %d, want 404", got)
	}
	if got := ask("GET", strings.TrimSuffix(metrics, "metrics")+"v1/streams", token); got != http.StatusNotFound {
		t.Errorf("/v1/streams on the listener of metrics: status %d, want 404", got)
	}
	if got := askAs(t, "page.example", metrics); got != http.StatusMisdirectedRequest {
		t.Errorf("metrics for another host: status %d, want 421", got)
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Fatalf("exit code %d:\n%s", code, p.stderr)
	}

	for _, line := range []string{
		`{error_type="",gen_ai_tool_name="query_records",mcp_method_name="tools/call"} 1`,
		`{error_type="invalid_cursor",gen_ai_tool_name="query_records",mcp_method_name="tools/call"} 1`,
		`{error_type="-32602",gen_ai_tool_name="_OTHER",mcp_method_name="tools/call"} 1`,
	} {
		if !strings.Contains(string(exposed), "\nmcp_server_operation_duration_seconds_count"+line+"\n") {
			t.Errorf("metrics do not have %s:\n%s", line, exposed)
		}
	}
	checkSpans(t, received.String())
	for where, text := range map[string]string{"metrics": string(exposed), "traces": received.String()} {
		for _, needed := range []string{"/v1/streams/{stream}/records/{id}", "/v1/search", "invalid_token"} {
			if !strings.Contains(text, needed) {
				t.Errorf("%s do not have %s:\n%s", where, needed, text)
			}
		}
	}
	if !strings.Contains(string(exposed), `pdpp_store_size_bytes{part="database"}`) {
		t.Error("no size of the store")
	}
	for where, text := range map[string]string{"metrics": string(exposed), "traces": received.String(), "log": p.stderr.String()} {
		for _, secret := range append(words[:], token, agent, "giro") {
			if where == "log" && secret == inPath {
				continue // the log shows plain segments of unknown paths
			}
			if strings.Contains(text, secret) {
				t.Errorf("%s have %q:\n%s", where, secret, text)
			}
		}
	}
	if strings.Contains(received.String(), "127.0.0.1") || strings.Contains(string(exposed), "127.0.0.1") {
		t.Error("an address was recorded")
	}
}

// askAs sends a request with another host, as after DNS rebinding.
func askAs(t *testing.T, host, url string) int {
	t.Helper()
	req, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Host = host
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	res.Body.Close()
	return res.StatusCode
}

// parent is the span that a message names as its parent.
const parent = "00-11112222333344445555666677778888-1234567812345678-01"

// callTool calls a tool of the hosted endpoint.
func callTool(t *testing.T, url, token, call string) string {
	t.Helper()
	body := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":` + call + `}}`
	req, err := http.NewRequest(http.MethodPost, url+"/mcp", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Mcp-Protocol-Version", "2025-11-25")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatalf("status %d, %v: %s", res.StatusCode, err, answer)
	}
	return string(answer)
}

// checkSpans checks that the operation has the parent of the message, and its read as child.
func checkSpans(t *testing.T, received string) {
	t.Helper()
	type span struct{ Name, TraceID, SpanID, ParentSpanID string }
	var operation, read span
	var spans []span
	for line := range strings.Lines(received) {
		var message struct {
			ResourceSpans []struct{ ScopeSpans []struct{ Spans []span } }
		}
		if json.Unmarshal([]byte(line), &message) == nil {
			for _, r := range message.ResourceSpans {
				spans = append(spans, r.ScopeSpans[0].Spans...)
			}
		}
	}
	for _, s := range spans {
		if s.Name == "tools/call query_records" && s.ParentSpanID == "1234567812345678" {
			operation = s
		}
	}
	for _, s := range spans {
		if s.Name == "GET /v1/streams/{stream}/records" && s.ParentSpanID == operation.SpanID {
			read = s
		}
	}
	if operation.TraceID != "11112222333344445555666677778888" || read.TraceID != operation.TraceID {
		t.Errorf("operation %+v, read %+v, of %+v", operation, read, spans)
	}
}
