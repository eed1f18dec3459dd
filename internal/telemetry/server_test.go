package telemetry

import (
	"crypto/rand"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pdpp/internal/httpx"
	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
	"pdpp/internal/rs"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

const notes = `{"protocol_version":"0.1.0","declaration_version":"1","connector_key":"notebook","display":{"name":"Notebook"},
 "source":{"kind":"connector","id":"https://registry.example/connectors/notebook"},
 "streams":[{"name":"STREAM","semantics":"mutable_state","primary_key":["id"],"selection":{"fields":true,"resources":true},
  "schema":{"type":"object","required":["id"],"properties":{"id":{"type":"string"},"text":{"type":"string"}}},
  "query":{"search":{"lexical_fields":["text"]}}}]}`

// A tool of the real surface over a real server, watched in both ways: there is a span
// for the request, the operation and its reads, and no private word in any of them.
func TestToolCallIsWatchedAndKeptPrivate(t *testing.T) {
	word := func() string { return "w" + strings.ToLower(rand.Text()[:12]) }
	stream, id, said, asked, label := word(), word(), word(), word(), word()
	world := resttest.New(t)
	world.Manifest(strings.ReplaceAll(notes, "STREAM", stream))
	world.Connect("notebook", "cin_"+label, label)
	world.Ingest("cin_"+label, stream, `{"key":"`+id+`","data":{"id":"`+id+`","text":"`+said+` and more"}}`)
	token, grant := world.Grant(`{"source":{"connector_key":"notebook"},"streams":[{"name":"*"}]}`)

	c := newCollector(t)
	tel := newTelemetry(t, true, c, io.Discard)
	server, err := rs.New(rs.Config{
		Store: world.Store, Blobs: world.Blobs, InstanceKey: []byte(strings.Repeat("k", 32)), Edge: &httpx.Edge{},
		Log: slog.New(slog.DiscardHandler), Clock: world.Now, Observer: tel.Observer(),
	})
	if err != nil {
		t.Fatal(err)
	}
	srv := httptest.NewServer(server.Handler(rs.Endpoint{Path: "/mcp", Handler: toolEndpoint(server, tel)}))
	defer srv.Close()
	call := func(args string) string {
		t.Helper()
		req, _ := http.NewRequest(http.MethodPost, srv.URL+"/mcp", strings.NewReader(args))
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := srv.Client().Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, _ := io.ReadAll(res.Body)
		return string(body)
	}
	if got := call(`{"q":"` + said + `"}`); !strings.Contains(got, id) {
		t.Fatalf("the tool did not find the record: %s", got)
	}
	call(`{"q":"` + asked + `"}`)
	if got := call(`{"q":"x","cursor":"` + asked + `"}`); !strings.Contains(got, "invalid_cursor") {
		t.Fatalf("the tool took the cursor: %s", got)
	}
	srv.Close()
	if err := tel.Close(t.Context()); err != nil {
		t.Fatal(err)
	}

	spans := c.spans(t)
	read, op, request := spans["GET /v1/search"], spans["tools/call search"], spans["POST /mcp"]
	if read.ParentSpanID != op.SpanID || op.ParentSpanID != request.SpanID || request.SpanID == "" {
		t.Errorf("the read is below %q, the operation %q below %q, the request is %q", read.ParentSpanID, op.SpanID, op.ParentSpanID, request.SpanID)
	}
	if op.attr("error.type") != "invalid_cursor" {
		t.Errorf("error.type = %q", op.attr("error.type"))
	}
	metrics := scrape(t, tel)
	wantLine(t, metrics, `mcp_server_operation_duration_seconds_count{error_type="",gen_ai_tool_name="search",mcp_method_name="tools/call"} 2`)
	wantLine(t, metrics, `http_server_request_duration_seconds_count{http_request_method="POST",http_response_status_class="2xx",http_route="/mcp"} 3`)
	for where, text := range map[string]string{"metrics": metrics, "traces": strings.Join(c.bodies, "\n")} {
		for _, private := range []string{stream, id, said, asked, label, token, string(grant), "notebook", "127.0.0.1"} {
			if strings.Contains(text, private) {
				t.Errorf("%s have %q:\n%s", where, private, text)
			}
		}
	}
}

// toolEndpoint runs the tool search with the body as its arguments, as a hosted
// endpoint does: it admits the caller, reads inside the process and tells telemetry.
func toolEndpoint(server *rs.Server, tel *Telemetry) http.Handler {
	return httpx.Handler(func(w http.ResponseWriter, r *http.Request) error {
		httpx.SetRoute(r.Context(), "/mcp")
		caller, err := server.Admit(r, "mcp")
		if err != nil {
			return err
		}
		client, err := rsclient.New(rsclient.Config{
			Provider: "http://inside.example", Transport: caller, Inside: true, Version: "test", Log: slog.New(slog.DiscardHandler),
			RequestID: httpx.RequestID,
		})
		if err != nil {
			return err
		}
		args, err := io.ReadAll(r.Body)
		if err != nil {
			return err
		}
		ctx, run := tel.StartOperation(r.Context(), Operation{Method: "tools/call", Tool: "search", Protocol: "2026-07-28"})
		surface := &mcp.Surface{RS: client, Log: slog.New(slog.DiscardHandler)}
		res := surface.Call(ctx, mcp.Lookup("search"), args)
		run.End(errorCode(res), len(res.Structured))
		w.Header().Set("Content-Type", "application/json")
		_, err = w.Write(res.Structured)
		return err
	})
}

// errorCode is the code that a failed result carries.
func errorCode(res *mcp.Result) string {
	if !res.IsError {
		return ""
	}
	object, _ := rawjson.Get(res.Structured, "error")
	raw, _ := rawjson.Get(object, "code")
	code, _ := rawjson.String(raw)
	return code
}
