package mcpserve

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
)

func TestHandshakes(t *testing.T) {
	surface, w := ledger(t, nil)
	for _, version := range append(eras, "2024-11-05") {
		t.Run(version, func(t *testing.T) {
			session, wire := connect(t, surface, version)
			want := version
			if version == "2024-11-05" {
				want = "2025-11-25"
			}
			res := session.InitializeResult()
			if res.ProtocolVersion != want || res.Instructions != mcp.Instructions {
				t.Errorf("MS-3 version %q, instructions %q", res.ProtocolVersion, res.Instructions)
			}
			caps, _ := json.Marshal(res.Capabilities)
			if string(caps) != `{"resources":{},"tools":{}}` {
				t.Errorf("MS-2 capabilities %s", caps)
			}
			first := wire.Last()
			for _, part := range []string{`"name":"pdpp"`, `"title":"PDPP personal data (read-only)"`, `"version":"1.2.3"`, `"websiteUrl":"` + w.URL + `"`} {
				if !strings.Contains(first, part) {
					t.Errorf("MS-1 no %s in %s", part, first)
				}
			}
			if strings.Contains(first, "icons") || version == eras[0] && !strings.Contains(first, `"cacheScope":"private"`) {
				t.Errorf("MS-1, MS-14 %s", first)
			}
		})
	}
}

func TestListsAreConstant(t *testing.T) {
	surface, _ := ledger(t, nil)
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			session, wire := connect(t, surface, version)
			tools, err := session.ListTools(t.Context(), nil)
			if err != nil {
				t.Fatal(err)
			}
			var names []string
			for _, tool := range tools.Tools {
				names = append(names, tool.Name)
			}
			if diff := cmp.Diff([]string{"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}, names); diff != "" {
				t.Errorf("MS-8 the order:\n%s", diff)
			}
			list := mcp.Tools().List()
			checkList(t, wire.Last(), string(list[1:len(list)-1]), version)

			templates, err := session.ListResourceTemplates(t.Context(), nil)
			if err != nil || len(templates.ResourceTemplates) != 3 {
				t.Fatalf("MS-200 %v, %v", templates, err)
			}
			body := mcp.Templates()
			checkList(t, wire.Last(), string(body[1:len(body)-1]), version)
			resources, err := session.ListResources(t.Context(), nil)
			if err != nil || len(resources.Resources) != 0 {
				t.Errorf("MS-2 resources %v, %v", resources, err)
			}
			checkList(t, wire.Last(), `"resources":[]`, version)
			_, err = session.ListTools(t.Context(), &sdk.ListToolsParams{Cursor: "x"})
			wantRPC(t, "an unknown cursor", err, -32602)
		})
	}
}

// checkList checks that a message contains a list byte for byte, with the members that its
// revision adds.
func checkList(t *testing.T, message, body, version string) {
	t.Helper()
	modern := version == eras[0]
	if !strings.Contains(message, body) {
		t.Errorf("MS-9 the bytes differ: %.300s", message)
	}
	if strings.Contains(message, `"cacheScope":"private","ttlMs":300000`) != modern || strings.Contains(message, `"resultType":"complete"`) != modern ||
		strings.Contains(message, `"io.modelcontextprotocol/serverInfo"`) != modern || strings.Contains(message, "nextCursor") {
		t.Errorf("MS-3, MS-14 the members around the list: %s", strings.Replace(message, body, "…", 1))
	}
}

func TestCallsKeepTheirBytes(t *testing.T) {
	surface, _ := ledger(t, nil)
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			session, wire := connect(t, surface, version)
			res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "query_records", Arguments: map[string]any{"stream": "entries"}})
			if err != nil || res.IsError {
				t.Fatalf("%+v, %v", res, err)
			}
			message := wire.Last()
			if !strings.Contains(message, `"memo":`+memo) {
				t.Errorf("MS-36 the bytes of the record changed: %s", message)
			}
			if got := strings.Contains(message, `"resultType":"complete"`); got != (version == eras[0]) {
				t.Errorf("MS-3 resultType: %v", got)
			}
			direct := surface.Call(t.Context(), mcp.Tools().Lookup("query_records"), []byte(`{"stream":"entries"}`))
			if text := res.Content[0].(*sdk.TextContent).Text; text != direct.Content[0].Text {
				t.Errorf("the text is %q, want %q", text, direct.Content[0].Text)
			}
		})
	}
}

func TestFailuresAreResults(t *testing.T) {
	surface, _ := ledger(t, nil)
	for _, version := range eras {
		session, _ := connect(t, surface, version)
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "query_records", Arguments: map[string]any{"stream": "balances"}})
		if err != nil || !res.IsError || len(res.Content) != 1 || res.StructuredContent == nil {
			t.Errorf("ERR-1 %s: %+v, %v", version, res, err)
		}
		_, err = session.CallTool(t.Context(), &sdk.CallToolParams{Name: "list_streams"})
		if e := wantRPC(t, "MS-12", err, -32602); !strings.Contains(e.Message, "unknown tool") || !strings.Contains(e.Message, "schema, query_records") {
			t.Errorf("MS-12 message %q", e.Message)
		}
		_, err = session.ListPrompts(t.Context(), nil)
		wantRPC(t, "MS-2 prompts", err, -32601)
	}
}

func TestResources(t *testing.T) {
	surface, _ := ledger(t, nil)
	uri := "pdpp://record/" + base64.RawURLEncoding.EncodeToString(
		[]byte(`{"v":1,"kind":"record","connection_id":"cin_a1","stream":"entries","record_id":"ent_31"}`))
	missing := "pdpp://record/" + base64.RawURLEncoding.EncodeToString([]byte(`{"v":1,"kind":"record","stream":"entries","record_id":"none"}`))
	for _, version := range eras {
		t.Run(version, func(t *testing.T) {
			session, wire := connect(t, surface, version)
			res, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
			if err != nil || len(res.Contents) != 1 || res.Contents[0].URI != uri || !strings.Contains(res.Contents[0].Text, "April <rent> & ") {
				t.Fatalf("MS-201 %+v, %v", res, err)
			}
			modern := version == eras[0]
			if got := strings.Contains(wire.Last(), `"cacheScope":"private","ttlMs":0`); got != modern {
				t.Errorf("MS-14 cache hints: %v in %s", got, wire.Last())
			}
			notFound := int64(-32002)
			if modern {
				notFound = -32602
			}
			for _, uri := range []string{missing, "file:///etc/passwd"} {
				_, err = session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				wantRPC(t, "MS-204 "+uri, err, notFound)
			}
			_, err = session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "pdpp://record/!"})
			if e := wantRPC(t, "MS-204 a bad handle", err, -32602); !bytes.Contains(e.Data, []byte("invalid_id")) {
				t.Errorf("MS-204 data %s", e.Data)
			}
		})
	}
}

// roundTrip is a transport as a function.
type roundTrip func(*http.Request) (*http.Response, error)

func (f roundTrip) RoundTrip(req *http.Request) (*http.Response, error) { return f(req) }

func TestPanicEndsOneCall(t *testing.T) {
	surface, _ := ledger(t, roundTrip(func(*http.Request) (*http.Response, error) { panic("SECRET") }))
	session, wire := connect(t, surface, eras[1])
	for range 2 {
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "query_records", Arguments: map[string]any{"stream": "entries"}})
		if err != nil || !res.IsError || strings.Contains(wire.Last(), "SECRET") {
			t.Errorf("MS-46 %+v, %v: %s", res, err, wire.Last())
		}
	}
}

func TestCancellationReachesTheRead(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	surface, _ := ledger(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		close(started)
		<-req.Context().Done()
		close(ended)
		return nil, req.Context().Err()
	}))
	session, _ := connect(t, surface, eras[1])
	ctx, cancel := context.WithCancel(t.Context())
	go func() {
		<-started
		cancel()
	}()
	if _, err := session.CallTool(ctx, &sdk.CallToolParams{Name: "query_records", Arguments: map[string]any{"stream": "entries"}}); err == nil {
		t.Error("the call was not cancelled")
	}
	<-ended // MS-13
}

func TestLinksNeedARevision(t *testing.T) {
	res := &mcp.Result{Structured: []byte(`{"a":1}`), Content: []mcp.Block{
		{Text: "a"}, {Link: &mcp.Link{URI: "pdpp://record/x", Name: "n", MimeType: "text/plain", Size: 7}}, {Text: "b"},
	}}
	for links, want := range map[bool]string{
		true: `{"content":[{"type":"text","text":"a"},{"type":"resource_link","uri":"pdpp://record/x","name":"n","mimeType":"text/plain","size":7},` +
			`{"type":"text","text":"b"}],"structuredContent":{"a":1}}`,
		false: `{"content":[{"type":"text","text":"a"},{"type":"text","text":"b"}],"structuredContent":{"a":1}}`,
	} {
		var got rawjson.Writer
		if writeToolResult(&got, res, links); string(got) != want {
			t.Errorf("MS-3 with links %v:\n%s\nwant\n%s", links, got, want)
		}
	}
	contents := []mcp.Content{{URI: "u", MimeType: "text/plain", Text: "<x>"}, {URI: "v", MimeType: "image/png", Blob: []byte{1, 2}}}
	want := `{"contents":[{"uri":"u","mimeType":"text/plain","text":"<x>"},{"uri":"v","mimeType":"image/png","blob":"AQI="}]}`
	var got rawjson.Writer
	if writeContents(&got, contents); string(got) != want {
		t.Errorf("contents: %s, want %s", got, want)
	}
}

func TestLogHasNoData(t *testing.T) {
	surface, _ := ledger(t, nil)
	var log, out bytes.Buffer
	in := strings.NewReader(modernCall(1, "query_records", `{"stream":"entries","filter":{"memo":"ARGUMENT"}}`))
	if err := Serve(t.Context(), New(config(surface, &log)), in, &out); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(log.String(), `"tool":"query_records"`) || strings.Contains(log.String(), "ARGUMENT") || strings.Contains(log.String(), "pdpp_at_") {
		t.Errorf("MS-268 the log is %s", log.String())
	}
}

// modernCall returns a call of revision 2026-07-28.
func modernCall(id int, tool, args string) string {
	text, _ := json.Marshal(map[string]any{
		"jsonrpc": "2.0", "id": id, "method": "tools/call",
		"params": map[string]any{"name": tool, "arguments": json.RawMessage(args), "_meta": modernMeta("2026-07-28")},
	})
	return string(text) + "\n"
}

func modernMeta(version string) map[string]any {
	return map[string]any{
		"io.modelcontextprotocol/protocolVersion": version, "io.modelcontextprotocol/clientCapabilities": map[string]any{},
		"io.modelcontextprotocol/clientInfo": map[string]any{"name": "test", "version": "1"},
	}
}
