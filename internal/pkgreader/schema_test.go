package pkgreader_test

import (
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/rsclient"
)

func TestSchemaTool(t *testing.T) {
	h := newHouse(t)
	t.Run("SCHEMA-1 the index of a package names the sources of all members", func(t *testing.T) {
		res := tool(h.pkg, "schema", `{}`)
		text := res.Content[0].Text
		for _, want := range []string{
			"schema: connectors=2 streams=3 scope=grant detail=compact\n",
			`connector "ledgerly" "Ledgerly": connection "cin_a1" "Joint account"; connection "cin_b2"`, `stream "receipts" fields=3 connections="cin_a1"`, `connector "post" "Post": connection "cin_m3" "Work mail"`,
			`streams in several connections (choose one with connection_id): "entries"`,
		} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in\n%s", want, text)
			}
		}
		if at(t, res.Structured, "data.bearer.token_kind") != "mcp_package" || fmt.Sprint(at(t, res.Structured, "data.package")) != "map[member_count:3]" ||
			fmt.Sprint(at(t, res.Structured, "data.stream_count")) != "3" || at(t, res.Structured, "projected") != nil {
			t.Errorf("%s", res.Structured)
		}
		if s := string(res.Structured); strings.Contains(s, "cin_x9") || strings.Contains(s, "Account of") {
			t.Errorf("%s", s)
		}
	})
	for _, c := range []struct{ name, args, called string }{
		{"SCHEMA-1 the members that grant a stream describe it", `{"stream":"entries"}`, "cin_a1 cin_b2"},
		{"PKG-4 one connection is described by its member", `{"stream":"entries","connection_id":"cin_b2"}`, "cin_b2"},
		{"SCHEMA-1 a full description by the only member with the stream", `{"stream":"messages","detail":"full"}`, "cin_m3"},
		{"SCHEMA-1 a full description of a chosen connection", `{"stream":"entries","detail":"full","connection_id":"cin_a1"}`, "cin_a1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			h.calls.take()
			res := tool(h.pkg, "schema", c.args)
			var called []string
			for _, call := range h.calls.take() {
				who, _, _ := strings.Cut(call, " ")
				called = append(called, who)
			}
			if got := strings.Join(called, " "); res.IsError || got != c.called {
				t.Errorf("called %q, want %q: %s", got, c.called, res.Content[0].Text)
			}
		})
	}
	t.Run("AMBIG-1 a full description that several could give is a choice", func(t *testing.T) {
		res := tool(h.pkg, "schema", `{"stream":"entries","detail":"full"}`)
		list, _ := at(t, res.Structured, "error.available_connections").([]any)
		if at(t, res.Structured, "error.code") != "ambiguous_schema_detail" || len(list) != 2 || at(t, res.Structured, "error.retry_with") != "connection_id" || len(h.calls.take()) != 0 {
			t.Errorf("%s", res.Structured)
		}
	})
	t.Run("H-92 no member grants the stream, or the full schema is of no stream", func(t *testing.T) {
		_, err := h.pkg.Schema(t.Context(), params("view", "compact", "stream", "nowhere"))
		if e := failure(t, err); e.Status != 403 || e.Code != "grant_stream_not_allowed" {
			t.Errorf("%v", e)
		}
		_, err = h.pkg.Schema(t.Context(), params("detail", "full"))
		if e := failure(t, err); e.Status != 400 || e.Code != "invalid_request" || !strings.Contains(string(e.Object), `"param":"detail"`) {
			t.Errorf("%v", e)
		}
		if got := h.calls.take(); len(got) != 0 {
			t.Errorf("called %q", got)
		}
	})
}

// TestManyAccounts: accounts of one connector share a block of the schema.
func TestManyAccounts(t *testing.T) {
	h := newHouse(t)
	h.pkg.Members = nil
	for i := range 30 {
		id := fmt.Sprintf("cin_more%02d", i)
		h.Connect("ledgerly", id, fmt.Sprint("Account ", i))
		h.join(id, "ledgerly", fmt.Sprint("Account ", i), "entries")
	}
	one, err := h.pkg.Members[0].Reader.Schema(t.Context(), params("view", "compact"))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ name, args string }{
		{"DISC-7 thirty accounts are one block of the index", `{}`}, {"DISC-2 and one row of their stream", `{"stream":"entries"}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			res := tool(h.pkg, "schema", c.args)
			if n := fmt.Sprintf("%v %v", at(t, res.Structured, "data.connector_count"), at(t, res.Structured, "data.stream_count")); n != "1 1" {
				t.Errorf("connectors and streams: %s, want 1 1", n)
			}
			if list, _ := at(t, res.Structured, "data.connectors.0.granted_connections").([]any); len(list) != 30 {
				t.Errorf("%d connections, want 30", len(list))
			}
			text := res.Content[0].Text
			for _, m := range h.pkg.Members {
				if n := strings.Count(text, `connection "`+m.Connection+`" "`+m.DisplayName+`"`); n != 1 {
					t.Errorf("connection %s is listed %d times in\n%s", m.Connection, n, text)
				}
			}
			if n := strings.Count(text, `"ledgerly"`); n != 1 {
				t.Errorf("the connector is named %d times in\n%s", n, text)
			}
		})
	}
	t.Run("SCHEMA-1 a grant with other fields is a row of its own", func(t *testing.T) {
		h.joinGrant("cin_b2", "ledgerly", "", `{"name":"entries","connections":["cin_b2"],"fields":["memo"]}`, "entries")
		a, err := h.pkg.Schema(t.Context(), params("view", "compact"))
		if err != nil {
			t.Fatal(err)
		}
		rows := rsclient.SchemaOf(a.Body).Rows()
		if len(rows) != 2 || len(rows[0].Connections) != 30 || len(rows[1].Connections) != 1 || rows[1].Connections[0].ID != "cin_b2" ||
			rows[1].FieldCount >= rows[0].FieldCount || rows[0].FieldCount != rsclient.SchemaOf(one.Body).Rows()[0].FieldCount {
			t.Errorf("%s", a.Body)
		}
	})
}

func TestForeignSchema(t *testing.T) {
	t.Run("SCHEMA-1 documents of other servers are merged with their connections", func(t *testing.T) {
		p := scripted(t, &calls{},
			says(200, `{"data":{"object":"schema","streams":[{"name":"messages"},{"name":"files"}]}}`),
			says(200, `{"connectors":[{"connector_key":"notes","streams":[{"name":"messages"}]}],"streams":[{"name":"messages"}]}`))
		a, err := p.Schema(t.Context(), params())
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, r := range rsclient.SchemaOf(a.Body).Rows() {
			rows = append(rows, fmt.Sprint(r.ConnectorKey, "/", r.Name, " ", r.Connections))
		}
		want := "mail/messages [{cin_1 }], mail/files [{cin_1 }], notes/messages [{cin_2 }]"
		if got := strings.Join(rows, ", "); got != want || fmt.Sprint(at(t, a.Body, "stream_count")) != "3" || at(t, a.Body, "detail") != nil {
			t.Errorf("%s\nwant %s\n%s", got, want, a.Body)
		}
	})
}
