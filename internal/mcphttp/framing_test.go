package mcphttp_test

import (
	"encoding/base64"
	"fmt"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/httpx"
	"pdpp/internal/mcp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

// The bodies of requests (H-61).
func TestFraming(t *testing.T) {
	h := newFixture(t)
	ping := func(id string) string { return `{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}` }
	for _, bad := range []string{
		"", " ", "{", "nul", "{}{}", ping("1") + "x", `{"jsonrpc":"2.0",}`, "\xff", `{"a":"` + "\xff" + `"}`, `{"a":"\ud800"}x`, `{'a':1}`, "\ufeff" + ping("1"), `{"id":01}`,
		strings.Repeat("[", 65) + strings.Repeat("]", 65), `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 65),
		strings.Repeat("[", 500_000), strings.Repeat(`{"a":`, 200_000),
	} {
		a := h.post(h.client, bad)
		expectRPC(t, a, 400, -32700)
		wants(t, a, map[string]any{"id": nil})
	}
	for _, bad := range []string{
		"{}", "1", `"x"`, "null", "true", `{"jsonrpc":"2.0"}`, `{"jsonrpc":"1.0","id":1,"method":"ping"}`, `{"jsonrpc":2.0,"id":1,"method":"ping"}`, `{"id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1}`, `{"jsonrpc":"2.0","id":1,"method":7}`, `{"jsonrpc":"2.0","id":1,"method":""}`,
		ping("null"), ping("true"), ping("[1]"), ping("{}"),
	} {
		a := h.post(h.client, bad)
		expectRPC(t, a, 400, -32600)
		wants(t, a, map[string]any{"id": nil})
	}
	// The answer repeats the id as it was sent.
	for _, id := range []string{"0", "1", "-7", "9007199254740993", "123456789012345678901234567890", "1.50", `"a"`, `""`, `"1"`, `"é😀\n"`, `"a\u0062"`} {
		a := h.post(h.client, " \n"+ping(id)+"\r\n").OK()
		if want := `{"jsonrpc":"2.0","id":` + id + `,"result":{}}`; string(a.Body) != want {
			t.Errorf("id %s: %s, want %s", id, a.Body, want)
		}
	}
	// The first of duplicate members counts.
	a := h.post(h.client, `{"jsonrpc":"2.0","id":2,"m\u0065thod":"ping","method":"nobody","id":3}`).OK()
	if string(a.Body) != `{"jsonrpc":"2.0","id":2,"result":{}}` {
		t.Errorf("repeated members: %s", a.Body)
	}
	// Null params count as missing.
	if a := h.post(h.client, `{"jsonrpc":"2.0","id":1,"method":"ping","params":null}`).OK(); string(a.Body) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("null params: %s", a.Body)
	}
	// Another spelling of the path is another path.
	for _, path := range []string{"/%6dcp", "/mcp/", "/%6d%63%70", "//mcp"} {
		expect(t, h.Do("POST", h.client, path, ping("1"), "Content-Type: application/json"), 404, "not_found")
	}
	// Notifications and responses get no answer.
	for _, quiet := range []string{
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}`,
		`{"jsonrpc":"2.0","method":"notifications/nobody"}`, `{"jsonrpc":"2.0","method":"tools/call","params":{"name":"search","arguments":{"q":"rent"}}}`,
		`{"jsonrpc":"2.0","id":1,"result":{}}`, `{"jsonrpc":"2.0","id":1,"error":{"code":1,"message":"m"}}`,
	} {
		if a := h.post(h.client, quiet); a.Status != 202 || len(a.Body) != 0 {
			t.Errorf("%s: %d %s", quiet, a.Status, a.Body)
		}
	}
	if reads := h.spy.targets(); len(reads) != 0 {
		t.Errorf("a notification read %q", reads)
	}
	// Nesting of 64 is allowed.
	a = h.post(h.client, `{"jsonrpc":"2.0","id":1,"method":"ping","params":`+strings.Repeat(`{"a":`, 62)+"{}"+strings.Repeat("}", 63))
	if a.OK(); string(a.Body) != `{"jsonrpc":"2.0","id":1,"result":{}}` {
		t.Errorf("nested: %s", a.Body)
	}
}

// fill returns a message of a size.
func fill(size int) string {
	head, tail := `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"`, `"}}`
	return head + strings.Repeat("x", size-len(head)-len(tail)) + tail
}

// A large body counts against the memory of the server, twice; a small one does not.
func TestBodiesHaveABudget(t *testing.T) {
	t.Run("H-69", func(t *testing.T) {
		h := newFixture(t)
		b := httpx.NewBudget(1 << 20)
		h.open(func(c *server.Config) { c.Memory = b }, nil)
		for _, size := range []int{100 << 10, 500 << 10} {
			h.post(h.client, fill(size)).OK()
		}
		expect(t, h.post(h.client, fill(600<<10)), 413, "resource_limit")
		if !resttest.Fits(b, 1<<20) {
			t.Error("bytes are held by nobody")
		}
	})
}

func TestBodySize(t *testing.T) {
	h := newFixture(t)
	h.post(h.client, fill(1<<20)).OK()
	a := h.post(h.client, fill(1<<20+1))
	expect(t, a, 413, "resource_limit")
	if !strings.Contains(string(a.Body), "1048576") {
		t.Errorf("the limit is not named: %s", a.Body)
	}
	// Without Content-Length the size is found while reading.
	status, body := h.wire(t, "POST /mcp HTTP/1.1\r\nHost: "+h.host()+"\r\nAuthorization: Bearer "+h.client+"\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n"+
		fmt.Sprintf("%x\r\n%s\r\n0\r\n\r\n", 1<<20+1, fill(1<<20+1)))
	if status != 413 || !strings.Contains(body, `"resource_limit"`) || !strings.Contains(body, "1048576") {
		t.Errorf("in chunks: %d %s", status, body)
	}
}

// Arrays are batches in the only revision that has batches.
func TestBatches(t *testing.T) {
	h := newFixture(t)
	one := func(id int, method, params string) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s}}`, id, method, params)
	}
	list := func(n int) string {
		var all []string
		for i := range n {
			all = append(all, one(i, "ping", ""))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	for _, headers := range [][]string{nil, {"MCP-Protocol-Version: " + batches}} {
		a := h.post(h.client, `[`+one(1, "tools/call", `"name":"aggregate","arguments":{"stream":"entries","metric":"count"}`)+
			`,{"jsonrpc":"2.0","method":"notifications/initialized"},`+one(2, "nothing", "")+`,`+one(3, "tools/list", "")+`]`, headers...).OK()
		wants(t, a, map[string]any{"0.id": 1, "0.result.isError": nil, "1.id": 2, "1.error.code": -32601, "2.id": 3, "3": nil})
		if a.At("2.result.tools") == nil {
			t.Errorf("%s", a.Body)
		}
		h.post(h.client, list(20), headers...).OK()
		if a := h.post(h.client, `[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"result":{}}]`, headers...); a.Status != 202 || len(a.Body) != 0 {
			t.Errorf("notifications alone: %d %s", a.Status, a.Body)
		}
		for _, bad := range []string{
			"[]", list(21), "[1]", "[[]]", "[{}]", "[" + one(1, "initialize", `"protocolVersion":"`+batches+`"`) + "]", `[` + one(1, "ping", "") + `,{"jsonrpc":"2.0","id":null,"method":"ping"}]`,
		} {
			a := h.post(h.client, bad, headers...)
			expectRPC(t, a, 400, -32600)
			wants(t, a, map[string]any{"id": nil})
		}
	}
	h.spy.take()
	for _, era := range []string{modern, handshake, "2025-06-18"} {
		a := h.post(h.client, "["+callOf(era, "search", `{"q":"rent"}`).body()+"]", "MCP-Protocol-Version: "+era, "Mcp-Method: tools/call", "Mcp-Name: search")
		expectRPC(t, a, 400, -32600)
	}
	expectRPC(t, h.post(h.client, list(2), "MCP-Protocol-Version: 1"), 400, -32022)
	expectRPC(t, h.post(h.client, "["+one(1, "tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"1999"}`)+"]"), 400, -32022)
	expectRPC(t, h.post(h.client, `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":"x"}`), 200, -32602)
	if reads := h.spy.targets(); len(reads) != 0 {
		t.Errorf("refused batches read %q", reads)
	}
}

// The revisions and their headers (H-60).
func TestRevisions(t *testing.T) {
	h := newFixture(t)
	const (
		meta    = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`
		version = "MCP-Protocol-Version: 2026-07-28"
	)
	body := func(method, params string) string {
		return `{"jsonrpc":"2.0","id":7,"method":"` + method + `","params":{` + params + `}}`
	}
	search := body("tools/call", `"name":"search","arguments":{"q":"rent"},`+meta)
	uri := mcp.Handle{Connection: "cin_a1", Stream: "entries", Record: "cin_a1_1"}.URI()
	read := body("resources/read", `"uri":"`+uri+`",`+meta)
	encoded := func(s string) string { return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(s)) + "?=" }
	for _, c := range []struct {
		what    string
		body    string
		headers []string
		status  int
		code    int // 0 for a result
	}{
		{"all headers", search, []string{version, "Mcp-Method: tools/call", "Mcp-Name: search"}, 200, 0},
		{"an encoded name", search, []string{version, "Mcp-Method: tools/call", "Mcp-Name: " + encoded("search")}, 200, 0},
		{"a resource", read, []string{version, "Mcp-Method: resources/read", "Mcp-Name: " + uri}, 200, 0},
		{"a list", body("tools/list", meta), []string{version, "Mcp-Method: tools/list"}, 200, 0},
		{"discovery", body("server/discover", meta), []string{version, "Mcp-Method: server/discover"}, 200, 0},
		{"no version header", search, []string{"Mcp-Method: tools/call", "Mcp-Name: search"}, 400, -32020},
		{"no method header", search, []string{version, "Mcp-Name: search"}, 400, -32020},
		{"another method", search, []string{version, "Mcp-Method: tools/list", "Mcp-Name: search"}, 400, -32020},
		{"a method in other letters", search, []string{version, "Mcp-Method: Tools/Call", "Mcp-Name: search"}, 400, -32020},
		{"no name header", search, []string{version, "Mcp-Method: tools/call"}, 400, -32020},
		{"another name", search, []string{version, "Mcp-Method: tools/call", "Mcp-Name: fetch"}, 400, -32020},
		{"another name, encoded", search, []string{version, "Mcp-Method: tools/call", "Mcp-Name: " + encoded("fetch")}, 400, -32020},
		{"a name that cannot be decoded", search, []string{version, "Mcp-Method: tools/call", "Mcp-Name: =?base64?*?="}, 400, -32020},
		{"another resource", read, []string{version, "Mcp-Method: resources/read", "Mcp-Name: pdpp://record/x"}, 400, -32020},
		{"no resource header", read, []string{version, "Mcp-Method: resources/read"}, 400, -32020},
		{"another version in the body", body("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25","io.modelcontextprotocol/clientCapabilities":{}}`), []string{version, "Mcp-Method: tools/list"}, 400, -32020},
		{"another version in the header", body("tools/list", meta), []string{"MCP-Protocol-Version: 2025-11-25", "Mcp-Method: tools/list"}, 400, -32020},
		{"no _meta", body("tools/list", ""), []string{version, "Mcp-Method: tools/list"}, 400, -32602},
		{"no version in _meta", body("tools/list", `"_meta":{"io.modelcontextprotocol/clientCapabilities":{}}`), []string{version, "Mcp-Method: tools/list"}, 400, -32602},
		{"no capabilities", body("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}`), []string{version, "Mcp-Method: tools/list"}, 400, -32602},
		{"capabilities that are none", body("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":7}`), []string{version, "Mcp-Method: tools/list"}, 400, -32602},
		{"a client that is none", body("tools/list", strings.TrimSuffix(meta, "}")+`,"io.modelcontextprotocol/clientInfo":7}`), []string{version, "Mcp-Method: tools/list"}, 400, -32602},
		{"an unknown method", body("nothing", meta), []string{version, "Mcp-Method: nothing"}, 404, -32601},
		{"a method of older revisions", body("initialize", meta), []string{version, "Mcp-Method: initialize"}, 404, -32601},
		{"ping", body("ping", meta), []string{version, "Mcp-Method: ping"}, 404, -32601},
		{"a subscription", body("resources/subscribe", meta), []string{version, "Mcp-Method: resources/subscribe"}, 404, -32601},
		{"an unknown tool", body("tools/call", `"name":"nothing",`+meta), []string{version, "Mcp-Method: tools/call", "Mcp-Name: nothing"}, 400, -32602},
		{"a tool of developers", body("tools/call", `"name":"list_streams",`+meta), []string{version, "Mcp-Method: tools/call", "Mcp-Name: list_streams"}, 400, -32602},
		{"an unknown resource", body("resources/read", `"uri":"x://y",`+meta), []string{version, "Mcp-Method: resources/read", "Mcp-Name: x://y"}, 400, -32602},
		{"a malformed resource", body("resources/read", `"uri":"pdpp://record/x",`+meta), []string{version, "Mcp-Method: resources/read", "Mcp-Name: pdpp://record/x"}, 400, -32602},
		{"a cursor", body("tools/list", `"cursor":"x",`+meta), []string{version, "Mcp-Method: tools/list"}, 400, -32602},
		{"an unknown version", body("tools/list", ""), []string{"MCP-Protocol-Version: 2024-11-05"}, 400, -32022},
		{"a version that is none", body("tools/list", ""), []string{"MCP-Protocol-Version: x"}, 400, -32022},
		{"an unknown version in the body", body("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}`), nil, 400, -32022},
		{"an unknown version in both", body("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2030-01-01"}`), []string{"MCP-Protocol-Version: 2030-01-01"}, 400, -32022},
		{"a known version in the body alone", body("tools/list", `"_meta":{"io.modelcontextprotocol/protocolVersion":"2025-11-25"}`), nil, 400, -32020},
		{"two version headers", body("tools/list", ""), []string{"MCP-Protocol-Version: 2025-11-25", "MCP-Protocol-Version: 2025-06-18"}, 400, -32022},
		{"two method headers", search, []string{version, "Mcp-Method: tools/call", "Mcp-Method: tools/list", "Mcp-Name: search"}, 400, -32020},
		{"two name headers", search, []string{version, "Mcp-Method: tools/call", "Mcp-Name: search", "Mcp-Name: fetch"}, 400, -32020},
		{"an unknown version, initialize", body("initialize", `"protocolVersion":"1"`), []string{"MCP-Protocol-Version: 1"}, 400, -32022},
	} {
		a := h.post(h.client, c.body, c.headers...)
		if c.code == 0 {
			a.OK()
			wants(t, a, map[string]any{"id": 7, "result.resultType": "complete", "result.isError": nil})
			continue
		}
		if a.Status != c.status || fmt.Sprint(a.At("error.code")) != fmt.Sprint(c.code) || fmt.Sprint(a.At("id")) != "7" {
			t.Errorf("%s: %d %s, want %d with %d", c.what, a.Status, a.Body, c.status, c.code)
		}
		if c.code == -32022 && (len(a.At("error.data.supported").([]any)) != 4 || a.At("error.data.requested") == "") {
			t.Errorf("%s: %s", c.what, a.Body)
		}
	}
}

// The error for a wrong header names the header, and why a client may have omitted it.
func TestHeaderMessages(t *testing.T) {
	h := newFixture(t)
	huge := callOf(modern, "query_records", `{"stream":"entries","filter":{"memo":1e400}}`)
	for _, c := range []struct{ name, says string }{
		{"", "the header Mcp-Name is missing; it repeats the name of the tool. The arguments contain a number larger than float64"},
		{"Mcp-Name: fetch", "the header Mcp-Name differs from the name of the tool in the body"},
	} {
		headers := []string{"MCP-Protocol-Version: " + modern, "Mcp-Method: tools/call"}
		if c.name != "" {
			headers = append(headers, c.name)
		}
		a := h.post(h.client, huge.body(), headers...)
		expectRPC(t, a, 400, -32020)
		if message, _ := a.At("error.message").(string); !strings.HasPrefix(message, c.says) {
			t.Errorf("%q says %q", c.name, message)
		}
	}
	a := h.post(h.client, callOf(modern, "query_records", `{"stream":"entries"}`).body(), "MCP-Protocol-Version: "+modern, "Mcp-Name: query_records")
	wants(t, a, map[string]any{"error.message": "the header Mcp-Method is missing; it repeats the method"})
	// A client that can send such a number may: it reaches the tool unchanged.
	h.spy.take()
	h.send(h.client, huge).OK()
	if got := h.spy.targets(); len(got) != 1 || !strings.Contains(got[0], "1e400") {
		t.Errorf("the server is asked %q", got)
	}
	// The official client shows the error to its user.
	_, err := h.connect(h.client, modern).CallTool(t.Context(), &sdk.CallToolParams{Name: "query_records", Arguments: jsonText(`{"stream":"entries","limit":1e400}`)})
	if err == nil || !strings.Contains(err.Error(), "a number larger than float64") {
		t.Errorf("a user reads %v", err)
	}
}

func TestOlderRevisions(t *testing.T) {
	h := newFixture(t)
	for _, era := range []string{"", handshake, "2025-06-18", batches} {
		var headers []string
		if era != "" {
			headers = []string{"MCP-Protocol-Version: " + era}
		}
		ask := func(method, params string) string {
			a := h.post(h.client, `{"jsonrpc":"2.0","id":7,"method":"`+method+`","params":{`+params+`}}`, headers...).OK()
			return string(a.Body)
		}
		for method, code := range map[string]string{"nothing": "-32601", "server/discover": "-32601", "prompts/list": "-32601", "tasks/list": "-32601"} {
			if got := ask(method, ""); !strings.Contains(got, `"error":{"code":`+code) {
				t.Errorf("%q %s: %s", era, method, got)
			}
		}
		for params, code := range map[string]string{`"uri":"x://y"`: "-32002", `"uri":"pdpp://record/x"`: "-32602", "": "-32002"} {
			if got := ask("resources/read", params); !strings.Contains(got, `"error":{"code":`+code) {
				t.Errorf("%q resources/read %s: %s", era, params, got)
			}
		}
		if got := ask("tools/call", `"name":"nothing","arguments":{}`); !strings.Contains(got, `"error":{"code":-32602`) {
			t.Errorf("%q an unknown tool: %s", era, got)
		}
		links := strings.Contains(ask("tools/call", `"name":"fetch","arguments":{"id":"cin_a1/entries:cin_a1_1"}`), `"resource_link"`)
		if want := era == handshake || era == "2025-06-18"; links && !want {
			t.Errorf("%q has resource links", era)
		}
		for asked, want := range map[string]string{handshake: handshake, "2025-06-18": "2025-06-18", batches: batches, modern: handshake, "2024-11-05": handshake, "": handshake} {
			got := ask("initialize", `"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"t","version":"1"}`)
			if !strings.Contains(got, `"protocolVersion":"`+want+`"`) {
				t.Errorf("%q initialize with %q: %.200s", era, asked, got)
			}
		}
	}
}
