package rs_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

// sameEntries compares the list of GET /v1/streams, written as "stream@connection".
func sameEntries(t testing.TB, a resttest.Answer, want ...string) {
	t.Helper()
	data, _ := a.OK().At("data").([]any)
	var got []string
	for _, item := range data {
		e := item.(map[string]any)
		got = append(got, e["name"].(string)+"@"+e["connection_id"].(string))
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s: entries differ (-want +got):\n%s", a.Request, diff)
	}
}

func TestStreams(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"receipts","connections":["cin_a1"]},
		{"name":"entries","fields":["id","memo"],"connections":["cin_b2","cin_a1"],"time_range":{"since":"2026-04-15T00:00:00Z"}}]}`)

	t.Run("S-2 S-3 C-22 C-26 C-27 entries of a grant", func(t *testing.T) {
		sameJSON(t, w.Get(tok, "/v1/streams").OK().JSON(), `{"object":"list","data":[
			{"object":"stream","name":"receipts","record_count":1,"last_updated":"2026-05-01T08:00:00.000Z","connection_id":"cin_a1",
			 "connector_key":"ledgerly","connector_id":"ledgerly","display_name":"Joint account","source":{"kind":"connector","id":"ledgerly"}},
			{"object":"stream","name":"entries","label":"Your ledger","record_count":0,"last_updated":null,"connection_id":"cin_b2",
			 "connector_key":"ledgerly","connector_id":"ledgerly","source":{"kind":"connector","id":"ledgerly"}},
			{"object":"stream","name":"entries","label":"Your ledger","record_count":1,"last_updated":"2026-05-01T08:00:00.000Z","connection_id":"cin_a1",
			 "connector_key":"ledgerly","connector_id":"ledgerly","display_name":"Joint account","source":{"kind":"connector","id":"ledgerly"}}],
			"has_more":false,"url":"/v1/streams","links":{"self":"/v1/streams","next":null},"meta":{"count":{"kind":"none"},"warnings":[]}}`)
	})
	t.Run("S-2 order for an owner", func(t *testing.T) {
		want := []string{"entries@cin_a1", "entries@cin_b2", "receipts@cin_a1", "receipts@cin_b2"}
		sameEntries(t, w.Get(w.OwnerToken(), "/v1/streams"), want...)
	})
	t.Run("S-3 last_updated is the greatest emitted_at of visible records", func(t *testing.T) {
		w.Advance(time.Hour)
		w.Ingest("cin_a1", "entries", `{"key":"old","data":{"id":"old","posted_at":"2020-01-01T00:00:00Z"}}`)
		sameValue(t, w.Get(tok, "/v1/streams"), "data.2.last_updated", "2026-05-01T08:00:00.000Z")
		sameValue(t, w.Get(w.OwnerToken(), "/v1/streams"), "data.0.last_updated", "2026-05-01T09:00:00.000Z")
	})
	t.Run("S-4 connection_id", func(t *testing.T) {
		sameEntries(t, w.Get(tok, "/v1/streams?connection_id=cin_b2"), "entries@cin_b2")
		w.Connect("ledgerly", "cin_later", "Added after the grant")
		refused(t, w.Get(tok, "/v1/streams?connection_id=cin_later"), refusal{status: 404, code: "connection_not_found", param: "connection_id"})
	})
}

func TestDisplayName(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(ledgerGrant)
	label := func() any {
		return w.Get(tok, "/v1/streams/entries/records/ent_31").OK().At("display_name")
	}
	for _, test := range []struct {
		label string
		want  any
	}{
		{"", nil},
		{"   ", nil},
		{"cin_a1", nil},
		{"ledgerly", nil},
		{"Zoë's „book“ \\ \n2", "Zoë's „book“ \\ \n2"},
	} {
		t.Run(fmt.Sprintf("C-27 label %q", test.label), func(t *testing.T) {
			w.Connect("ledgerly", "cin_a1", test.label)
			if got := label(); got != test.want {
				t.Errorf("display_name = %v, want %v", got, test.want)
			}
		})
	}
}

func TestStreamMetadata(t *testing.T) {
	w := ledger(t)
	client, _ := w.Grant(ledgerGrant)
	narrow, _ := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["amount_minor"]}]}`)

	t.Run("S-5 X-8 X-7 the row of a client", func(t *testing.T) {
		a := w.Get(client, "/v1/streams/entries").OK()
		body := a.JSON().(map[string]any)
		for _, key := range []string{"query_capabilities", "field_capabilities", "expand_capabilities"} {
			if body[key] == nil {
				t.Errorf("%s is missing", key)
			}
			delete(body, key)
		}
		sameJSON(t, body, `{"object":"stream_metadata","name":"entries","connector_key":"ledgerly","label":"Your ledger",
			"description":"Ledger lines","semantics":"append_only",
			"schema":{"type":"object","additionalProperties":false,"required":["id","posted_at"],"properties":{"id":{"type":"string"},
				"memo":{"type":["string","null"],"x_pdpp_role":"primary-title"},
				"posted_at":{"type":"string","format":"date-time","x_pdpp_type":"timestamp","x_pdpp_role":"event-time"}}},
			"primary_key":["id"],"cursor_field":"posted_at","consent_time_field":"posted_at","selection":{"fields":true,"resources":false},
			"views":[{"id":"brief","label":"Brief","fields":["id","memo"]}],
			"relationships":[{"name":"receipts","stream":"receipts","foreign_key":"entry_id","cardinality":"has_many"}],
			"query":{"range_filters":{"posted_at":["gte","lt"]},"search":{"lexical_fields":["memo"]},"expand":[{"name":"receipts","default_limit":10,"max_limit":50}],
				"aggregations":{"count":true,"min":["posted_at"],"max":["posted_at"],"group_by":["memo"],"group_by_time":["posted_at"],"count_distinct":["memo"]}},
			"granted_connections":[{"connection_id":"cin_a1","display_name":"Joint account"},{"connection_id":"cin_b2"}],
			"links":{"self":"/v1/streams/entries"},"meta":{"count":{"kind":"none"},"warnings":[]}}`)
	})
	t.Run("S-6 only granted names appear", func(t *testing.T) {
		body := string(w.Get(narrow, "/v1/streams/entries").OK().Body)
		for _, name := range []string{"memo", "note", "posted_at", "scan", "receipts", "entry_id", "cursor_field", "consent_time_field"} {
			if strings.Contains(body, name) {
				t.Errorf("the row contains %q, which is not granted: %s", name, body)
			}
		}
		// A view keeps its granted fields. Every grant has the id.
		sameJSON(t, w.Get(narrow, "/v1/streams/entries").At("views"), `[{"id":"brief","label":"Brief","fields":["id"]}]`)
		sameJSON(t, w.Get(narrow, "/v1/streams/entries").At("schema.required"), `["id"]`)
	})
	t.Run("S-7 granted_connections", func(t *testing.T) {
		a := w.Get(client, "/v1/streams/entries?connection_id=cin_a1").OK()
		sameJSON(t, a.At("granted_connections"), `[{"connection_id":"cin_a1","display_name":"Joint account"}]`)
		if a.At("connection_id") != "cin_a1" || a.At("display_name") != "Joint account" {
			t.Errorf("X-7 the row of one connection does not name it: %s", a.Body)
		}
	})
	t.Run("S-5 the row of an owner has the same keys", func(t *testing.T) {
		keys := func(a resttest.Answer) map[string]bool {
			out := map[string]bool{}
			for k := range a.OK().JSON().(map[string]any) {
				out[k] = true
			}
			return out
		}
		if diff := cmp.Diff(keys(w.Get(client, "/v1/streams/entries")), keys(w.Get(w.OwnerToken(), "/v1/streams/entries"))); diff != "" {
			t.Errorf("keys differ (-client +owner):\n%s", diff)
		}
	})
}

func TestAmbiguousStream(t *testing.T) {
	w := twoSources(t)
	owner := w.OwnerToken()
	t.Run("S-8 C-43 several connectors", func(t *testing.T) {
		a := w.Get(owner, "/v1/streams/events", "Request-Id: r")
		sameJSON(t, a.JSON(), `{"error":{"type":"api_error","code":"ambiguous_connection","message":"Several connectors have this stream. Repeat the request with one of the connection_id values listed.",
			"param":"connection_id","retry_with":"connection_id","available_connections":[
				{"connection_id":"cin_z9","connector_key":"alpha","display_name":"Work"},{"connection_id":"cin_b1","connector_key":"beta"}],
			"available_connection_count":2,"request_id":"r"}}`)
		if a.Status != 409 {
			t.Errorf("status = %d, want 409", a.Status)
		}
	})
	t.Run("S-8 a selector resolves the ambiguity", func(t *testing.T) {
		for _, selector := range []string{"connector_id=beta", "connection_id=cin_b1"} {
			sameValue(t, w.Get(owner, "/v1/streams/events?"+selector).OK(), "connector_key", "beta")
		}
	})
	t.Run("S-2 order over connectors", func(t *testing.T) {
		want := []string{"events@cin_z9", "guests@cin_z9", "events@cin_b1"}
		sameEntries(t, w.Get(owner, "/v1/streams"), want...)
	})
}

// TestUndeclaredStream: a new manifest no longer declares a granted stream (C-28).
func TestUndeclaredStream(t *testing.T) {
	w := ledger(t)
	tok, _ := w.Grant(ledgerGrant)
	w.Manifest(`{"protocol_version":"0.1.0","declaration_version":"2026-03-01","source":{"kind":"connector","id":"https://reg.acme.test/c/ledgerly"},
		"streams":[{"name":"receipts","semantics":"mutable_state","schema":{"type":"object","properties":{"id":{"type":"string"},"entry_id":{"type":"string"}}},
		"primary_key":["id"],"selection":{"fields":false,"resources":true}}]}`)
	for _, path := range []string{"/v1/connectors", "/v1/streams", "/v1/schema", "/v1/schema?view=compact"} {
		t.Run("C-28 skipped in "+path, func(t *testing.T) {
			a := w.Get(tok, path).OK()
			warnings, _ := a.At("meta.warnings").([]any)
			if len(warnings) != 1 {
				t.Fatalf("warnings = %v, want one", warnings)
			}
			if a.At("meta.warnings.0.code") != "source_skipped_not_applicable" {
				t.Errorf("code = %v, want source_skipped_not_applicable", a.At("meta.warnings.0.code"))
			}
			sameJSON(t, a.At("meta.warnings.0.detail"), `{"stream":"entries"}`)
		})
	}
	for _, path := range []string{"/v1/streams/entries", "/v1/schema?stream=entries", "/v1/streams/entries/records", "/v1/streams/entries/records/ent_31"} {
		t.Run("C-28 not found at "+path, func(t *testing.T) {
			refused(t, w.Get(tok, path), refusal{status: 404, code: "stream_not_declared", stream: "entries"})
		})
	}
}
