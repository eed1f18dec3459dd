package rs_test

import (
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

func TestSchemaParameters(t *testing.T) {
	w := ledger(t)
	bothTokens(t, w, ledgerGrant, func(t *testing.T, tok string) {
		for _, test := range []struct {
			rule, query string
			want        refusal
		}{
			{"X-1 view", "view=full", refusal{status: 400, code: "invalid_request", param: "view"}},
			{"X-1 detail", "detail=compact&stream=entries", refusal{status: 400, code: "invalid_request", param: "detail"}},
			{"X-1 detail with view", "view=compact&detail=full&stream=entries", refusal{status: 400, code: "invalid_request", param: "detail"}},
			{"X-1 empty", "stream=", refusal{status: 400, code: "invalid_request", param: "stream"}},
			{"X-1 repeated", "stream=entries&stream=receipts", refusal{status: 400, code: "invalid_request", param: "stream"}},
			{"X-5 detail without stream", "detail=full", refusal{status: 400, code: "invalid_request", param: "detail"}},
			{"X-6 detail of several connections", "stream=entries&detail=full", refusal{status: 409, code: "ambiguous_schema_detail", param: "connection_id"}},
			{"X-1 C-23 connection", "connection_id=cin_none", refusal{status: 404, code: "connection_not_found", param: "connection_id"}},
			{"X-1 C-23 connector", "connector_id=none", refusal{status: 404, code: "not_found", param: "connector_id"}},
		} {
			t.Run(test.rule, func(t *testing.T) {
				refused(t, w.Get(tok, "/v1/schema?"+test.query), test.want)
			})
		}
		t.Run("X-5 the message names the missing parameters", func(t *testing.T) {
			message := w.Get(tok, "/v1/schema?detail=full").At("error.message").(string)
			for _, name := range []string{"stream", "connection_id", "detail=full"} {
				if !strings.Contains(message, name) {
					t.Errorf("message %q does not name %s", message, name)
				}
			}
		})
		t.Run("X-5 the body has no detail key", func(t *testing.T) {
			a := w.Get(tok, "/v1/schema?stream=entries&detail=full&connection_id=cin_a1").OK()
			if a.At("detail") != nil || a.At("compact_scope") != nil {
				t.Errorf("detail = %v, compact_scope = %v, want neither", a.At("detail"), a.At("compact_scope"))
			}
		})
	})
	t.Run("X-6 C-43 available_connections name the stream", func(t *testing.T) {
		tok, id := w.Grant(ledgerGrant)
		sameJSON(t, w.Get(tok, "/v1/schema?stream=entries&detail=full").At("error.available_connections"), `[
			{"connection_id":"cin_a1","connector_key":"ledgerly","display_name":"Joint account","grant_id":"`+string(id)+`","stream":"entries"},
			{"connection_id":"cin_b2","connector_key":"ledgerly","grant_id":"`+string(id)+`","stream":"entries"}]`)
	})
}

func TestSchemaBodies(t *testing.T) {
	w := ledger(t)
	tok, id := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","posted_at"]},{"name":"receipts","connections":["cin_b2"]}]}`)
	var client string
	for part := range strings.SplitSeq(string(w.Get(tok, "/v1/schema").OK().Body), `"client_id":"`) {
		client, _, _ = strings.Cut(part, `"`)
	}
	bearer := fmt.Sprintf(`{"token_kind":"client","scope":"grant","grant_id":%q,"client_id":%q}`, id, client)
	connector := `"object":"connector","connector_key":"ledgerly","connector_id":"ledgerly","connector_display_name":"Ledgerly","source":{"kind":"connector","id":"ledgerly"}`

	t.Run("X-3 the envelope", func(t *testing.T) {
		body := w.Get(tok, "/v1/schema").OK().JSON().(map[string]any)
		c := body["connectors"].([]any)[0].(map[string]any)
		if n := len(c["streams"].([]any)); n != 2 {
			t.Errorf("%d rows, want 2", n)
		}
		c["streams"] = []any{}
		sameJSON(t, body, `{"object":"schema","bearer":`+bearer+`,"connector_count":1,"stream_count":2,"connectors":[{`+connector+`,"stream_count":2,"streams":[]}],
			"links":{"self":"/v1/schema"},"meta":{"count":{"kind":"none"},"warnings":[]}}`)
		sameJSON(t, w.Get(w.OwnerToken(), "/v1/schema").OK().At("bearer"), `{"token_kind":"owner","scope":"owner"}`)
	})
	t.Run("X-2 X-8 rows equal stream metadata", func(t *testing.T) {
		row := w.Get(tok, "/v1/schema?stream=entries").OK().At("connectors.0.streams.0")
		want := w.Get(tok, "/v1/streams/entries").OK().JSON().(map[string]any)
		delete(want, "links")
		delete(want, "meta")
		got := row.(map[string]any)
		for key, value := range want {
			if fmt.Sprint(got[key]) != fmt.Sprint(value) {
				t.Errorf("%s = %v, want %v", key, got[key], value)
			}
		}
	})
	t.Run("X-13 X-17 the compact index", func(t *testing.T) {
		sameJSON(t, w.Get(tok, "/v1/schema?view=compact").OK().JSON(), `{"object":"schema","detail":"compact","compact_scope":"index","bearer":`+bearer+`,
			"connector_count":1,"stream_count":2,"connectors":[{`+connector+`,"stream_count":2,
			"granted_connections":[{"connection_id":"cin_a1","display_name":"Joint account"},{"connection_id":"cin_b2"}],
			"streams":[{"name":"entries","label":"Your ledger","field_count":3,"search_modes":`+rawMember(t, w.Get(tok, "/v1/streams/entries"), "query_capabilities", "search_modes")+`,"aggregate":`+fmt.Sprint(w.Get(tok, "/v1/streams/entries").At("query_capabilities.aggregate") != nil)+`},
				{"name":"receipts","field_count":3,"search_modes":[],"aggregate":false,"granted_connections":[{"connection_id":"cin_b2"}]}]}],
			"links":{"self":"/v1/schema?view=compact","stream_template":"/v1/schema?view=compact&stream={stream}","full_template":"/v1/schema?stream={stream}&connection_id={connection_id}&detail=full"},
			"meta":{"count":{"kind":"none"},"warnings":[]}}`)
	})
	t.Run("X-17 the index of one connection", func(t *testing.T) {
		a := w.Get(tok, "/v1/schema?view=compact&connection_id=cin_a1").OK()
		sameJSON(t, a.At("connectors.0.granted_connections"), `[{"connection_id":"cin_a1","display_name":"Joint account"}]`)
		sameJSON(t, a.At("connectors.0.streams.1"), "null")
	})
	t.Run("X-14 scoped compact", func(t *testing.T) {
		a := w.Get(tok, "/v1/schema?view=compact&stream=entries").OK()
		sameJSON(t, a.At("compact_scope"), `"stream"`)
		row := a.At("connectors.0.streams.0").(map[string]any)
		for _, key := range []string{"schema", "query", "relationships", "selection", "semantics", "description", "resources"} {
			if _, ok := row[key]; ok {
				t.Errorf("a compact row has %s", key)
			}
		}
		sameJSON(t, row["primary_key"], `["id"]`)
		sameJSON(t, row["views"], `[{"id":"brief","fields":["id","memo"]}]`)
		if n := len(row["field_capabilities"].(map[string]any)); n != 3 {
			t.Errorf("%d field capabilities, want 3", n)
		}
		one := w.Get(tok, "/v1/schema?view=compact&stream=entries&connection_id=cin_a1").OK()
		if one.At("connectors.0.streams.0.connection_id") != "cin_a1" || one.At("connectors.0.streams.0.display_name") != "Joint account" {
			t.Errorf("X-7 the row of one connection does not name it: %s", one.Body)
		}
	})
	t.Run("X-7 a connector without connections", func(t *testing.T) {
		empty := resttest.New(t)
		empty.ManifestFile("testdata/beta.json")
		sameJSON(t, empty.Get(empty.OwnerToken(), "/v1/streams/events").OK().At("granted_connections"), "[]")
		sameIDs(t, empty.Get(empty.OwnerToken(), "/v1/streams/events/records"))
		sameJSON(t, empty.Get(empty.OwnerToken(), "/v1/streams").OK().At("data"), "[]")
	})
	t.Run("X-8 rows contain the limits of the grant", func(t *testing.T) {
		bounded, _ := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","time_range":{"since":"2025-01-01T00:00:00Z"}},{"name":"receipts","resources":["rc_9"]}]}`)
		sameJSON(t, w.Get(bounded, "/v1/streams/entries").OK().At("time_constraint.field"), `"posted_at"`)
		sameJSON(t, w.Get(bounded, "/v1/streams/receipts").OK().At("resources"), `["rc_9"]`)
		sameJSON(t, w.Get(bounded, "/v1/schema?view=compact&stream=entries").OK().At("connectors.0.streams.0.time_constraint.field"), `"posted_at"`)
	})
	t.Run("X-3 two connectors, rows in the order of S-2", func(t *testing.T) {
		two := twoSources(t)
		a := two.Get(two.OwnerToken(), "/v1/schema?view=compact").OK()
		sameJSON(t, []any{
			a.At("connector_count"), a.At("stream_count"), a.At("connectors.0.connector_key"), a.At("connectors.0.streams.0.name"),
			a.At("connectors.0.streams.1.name"), a.At("connectors.1.connector_key"), a.At("connectors.1.streams.0.name"),
		},
			`[2,3,"alpha","events","guests","beta","events"]`)
		sameJSON(t, two.Get(two.OwnerToken(), "/v1/schema?view=compact&stream=events").OK().At("stream_count"), "2")
		a = two.Get(two.OwnerToken(), "/v1/schema?connector_id=beta").OK()
		sameJSON(t, []any{a.At("connector_count"), a.At("connectors.0.connector_key"), a.At("connectors.1")}, `[1,"beta",null]`)
	})
}

// wideManifest returns a manifest with some streams of some fields each.
func wideManifest(streams, fields int) string {
	var b strings.Builder
	b.WriteString(`{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.acme.test/c/wide"},"streams":[`)
	for s := range streams {
		if s > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"name":"stream_number_%03d","display":{"label":"A label of stream number %03d"},"semantics":"append_only","schema":{"type":"object","properties":{"id":{"type":"string"}`, s, s)
		for f := range fields {
			fmt.Fprintf(&b, `,"field_number_%03d":{"type":["string","null"],"format":"date-time","x_pdpp_type":"timestamp"}`, f)
		}
		b.WriteString(`}},"primary_key":["id"],"selection":{"fields":true,"resources":false}}`)
	}
	b.WriteString(`]}`)
	return b.String()
}

func TestSchemaBudgets(t *testing.T) {
	t.Run("X-13 X-18 the index of many streams", func(t *testing.T) {
		w := resttest.New(t)
		w.Manifest(wideManifest(200, 3))
		var connections []string
		for i := range 20 {
			id := fmt.Sprintf("cin_%02d", i)
			w.Connect("wide", id, strings.Repeat("Label ", 20)+id)
			connections = append(connections, `"`+id+`"`)
		}
		// Every other stream is granted on fewer connections than the connector has.
		var streams []string
		for i := range 200 {
			streams = append(streams, fmt.Sprintf(`{"name":"stream_number_%03d","instance_ids":[%s]}`, i, strings.Join(connections[:20-i%2*(1+i%5)], ",")))
		}
		tok, _ := w.Grant(`{"source":{"connector_key":"wide"},"streams":[` + strings.Join(streams, ",") + `]}`)
		a := w.Get(tok, "/v1/schema?view=compact").OK()
		sameJSON(t, a.At("meta.warnings.0.code"), `"partial_results"`)
		sameJSON(t, a.At("meta.warnings.0.detail"), `{"rows":"names_only"}`)
		for i := range 200 {
			if !strings.Contains(string(a.Body), fmt.Sprintf("stream_number_%03d", i)) {
				t.Errorf("stream %d is not in the index", i)
			}
		}
		owner := w.Get(w.OwnerToken(), "/v1/schema?view=compact").OK()
		if len(owner.Body) > 60_000 {
			t.Errorf("the index of the owner has %d bytes, want at most 60,000", len(owner.Body))
		}
	})
	t.Run("X-18 the size of scoped compact and full", func(t *testing.T) {
		w := resttest.New(t)
		w.Manifest(wideManifest(1, 29))
		for i := range 19 {
			w.Connect("wide", fmt.Sprintf("cin_%02d", i), fmt.Sprintf("Account %d", i))
		}
		if n := len(w.Get(w.OwnerToken(), "/v1/schema?view=compact&stream=stream_number_000").OK().Body); n > 6_000 {
			t.Errorf("30 fields on 19 connections: %d bytes, want at most 6,000", n)
		}
		w.Manifest(wideManifest(1, 250))
		if n := len(w.Get(w.OwnerToken(), "/v1/schema?stream=stream_number_000&detail=full&connection_id=cin_00").OK().Body); n > 200_000 {
			t.Errorf("detail=full: %d bytes, want at most 200,000", n)
		}
	})
}
