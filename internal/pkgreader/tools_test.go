package pkgreader_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

// What a client of the tools sees of a package (mcp-surface §15).
func TestSearchTool(t *testing.T) {
	h := newHouse(t)
	res := tool(h.pkg, "search", `{"q":"rent","limit":5}`)
	text := res.Content[0].Text
	t.Run("PKG-1 hits of all members are merged by rank, each with its source", func(t *testing.T) {
		want := []string{"cin_a1/entries:cin_a1_0", "cin_b2/entries:cin_b2_0", "cin_m3/messages:m0", "cin_a1/entries:cin_a1_1", "cin_b2/entries:cin_b2_1"}
		if got := ids(t, res); !slices.Equal(got, want) {
			t.Errorf("results %q, want %q\n%s", got, want, text)
		}
		for i, connection := range []string{"cin_a1", "cin_b2", "cin_m3"} {
			m := h.member(connection)
			hit := fmt.Sprintf("data.data.%d.", i)
			if got := at(t, res.Structured, hit+"grant_id"); got != m.GrantID {
				t.Errorf("hit %d is of grant %v, want %s", i, got, m.GrantID)
			}
			if at(t, res.Structured, hit+"connection_id") != connection || at(t, res.Structured, hit+"connector_key") != m.ConnectorKey {
				t.Errorf("hit %d does not name %s", i, connection)
			}
		}
	})
	t.Run("FANIN-1 at most limit hits, and the text shows the mix of sources", func(t *testing.T) {
		want := `sources: "cin_a1" connector_key="ledgerly" "Joint account" hits=2; "cin_b2" connector_key="ledgerly"`
		if len(ids(t, res)) != 5 || !strings.Contains(text, want) || !strings.Contains(text, "count=exact:17") {
			t.Errorf("text:\n%s", text)
		}
		mix := fmt.Sprint(at(t, res.Structured, "data.meta.package"))
		if want := "map[member_count:3 partial:false queried_count:3 source_mix:[map[connection_id:cin_a1 connector_key:ledgerly count:2 display_name:Joint account] " +
			"map[connection_id:cin_b2 connector_key:ledgerly count:2] map[connection_id:cin_m3 connector_key:post count:1 display_name:Work mail]]]"; mix != want {
			t.Errorf("meta.package = %s\nwant %s", mix, want)
		}
	})
	t.Run("PKG-2 each member is asked for its own streams only", func(t *testing.T) {
		h.calls.take()
		res := tool(h.pkg, "search", `{"q":"rent","streams":["messages","entries","receipts","nowhere","elsewhere","nowhere"]}`)
		want := []string{
			"cin_a1 /v1/search?q=rent&streams=entries&streams=receipts&limit=25", "cin_b2 /v1/search?q=rent&streams=entries&limit=25",
			"cin_m3 /v1/search?q=rent&streams=messages&limit=25",
		}
		if diff := cmp.Diff(want, h.calls.take()); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
		warned := fmt.Sprint(at(t, res.Structured, "data.meta.warnings"))
		const tail = " message:No usable source of this package grants this stream; it was not searched. param:streams]"
		if want := "[map[code:stream_not_granted detail:map[stream:nowhere]" + tail + " map[code:stream_not_granted detail:map[stream:elsewhere]" + tail; !strings.HasPrefix(warned, want) {
			t.Errorf("warnings %s\nwant first %s", warned, want)
		}
		for _, name := range []string{"nowhere", "elsewhere"} {
			if text := res.Content[0].Text; !strings.Contains(text, `warning code="stream_not_granted" stream="`+name+`" `) {
				t.Errorf("the text does not say that %s was left out: %s", name, text)
			}
		}
	})
	t.Run("PKG-3 a member with none of the streams is not called", func(t *testing.T) {
		res := tool(h.pkg, "search", `{"q":"rent","streams":["messages"]}`)
		if got := h.calls.take(); len(got) != 1 || !strings.HasPrefix(got[0], "cin_m3 ") || len(ids(t, res)) != 3 {
			t.Errorf("called %q, found %q", got, ids(t, res))
		}
		res = tool(h.pkg, "search", `{"q":"rent","streams":["nowhere"]}`)
		if got := h.calls.take(); len(got) != 0 || at(t, res.Structured, "error.code") != "grant_stream_not_allowed" {
			t.Errorf("called %q: %s", got, res.Structured)
		}
	})
	t.Run("PKG-4 with a connection_id only that member is called", func(t *testing.T) {
		res := tool(h.pkg, "search", `{"q":"rent","connection_id":"cin_b2","limit":4}`)
		if got := h.calls.take(); !slices.Equal(got, []string{"cin_b2 /v1/search?q=rent&limit=4&connection_id=cin_b2"}) {
			t.Errorf("called %q", got)
		}
		if got := ids(t, res); len(got) != 4 || strings.Contains(strings.Join(got, " "), "cin_a1") {
			t.Errorf("found %q", got)
		}
	})
	t.Run("FANIN-2 the limit holds within one connection and its cursor goes on there", func(t *testing.T) {
		args := `{"q":"rent","connection_id":"cin_b2","limit":4`
		cursor := at(t, tool(h.pkg, "search", args+"}").Structured, "data.next_cursor").(string)
		if got := ids(t, tool(h.pkg, "search", args+`,"cursor":"`+cursor+`"}`)); len(got) != 3 {
			t.Errorf("second page %q", got)
		}
	})
	t.Run("PKG-1 nothing from outside the package is found or counted", func(t *testing.T) {
		for _, q := range []string{resttest.Outside, "rent"} {
			res := tool(h.pkg, "search", `{"q":"`+q+`","limit":100}`)
			if all := string(res.Structured) + res.Content[0].Text; strings.Contains(all, "cin_x9") || strings.Contains(all, "Account of") {
				t.Errorf("%s", all)
			}
		}
	})
}

func TestPagingToTheEnd(t *testing.T) {
	h := newHouse(t)
	t.Run("PKG-1 pages of a package are read to the end by their cursors", func(t *testing.T) {
		var all []string
		args := `{"q":"rent","limit":4}`
		for range 10 {
			res := tool(h.pkg, "search", args)
			if res.IsError {
				t.Fatalf("%s", res.Structured)
			}
			all = append(all, ids(t, res)...)
			cursor, more := at(t, res.Structured, "data.next_cursor").(string)
			if has := at(t, res.Structured, "data.has_more"); has != more {
				t.Fatalf("has_more is %v, a cursor is there: %v", has, more)
			}
			if !more {
				break
			}
			args = `{"q":"rent","limit":4,"cursor":"` + cursor + `"}`
		}
		if distinct := len(slices.Compact(slices.Sorted(slices.Values(all)))); len(all) != 17 || distinct != 17 {
			t.Errorf("%d hits, %d of them distinct, want 17: %q", len(all), distinct, all)
		}
	})
	t.Run("ERR-1 a cursor of another search, a changed or an old one is refused", func(t *testing.T) {
		cursor := at(t, tool(h.pkg, "search", `{"q":"rent","limit":4}`).Structured, "data.next_cursor").(string)
		h.calls.take()
		for args, want := range map[string]string{
			`{"q":"tea","limit":4,"cursor":"` + cursor + `"}`:                         "invalid_cursor",
			`{"q":"rent","streams":["entries"],"cursor":"` + cursor + `"}`:            "invalid_cursor",
			`{"q":"rent","limit":4,"mode":"semantic","cursor":"` + cursor + `"}`:      "invalid_cursor",
			`{"q":"rent","limit":4,"cursor":"` + strings.Replace(cursor, "A", "B", 1): "invalid_cursor",
			`{"q":"rent","limit":4,"cursor":"sl1.AAAA"}`:                              "invalid_cursor",
		} {
			if !strings.HasSuffix(args, "}") {
				args += `"}`
			}
			if got := at(t, tool(h.pkg, "search", args).Structured, "error.code"); got != want {
				t.Errorf("search %s: %v, want %s", args, got, want)
			}
		}
		other := *h.pkg
		other.ID = "gpkg_2"
		if got := at(t, tool(&other, "search", `{"q":"rent","limit":4,"cursor":"`+cursor+`"}`).Structured, "error.code"); got != "invalid_cursor" {
			t.Errorf("in another package: %v", got)
		}
		h.Advance(61 * time.Minute)
		res := tool(h.pkg, "search", `{"q":"rent","limit":4,"cursor":"`+cursor+`"}`)
		if at(t, res.Structured, "error.code") != "cursor_expired" || fmt.Sprint(at(t, res.Structured, "http_status")) != "410" {
			t.Errorf("%s", res.Structured)
		}
		if got := h.calls.take(); len(got) != 0 {
			t.Errorf("members were called: %q", got)
		}
	})
}

// sourceReads are the reads that need one source: of a stream that two members grant, of
// one that a single member grants, and of one that none does.
var sourceReads = []struct{ tool, shared, chosen, single, none string }{
	{
		"query_records", `{"stream":"entries"}`, `{"stream":"entries","connection_id":"cin_b2"}`,
		`{"stream":"messages"}`, `{"stream":"nowhere"}`,
	},
	{
		"aggregate", `{"stream":"entries","metric":"count"}`, `{"stream":"entries","metric":"count","connection_id":"cin_b2"}`,
		`{"stream":"messages","metric":"count"}`, `{"stream":"nowhere","metric":"count"}`,
	},
	{
		"fetch", `{"id":"entries:cin_b2_1"}`, `{"id":"entries:cin_b2_1","connection_id":"cin_b2"}`,
		`{"id":"messages:m1"}`, `{"id":"nowhere:m1"}`,
	},
	{
		"read_record_field", `{"id":"entries:cin_b2_1","field_path":"memo"}`,
		`{"stream":"entries","record_id":"cin_b2_1","connection_id":"cin_b2","field_path":"memo"}`,
		`{"id":"messages:m1","field_path":"body"}`, `{"id":"nowhere:m1","field_path":"body"}`,
	},
}

// TestRouting: the membership alone decides which member a read is for (H-86).
func TestRouting(t *testing.T) {
	h := newHouse(t)
	for _, c := range sourceReads {
		t.Run("PKG-4 "+c.tool+" of a stream that one member grants is routed there", func(t *testing.T) {
			res := tool(h.pkg, c.tool, c.single)
			if got := h.calls.take(); res.IsError || len(got) != 1 || !strings.HasPrefix(got[0], "cin_m3 ") {
				t.Errorf("called %q: %s", got, res.Structured)
			}
		})
		t.Run("AMBIG-1 "+c.tool+" of a stream that no member grants is refused without a call", func(t *testing.T) {
			res := tool(h.pkg, c.tool, c.none)
			if at(t, res.Structured, "error.code") != "grant_stream_not_allowed" || fmt.Sprint(at(t, res.Structured, "http_status")) != "403" ||
				at(t, res.Structured, "error.available_connections") != nil || !strings.Contains(res.Content[0].Text, "next: schema {}") {
				t.Errorf("%s\n%s", res.Structured, res.Content[0].Text)
			}
			if got := h.calls.take(); len(got) != 0 {
				t.Errorf("members were called: %q", got)
			}
		})
	}
	t.Run("PKG-4 the members of one stream stay its choice when the others cannot be read", func(t *testing.T) {
		h.revoke("cin_b2")
		tool(h.pkg, "query_records", `{"stream":"entries","connection_id":"cin_b2"}`)
		h.calls.take()
		if res := tool(h.pkg, "query_records", `{"stream":"receipts"}`); res.IsError {
			t.Errorf("%s", res.Structured)
		}
		if got := h.calls.take(); len(got) != 1 || !strings.HasPrefix(got[0], "cin_a1 ") {
			t.Errorf("called %q", got)
		}
	})
}

func TestAmbiguity(t *testing.T) {
	h := newHouse(t)
	for _, c := range sourceReads {
		t.Run("AMBIG-1 "+c.tool+" without a connection_id lists the choices and calls nobody", func(t *testing.T) {
			res := tool(h.pkg, c.tool, c.shared)
			if got := h.calls.take(); len(got) != 0 {
				t.Errorf("members were called: %q", got)
			}
			if at(t, res.Structured, "error.code") != "ambiguous_connection" || at(t, res.Structured, "error.retry_with") != "connection_id" ||
				fmt.Sprint(at(t, res.Structured, "http_status")) != "409" || at(t, res.Structured, "error.request_id") != at(t, res.Structured, "request_id") {
				t.Errorf("%s", res.Structured)
			}
			for i, connection := range []string{"cin_a1", "cin_b2"} { // those with the stream
				m := h.member(connection)
				want := map[string]any{"connection_id": connection, "connector_key": m.ConnectorKey, "grant_id": m.GrantID}
				if m.DisplayName != "" {
					want["display_name"] = m.DisplayName
				}
				if diff := cmp.Diff(any(want), at(t, res.Structured, fmt.Sprint("error.available_connections.", i))); diff != "" {
					t.Errorf("(-want +got)\n%s", diff)
				}
				if line := fmt.Sprintf(`connection "%s" connector_key="%s"`, connection, m.ConnectorKey); !strings.Contains(res.Content[0].Text, line) {
					t.Errorf("no line %s in\n%s", line, res.Content[0].Text)
				}
			}
			if s := string(res.Structured) + res.Content[0].Text; strings.Contains(s, "cin_m3") || strings.Contains(s, "cin_x9") || strings.Contains(s, "truncated") || strings.Contains(s, "connector_id") {
				t.Errorf("%s", s)
			}
		})
	}
	t.Run("AMBIG-1 a large package is capped and points at schema", func(t *testing.T) {
		large := *h.pkg
		large.Members = slices.Clone(h.pkg.Members)
		for i := range 22 {
			m := large.Members[0]
			m.GrantID, m.Connection = fmt.Sprint("grt_", i), fmt.Sprint("cin_more", i)
			large.Members = append(large.Members, m)
		}
		res := tool(&large, "query_records", `{"stream":"entries"}`)
		o := at(t, res.Structured, "error").(map[string]any)
		list, hint := o["available_connections"].([]any), fmt.Sprint(o["discovery_hint"])
		if len(list) != 12 || fmt.Sprintf("%v %v %v", o["available_connection_count"], o["available_connections_truncated"], o["available_connections_omitted"]) != "24 true 12" ||
			!strings.Contains(hint, "schema") {
			t.Errorf("%s", res.Structured)
		}
		if !strings.Contains(res.Content[0].Text, "total=24; call schema {}") || len(h.calls.take()) != 0 {
			t.Errorf("%s", res.Content[0].Text)
		}
	})
	t.Run("PKG-4 a chosen connection is read, and it alone", func(t *testing.T) {
		for _, c := range sourceReads {
			if res := tool(h.pkg, c.tool, c.chosen); res.IsError {
				t.Errorf("%s %s: %s", c.tool, c.chosen, res.Structured)
			}
			for _, call := range h.calls.take() {
				if !strings.HasPrefix(call, "cin_b2 ") || !strings.Contains(call, "connection_id=cin_b2") {
					t.Errorf("%s called %s", c.tool, call)
				}
			}
		}
		if res := tool(h.pkg, "fetch", `{"id":"cin_b2/entries:cin_b2_3"}`); res.IsError {
			t.Errorf("a handle with its connection: %s", res.Structured)
		}
	})
	t.Run("PKG-4 an unknown connection is not found, with the choices", func(t *testing.T) {
		h.calls.take()
		for _, id := range []string{"cin_x9", "cin_none"} { // outside, and nowhere
			res := tool(h.pkg, "query_records", `{"stream":"entries","connection_id":"`+id+`"}`)
			if at(t, res.Structured, "error.code") != "connection_not_found" || fmt.Sprint(at(t, res.Structured, "http_status")) != "404" ||
				fmt.Sprint(at(t, res.Structured, "error.available_connection_count")) != "2" || strings.Contains(string(res.Structured), "cin_x9") {
				t.Errorf("%s", res.Structured)
			}
		}
		if got := h.calls.take(); len(got) != 0 {
			t.Errorf("members were called: %q", got)
		}
	})
	t.Run("PKG-4 a package with one usable member needs no choice", func(t *testing.T) {
		small := *h.pkg
		small.Members = slices.Clone(h.pkg.Members[:2])
		small.Members[0].Unusable, small.Members[0].Reader = "grant_expired", nil
		for _, c := range sourceReads {
			if res := tool(&small, c.tool, c.shared); res.IsError {
				t.Errorf("%s: %s", c.tool, res.Structured)
			}
		}
	})
}

// TestAllLost: with nothing left to choose from, the error is that of a member.
func TestAllLost(t *testing.T) {
	h := newHouse(t)
	for _, m := range h.pkg.Members {
		h.revoke(m.Connection)
		tool(h.pkg, "query_records", `{"stream":"entries","connection_id":"`+m.Connection+`"}`)
	}
	res := tool(h.pkg, "query_records", `{"stream":"entries"}`)
	if at(t, res.Structured, "error.code") != "grant_revoked" || at(t, res.Structured, "error.unavailable_connections.1.connection_id") == nil {
		t.Errorf("%s", res.Structured)
	}
}

func TestLostMember(t *testing.T) {
	h := newHouse(t)
	h.revoke("cin_b2")
	t.Run("ERR-2 before a real call says so, a member counts as good", func(t *testing.T) {
		res := tool(h.pkg, "query_records", `{"stream":"entries"}`)
		if fmt.Sprint(at(t, res.Structured, "error.available_connection_count")) != "2" || len(h.calls.take()) != 0 {
			t.Errorf("%s", res.Structured)
		}
	})
	t.Run("ERR-2 a read that names it has its own error, and a way on", func(t *testing.T) {
		res := tool(h.pkg, "query_records", `{"stream":"entries","connection_id":"cin_b2"}`)
		if at(t, res.Structured, "error.code") != "grant_revoked" || fmt.Sprint(at(t, res.Structured, "http_status")) != "403" ||
			!strings.Contains(res.Content[0].Text, `hint "Ask the owner to approve this source again, or choose another connection."`) {
			t.Errorf("%s\n%s", res.Structured, res.Content[0].Text)
		}
		if got := h.calls.take(); len(got) != 1 {
			t.Errorf("called %q", got)
		}
	})
	t.Run("ERR-2 then it is unavailable and no choice", func(t *testing.T) {
		res := tool(h.pkg, "query_records", `{"stream":"entries"}`)
		want := `map[connection_id:cin_b2 connector_key:ledgerly error:map[code:grant_revoked message:`
		if got := fmt.Sprint(at(t, res.Structured, "error.unavailable_connections.0")); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "status:unusable]") {
			t.Errorf("%s", got)
		}
		if list := fmt.Sprint(at(t, res.Structured, "error.available_connections")); strings.Contains(list, "cin_b2") {
			t.Errorf("%s", list)
		}
		if !strings.Contains(res.Content[0].Text, "\nunavailable \"cin_b2\" connector_key=\"ledgerly\"") || !strings.Contains(res.Content[0].Text, `code="grant_revoked"`) {
			t.Errorf("%s", res.Content[0].Text)
		}
	})
	t.Run("ERR-2 search and schema go on without it, and say so", func(t *testing.T) {
		h.calls.take()
		for _, c := range []struct{ tool, args string }{{"search", `{"q":"rent"}`}, {"schema", `{}`}, {"schema", `{"stream":"entries"}`}} {
			res := tool(h.pkg, c.tool, c.args)
			warning := "warning code=\"source_unavailable\" connection_id=\"cin_b2\" connector_key=\"ledgerly\" error=\"grant_revoked\""
			if text := res.Content[0].Text; res.IsError || !strings.Contains(text, warning) || !strings.Contains(text, "\nunavailable \"cin_b2\"") {
				t.Errorf("%s\n%s", c.tool, text)
			}
			if s := string(res.Structured); !strings.Contains(s, `"partial":true`) {
				t.Errorf("%s", s)
			}
		}
		if got := strings.Join(h.calls.take(), "\n"); strings.Contains(got, "cin_b2") {
			t.Errorf("it was called:\n%s", got)
		}
	})
	t.Run("ERR-2 a read that names it is still tried, and after a minute all are", func(t *testing.T) {
		tool(h.pkg, "query_records", `{"stream":"entries","connection_id":"cin_b2"}`)
		if got := h.calls.take(); len(got) != 1 {
			t.Errorf("called %q", got)
		}
		h.Advance(time.Minute)
		tool(h.pkg, "search", `{"q":"rent"}`)
		if got := h.calls.take(); len(got) != 3 {
			t.Errorf("called %q", got)
		}
	})
	t.Run("ERR-2 a refusal of scope is no loss", func(t *testing.T) {
		res := tool(h.pkg, "query_records", `{"stream":"receipts","connection_id":"cin_m3"}`)
		if at(t, res.Structured, "error.code") != "grant_stream_not_allowed" {
			t.Fatalf("%s", res.Structured)
		}
		if res := tool(h.pkg, "query_records", `{"stream":"messages"}`); strings.Contains(fmt.Sprint(at(t, res.Structured, "error.unavailable_connections")), "cin_m3") {
			t.Errorf("%s", res.Structured)
		}
	})
	t.Run("ERR-2 a stored grant that has ended is unavailable without a call", func(t *testing.T) {
		h.calls.take()
		m := h.member("cin_m3")
		m.Unusable, m.Reader = "grant_expired", nil
		res := tool(h.pkg, "query_records", `{"stream":"messages","connection_id":"cin_m3"}`)
		if at(t, res.Structured, "error.code") != "grant_expired" || !strings.Contains(res.Content[0].Text, "choose another connection") || len(h.calls.take()) != 0 {
			t.Errorf("%s", res.Structured)
		}
		res = tool(h.pkg, "search", `{"q":"rent","limit":2}`)
		if fmt.Sprint(at(t, res.Structured, "data.meta.unavailable_connections.1.error.code")) != "grant_expired" || strings.Contains(strings.Join(ids(t, res), " "), "cin_m3") {
			t.Errorf("%s", res.Structured)
		}
		cursor := at(t, res.Structured, "data.next_cursor").(string)
		res = tool(h.pkg, "search", `{"q":"rent","limit":2,"cursor":"`+cursor+`"}`)
		if res.IsError || at(t, res.Structured, "data.meta.unavailable_connections") != nil {
			t.Errorf("a later page says it again: %s", res.Structured)
		}
	})
}
