package mcp

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/rsclient"
)

// errorClass is a failure of a tool call, caused by its arguments or by a server that
// returns the error.
type errorClass struct {
	code, tool, args string
	status           int    // of the server; 0: the call is not sent
	where            string // what the text names: an argument, a field or an address
	next             string // what the text says to do
}

const (
	askEntries = `{"stream":"entries"}`
	askWindow  = `{"id":"cin_a1/entries:ent_31","field_path":"note","q":"rent"}`
	askRecord  = `{"id":"cin_a1/entries:ent_31"}`
	askFile    = `{"id":"cin_a1/entries:ent_31","field_path":"scan","offset_chars":70000}`
)

// relayedClasses are the codes of C-42 that a read can return.
var relayedClasses = []errorClass{
	{"invalid_request", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"invalid_argument", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"unsupported_version", "query_records", askEntries, 400, "", "the owner must update"},
	{"invalid_cursor", "query_records", `{"stream":"entries","cursor":"c"}`, 400, `param="p"`, "next: query_records"},
	{"invalid_sort", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"invalid_expand", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"invalid_field_path", "read_record_field", askWindow, 400, `param="p"`, "next: fetch"},
	{"invalid_window", "read_record_field", askWindow, 400, `param="p"`, "next: read_record_field"},
	{"unknown_field", "query_records", askEntries, 400, `param="p"`, "next: schema"},
	{"authentication_error", "query_records", askEntries, 401, "", "the owner must connect again"},
	{"invalid_token", "query_records", askEntries, 401, "", "the owner must connect again"},
	{"grant_stream_not_allowed", "query_records", askEntries, 403, "", "next: schema {}"},
	{"field_not_granted", "query_records", askEntries, 403, `param="p"`, "next: schema"},
	{"insufficient_scope", "query_records", askEntries, 403, `param="p"`, "next: schema"},
	{"insufficient_scope", "search", `{"q":"rent"}`, 403, `param="p"`, "ask the owner for access"},
	{"permission_error", "query_records", askEntries, 403, "", "ask the owner for access"},
	{"grant_revoked", "query_records", askEntries, 403, "", "the owner must connect again"},
	{"grant_expired", "query_records", askEntries, 403, "", "the owner must connect again"},
	{"grant_invalid", "query_records", askEntries, 403, "", "the owner must connect again"},
	{"not_found", "fetch", askRecord, 404, "", "next: query_records"},
	{"connection_not_found", "query_records", askEntries, 404, `param="p"`, "next: schema {}"},
	{"stream_not_declared", "query_records", askEntries, 404, "", "next: schema {}"},
	{"blob_not_found", "read_record_field", askFile, 404, "", "next: fetch"},
	{"field_not_found", "read_record_field", askWindow, 404, "", "next: fetch"},
	{"query_not_found", "read_record_field", askWindow, 404, "", "next: read_record_field"},
	{"cursor_expired", "query_records", `{"stream":"entries","cursor":"c"}`, 410, `param="p"`, "next: query_records"},
	{"resource_limit", "query_records", askEntries, 413, "", "ask for less"},
	{"range_not_satisfiable", "read_record_field", askFile, 416, "", "next: read_record_field"},
	{"field_not_text", "read_record_field", askWindow, 422, "", "next: fetch"},
	{"ambiguous_connection", "query_records", askEntries, 409, "connection \"cin_a1\"", "next: query_records"},
	{"ambiguous_schema_detail", "schema", `{"stream":"entries","detail":"full"}`, 409, "connection \"cin_a1\"", "next: schema"},
	{"rate_limit_exceeded", "query_records", askEntries, 429, "", "retry_after_s=7"},
	{"timeout", "query_records", askEntries, 503, "", "retry_after_s=7"},
	{"temporarily_unavailable", "query_records", askEntries, 503, "", "retry_after_s=7"},
	{"overloaded", "query_records", askEntries, 503, "", "retry_after_s=7"},
	{"search_unavailable", "search", `{"q":"rent"}`, 503, "", "retry_after_s=7"},
	{"api_error", "query_records", askEntries, 500, "", "try again once"},
}

// ownClasses are the codes of MS-45 that arguments alone can cause.
var ownClasses = []errorClass{
	{"invalid_argument", "query_records", `{"stream":"entries","limit":1e400}`, 0, `param="limit"`, "from 1 to 100"},
	{"invalid_argument", "query_records", `{"stream":"entries","where":"x"}`, 0, `param="where"`, "stream"},
	{"invalid_filter", "query_records", `{"stream":"entries","filter":"a=b"}`, 0, `param="filter"`, "next: schema"},
	{"invalid_expand", "query_records", `{"stream":"entries","expand_limit":{"a":0}}`, 0, `param="expand_limit"`, "The tool schema lists"},
	{"invalid_id", "fetch", `{"id":"x"}`, 0, `param="id"`, "pdpp://record/"},
	{"invalid_name", "query_records", `{"stream":".."}`, 0, `param="stream"`, "Use a name that the tool schema lists"},
	{"conflicting_connection_id", "fetch", `{"id":"cin_a1/entries:ent_31","connection_id":"cin_b2"}`, 0, `param="connection_id"`, "next: fetch"},
	{"invalid_field_window_selector", "read_record_field", `{"id":"cin_a1/entries:ent_31","field_path":"note","cursor":"9","offset_chars":4}`, 0, `param="cursor"`, "exclusive with `offset_chars`"},
	{"invalid_request", "schema", `{"detail":"full"}`, 0, `param="detail"`, "next: schema {}"},
	{"request_too_long", "search", `{"q":"` + strings.Repeat("x", 17<<10) + `"}`, 0, `param="q"`, "Make it shorter"},
}

// withFile answers like plausible; the field scan refers to a file.
func withFile(target string) (int, string) {
	switch {
	case !strings.Contains(target, "field=scan"):
		return plausible(target)
	case !strings.Contains(target, "as=json"):
		return http.StatusUnprocessableEntity, `{"error":{"type":"t","code":"field_not_text","message":"It is no text.","retry_with":"as"}}`
	}
	return http.StatusOK, `{"stream":"entries","record_id":"ent_31","field":{"path":"scan","type":"object"},"window":{` +
		`"text":"{\"blob_id\":\"blob_1\",\"mime_type\":\"text/plain\"}","start_chars":0,"end_chars":47,"total_chars":47,"complete":true,"has_more":false}}`
}

// refusing returns a server that refuses one read with a code and answers all others.
func refusing(t *testing.T, c errorClass) *script {
	t.Helper()
	s := scripted(t, withFile)
	left := 1
	if c.status == http.StatusServiceUnavailable {
		left = 2 // such a read is repeated once
	}
	s.does(func(target string) (int, string) {
		isBefore := c.args == askFile && !strings.HasPrefix(target, "/v1/blobs/") // the read that finds the file
		if left == 0 || c.status == 0 || isBefore {
			return withFile(target)
		}
		left--
		retry := `"retry_after_s":7,`
		if c.status == http.StatusInternalServerError {
			retry = ""
		}
		return c.status, `{"error":{"type":"some_error","code":"` + c.code + `","message":"It did not work: ` + c.code + `.","param":"p",` + retry +
			`"available_connections":[{"connection_id":"cin_a1"},{"connection_id":"cin_b2"}]}}`
	})
	return s
}

// saysStep checks that a failure has its next step in the text and in the structured output,
// as a member or in the message.
func saysStep(t *testing.T, res *Result, want string) {
	t.Helper()
	step, _ := find(t, res.Structured, "error.next_step").(string)
	message, _ := find(t, res.Structured, "error.message").(string)
	if want == "" || !strings.Contains(text(res), want) || !strings.Contains(step+"\n"+message, want) {
		t.Errorf("no %q in\n%s\n%s", want, text(res), res.Structured)
	}
}

// TestErrorClasses: every class of error states what happened, where, and what to do next, in
// the text and in the structured output, and every call that it offers works.
func TestErrorClasses(t *testing.T) {
	for _, c := range append(relayedClasses, ownClasses...) {
		t.Run("ERR-1 "+c.code+" of "+c.tool, func(t *testing.T) {
			s := refusing(t, c)
			res := mustFail(t, s.Surface, c.tool, c.args, c.code)
			conforms(t, c.tool, res.Structured)
			got := text(res)
			for _, want := range []string{"error " + c.code, c.where, c.next} {
				if !strings.Contains(got, want) {
					t.Errorf("no %q in\n%s", want, got)
				}
			}
			if message, _ := find(t, res.Structured, "error.message").(string); len(message) < 10 {
				t.Errorf("the message is %q", message)
			}
			switch {
			case strings.HasPrefix(c.next, "next: ") && !strings.HasPrefix(c.code, "ambiguous_"):
				if find(t, res.Structured, "error.next.tool") == nil {
					t.Errorf("no next in %s", res.Structured)
				}
			case strings.HasPrefix(c.next, "retry_after_s"):
				if find(t, res.Structured, "error.retry_after_s") == nil {
					t.Errorf("no time in %s", res.Structured)
				}
			case !strings.HasPrefix(c.next, "next: "):
				saysStep(t, res, c.next)
			}
			if c.status != 0 && (find(t, res.Structured, "provider_url") != s.URL || !strings.Contains(got, `request_id="req_1"`)) {
				t.Errorf("neither the server nor its request is named in\n%s\n%s", got, res.Structured)
			}
			for line := range strings.SplitSeq(got, "\n") {
				if call, ok := strings.CutPrefix(line, "next: "); ok {
					tool, args, _ := strings.Cut(call, " ")
					mustDo(t, s.Surface, tool, args)
				}
			}
		})
	}
}

// transportClass is a failure between the adapter and the server.
type transportClass struct {
	code, tool, args string
	answer           http.HandlerFunc
	change           func(*rsclient.Config)
	next             string
}

var transportClasses = []transportClass{
	{code: "upstream_invalid", answer: func(w http.ResponseWriter, _ *http.Request) { w.Write([]byte("<html>")) }, next: "Check that the address"},
	{code: "upstream_invalid", tool: "fetch", args: askRecord, answer: always200(`{"id":"other","stream":"entries","data":{}}`), next: "Check the id"},
	{code: "upstream_invalid", tool: "read_record_field", args: askWindow, answer: always200(`{}`), next: "tell the owner of the server"},
	{code: "upstream_redirect", next: "Check that the address", answer: func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://user:hidden@elsewhere.example/?key=hidden", http.StatusFound)
	}},
	{code: "upstream_unreachable", next: "Check that it runs", answer: func(http.ResponseWriter, *http.Request) {
		panic(http.ErrAbortHandler) // the connection ends without an answer
	}},
	{code: "upstream_timeout", answer: always200(`{}`), change: func(c *rsclient.Config) { c.Timeout = 1 }, next: "Try again, or ask for less"},
	{code: "upstream_too_large", next: "Ask for less", answer: func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", "99999999999")
		w.WriteHeader(http.StatusOK)
	}},
	{code: "owner_credential", tool: "schema", args: `{}`, answer: always200(`{"bearer":{"token_kind":"owner"}}`), next: "the owner must connect again"},
	{code: "temporarily_unavailable", answer: always200(`{}`), next: "Try again in a moment", change: func(c *rsclient.Config) {
		c.Token = func(context.Context) (string, error) {
			return "", rsclient.Refused("temporarily_unavailable", "The credential for "+c.Provider+" is in use.", "Try again in a moment.")
		}
	}},
	{code: "invalid_token", answer: always200(`{}`), next: "the owner must connect again", change: func(c *rsclient.Config) {
		c.Token = func(context.Context) (string, error) { return "", nil }
	}},
}

func always200(body string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Write([]byte(body))
	}
}

// surfaceWith returns a surface over a server with a changed client configuration.
func surfaceWith(t *testing.T, provider string, change func(*rsclient.Config)) *Surface {
	t.Helper()
	cfg := rsclient.Config{Provider: provider, Version: "test", Token: func(context.Context) (string, error) { return "token", nil }}
	if change != nil {
		change(&cfg)
	}
	client, err := rsclient.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &Surface{RS: client, Log: slog.New(slog.DiscardHandler)}
}

// TestTransportErrors: transport errors name the address of the server in the text and in the
// structured output, state what to do, and leak no secret of another address.
func TestTransportErrors(t *testing.T) {
	for _, c := range transportClasses {
		tool, args := cmp.Or(c.tool, "query_records"), cmp.Or(c.args, askEntries)
		t.Run("ERR-1 "+c.code+" of "+tool, func(t *testing.T) {
			srv := httptest.NewServer(c.answer)
			defer srv.Close()
			res := mustFail(t, surfaceWith(t, srv.URL, c.change), tool, args, c.code)
			conforms(t, tool, res.Structured)
			saysStep(t, res, c.next)
			if got := text(res); !strings.Contains(got, srv.URL) || find(t, res.Structured, "provider_url") != srv.URL {
				t.Errorf("no address in\n%s\n%s", got, res.Structured)
			}
			if shown := text(res) + string(res.Structured); strings.Contains(shown, "hidden") {
				t.Errorf("a secret of an address in\n%s", shown)
			}
		})
	}
}

// TestAddressesWithSecrets: an address with a user, a query or a fragment is neither read
// from nor shown.
func TestAddressesWithSecrets(t *testing.T) {
	for _, provider := range []string{"https://user:hidden@a.example", "https://a.example/?key=hidden", "https://a.example/#hidden", "hidden://a.example"} {
		if _, err := rsclient.New(rsclient.Config{Provider: provider}); err == nil || strings.Contains(err.Error(), "hidden") {
			t.Errorf("ERR-1 %s: the error is %v", provider, err)
		}
	}
}

// TestDefectsSayWhatToDo: an internal error refers to the log and states what to do.
func TestDefectsSayWhatToDo(t *testing.T) {
	s := surfaceWith(t, "https://a.example", func(c *rsclient.Config) {
		c.Token = func(context.Context) (string, error) { panic("a defect") }
	})
	res := mustFail(t, s, "query_records", askEntries, "internal_error")
	saysStep(t, res, "tell the owner the request_id")
	if id, _ := find(t, res.Structured, "error.request_id").(string); id == "" || !strings.Contains(text(res), `request_id="`+id+`"`) {
		t.Errorf("ERR-1 no request_id in\n%s\n%s", text(res), res.Structured)
	}
}

// TestErrorsOfSize: the error of an answer that is too large has a call that reads less.
func TestErrorsOfSize(t *testing.T) {
	full := `{"object":"schema","connectors":[{"connector_key":"a","streams":[{"name":"entries","schema":{"x":"` + strings.Repeat("y", limits.FullStructuredMax) + `"}}]}]}`
	part := []byte(strings.Repeat("x", limits.BlobPart))
	for _, c := range []struct{ code, tool, args, where, next string }{
		{"schema_too_large", "schema", `{"stream":"entries","detail":"full"}`, `stream \"entries\"`, "Add connection_id, or use compact"},
		{"blob_too_large", "read_record_field", `{"id":"cin_a1/entries:ent_31","field_path":"scan","q":"rent"}`, `param="q"`, "/v1/blobs/blob_1"},
		{"blob_too_large", "read_record_field", `{"id":"cin_a1/entries:ent_31","field_path":"scan","offset_chars":99000000}`, `param="offset_chars"`, "/v1/blobs/blob_1"},
	} {
		t.Run("ERR-1 "+c.code+" "+c.where, func(t *testing.T) {
			srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				switch {
				case strings.HasPrefix(r.URL.Path, "/v1/blobs/"):
					var from, to int
					fmt.Sscanf(r.Header.Get("Range"), "bytes=%d-%d", &from, &to)
					w.Header().Set("Content-Type", "text/plain")
					w.Header().Set("Content-Range", fmt.Sprintf("bytes %d-%d/%d", from, to, 2*limits.BlobScanMax))
					w.WriteHeader(http.StatusPartialContent)
					w.Write(part[:min(to-from+1, len(part))])
				case r.URL.Path == "/v1/schema":
					w.Write([]byte(full))
				default:
					status, body := withFile(r.URL.RequestURI())
					w.WriteHeader(status)
					w.Write([]byte(body))
				}
			}))
			defer srv.Close()
			s := surfaceWith(t, srv.URL, nil)
			res := mustFail(t, s, c.tool, c.args, c.code)
			conforms(t, c.tool, res.Structured)
			saysStep(t, res, c.next)
			call := callOf(text(res), "next:", c.tool)
			if !strings.Contains(text(res), c.where) || call == "" || find(t, res.Structured, "error.next.tool") != c.tool {
				t.Fatalf("no %q, or no call, in\n%s\n%s", c.where, text(res), res.Structured)
			}
			mustDo(t, s, c.tool, call)
		})
	}
}
