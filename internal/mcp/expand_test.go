package mcp

import (
	"strings"
	"testing"
)

// schemaWith is a schema document with the relations of a stream on two connections.
func schemaWith(a1, b2 string) string {
	return `{"object":"schema","connectors":[{"connector_key":"ledgerly","streams":[` +
		`{"name":"entries","connection_id":"cin_a1","expand_capabilities":[` + a1 + `]},` +
		`{"name":"entries","connection_id":"cin_b2","expand_capabilities":[` + b2 + `]}]}]}`
}

func TestExpandGate(t *testing.T) {
	const page = `{"object":"list","data":[],"has_more":false}`
	const expand = `{"stream":"entries","expand":["receipts"]}`
	for _, c := range []struct{ name, schema, args, refused string }{
		{"GATE-1 an advertised relation is forwarded", schemaWith(`{"name":"receipts","usable":true}`, ``), expand, ""},
		{"GATE-1 under its other name", schemaWith(`{"relation":"receipts"}`, ``), expand, ""},
		{"GATE-1 in rows at top level", `{"streams":[{"name":"entries","expand_capabilities":[{"name":"receipts"}]}]}`, expand, ""},
		{"GATE-2 no relation at all", schemaWith(``, ``), expand, "offers no relation"},
		{"GATE-2 a limit alone", schemaWith(``, ``), `{"stream":"entries","expand_limit":{"receipts":3}}`, "offers no relation"},
		{"GATE-2 another relation", schemaWith(`{"name":"account"}`, ``), expand, `it has \"account\"`},
		{"GATE-2 a relation that is not usable", schemaWith(`{"name":"receipts","usable":false}`, ``), expand, "offers no relation"},
		{"GATE-2 a relation of another connection", schemaWith(`{"name":"receipts"}`, ``), `{"stream":"entries","expand":["receipts"],"connection_id":"cin_b2"}`, "offers no relation"},
		{"GATE-3 the relation of the connection", schemaWith(`{"name":"receipts"}`, ``), `{"stream":"entries","expand":["receipts"],"connection_id":"cin_a1"}`, ""},
		{"GATE-3 a schema that fails leaves it to the server", `503 {"error":{"code":"timeout"}}`, expand, ""},
		{"GATE-3 an unknown stream leaves it to the server", `{"connectors":[]}`, expand, ""},
		{"GATE-3 a limit for what is not expanded is left to the server", schemaWith(`{"name":"receipts"},{"name":"account"}`, ``), `{"stream":"entries","expand":["receipts"],"expand_limit":{"account":1}}`, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScript(t, "/v1/schema", c.schema, entriesPath, page)
			res := do(t, s.Surface, "query_records", c.args)
			sent := s.sent.take()
			schema := "/v1/schema?view=compact&stream=entries"
			if _, conn, ok := strings.Cut(c.args, `"connection_id":"`); ok {
				schema += "&connection_id=" + strings.TrimSuffix(conn, `"}`)
			}
			if sent[0] != schema {
				t.Errorf("GATE-3 first request %q, want %q", sent[0], schema)
			}
			refused := len(sent) == 1
			if c.refused == "" {
				if res.IsError || refused {
					t.Errorf("refused: %s", text(res))
				}
				return
			}
			if !refused || !res.IsError || find(t, res.Structured, "error.code") != "invalid_expand" {
				t.Fatalf("sent %q: %s", sent, text(res))
			}
			for _, want := range []string{c.refused, `\"entries\"`, "GET /v1/schema (expand_capabilities)"} {
				if !strings.Contains(text(res), want) {
					t.Errorf("no %s in %s", want, text(res))
				}
			}
			conforms(t, "query_records", res.Structured)
		})
	}
	t.Run("GATE-3 a changed schema counts at once", func(t *testing.T) {
		s := newScript(t, "/v1/schema", schemaWith(``, ``), entriesPath, page)
		mustFail(t, s.Surface, "query_records", expand, "invalid_expand")
		s.says("/v1/schema", schemaWith(`{"name":"receipts"}`, ``), true)
		mustDo(t, s.Surface, "query_records", expand)
	})
}
