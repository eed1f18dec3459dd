package schemadoc_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/grant"
	"pdpp/internal/schemadoc"
)

var update = flag.Bool("update", false, "rewrite the golden documents")

// TestGolden compares whole documents, including the order of members. The files are
// indented for readability.
func TestGolden(t *testing.T) {
	client := partial()
	owner := grant.ForOwner("own_77", catalog(ledgerly()))
	warn := [][]byte{[]byte(`{"code":"limit_clamped","message":"given"}`)}
	for _, tc := range []struct {
		name string
		doc  []byte
	}{
		{"client-full", schemadoc.AppendFull(nil, client, client.Rows, schemadoc.Request{Self: "/v1/schema"})},
		{"client-index", schemadoc.AppendIndex(nil, client, client.Rows, schemadoc.Request{Self: "/v1/schema?view=compact", Warnings: warn})},
		{"client-scoped", schemadoc.AppendScoped(nil, client, pick(t, client, "entries", "cin_a1"), schemadoc.Request{
			Self: "/v1/schema?view=compact&stream=entries&connection_id=cin_a1", Stream: "entries", Connection: "cin_a1",
		})},
		{"client-stream", schemadoc.AppendStream(nil, client, pick(t, client, "receipts", "")[0], schemadoc.Request{
			Self: "/v1/streams/receipts", Stream: "receipts",
		})},
		{"owner-full", schemadoc.AppendFull(nil, owner, owner.Rows, schemadoc.Request{Self: "/v1/schema"})},
		{"owner-index", schemadoc.AppendIndex(nil, owner, owner.Rows, schemadoc.Request{Self: "/v1/schema?view=compact"})},
		{"owner-stream", schemadoc.AppendStream(nil, owner, pick(t, owner, "entries", "cin_a1")[0], schemadoc.Request{
			Self: "/v1/streams/entries?connection_id=cin_a1", Stream: "entries", Connection: "cin_a1",
		})},
	} {
		t.Run(tc.name, func(t *testing.T) { golden(t, tc.name, tc.doc) })
	}
}

func golden(t *testing.T, name string, doc []byte) {
	t.Helper()
	if got := flat(t, string(doc)); got != string(doc) {
		t.Errorf("document contains white space")
	}
	var got bytes.Buffer
	if err := json.Indent(&got, append(doc, '\n'), "", " "); err != nil {
		t.Fatalf("document is not JSON: %v\n%s", err, doc)
	}
	path := filepath.Join("testdata", name+".json")
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// TestSamples compares the documents with the samples of the contract.
func TestSamples(t *testing.T) {
	r := partial()
	row := pick(t, r, "entries", "")[0]
	full := schemadoc.AppendStream(nil, r, row, schemadoc.Request{Self: "/v1/streams/entries"})
	index := schemadoc.AppendIndex(nil, r, r.Rows, schemadoc.Request{Self: "/v1/schema?view=compact"})
	for _, tc := range []struct {
		rule string
		got  string
		want string
	}{
		{
			"X-3 bearer", at(t, index, "bearer"),
			`{"token_kind": "client", "scope": "grant", "grant_id": "grt_5c", "client_id": "cli_tally"}`,
		},
		{"X-9 field capability", at(t, full, "field_capabilities", "posted_at"), `
{"type": "timestamp", "role": "event-time", "schema": {"type": "string", "format": "date-time"},
  "granted": true, "exact_filter": {"declared": true, "usable": true},
  "range_filter": {"declared": true, "usable": true, "operators": ["gte", "lt"]},
  "lexical_search": {"declared": false, "usable": false}, "semantic_search": {"declared": false, "usable": false},
  "aggregation": {"count_distinct": {"declared": false, "usable": false}, "group_by": {"declared": false, "usable": false},
    "group_by_time": {"declared": true, "usable": true}, "max": {"declared": true, "usable": true},
    "min": {"declared": true, "usable": true}, "sum": {"declared": false, "usable": false}}}`},
		{"X-10 expand", at(t, full, "expand_capabilities", 0), `
{"name": "receipts", "stream": "receipts", "target_stream": "receipts", "cardinality": "has_many",
 "foreign_key": "entry_id", "child_parent_key_field": "entry_id", "default_limit": 10, "max_limit": 50,
 "granted": true, "usable": true}`},
		{"X-10 has_one", at(t, full, "expand_capabilities", 1), `
{"name": "cover", "stream": "receipts", "target_stream": "receipts", "cardinality": "has_one",
 "foreign_key": "entry_id", "child_parent_key_field": "entry_id", "granted": true, "usable": true}`},
		{"X-11 query capabilities", at(t, full, "query_capabilities"), `
{"sort": {"fields": ["posted_at"], "default": "-posted_at", "order": ["asc", "desc"]},
 "count": ["none", "estimated", "exact"],
 "pagination": {"cursor": true, "default_limit": 25, "max_limit": 100},
 "changes_since": true, "projection": {"fields": true, "views": ["brief"]},
 "search_modes": ["lexical"], "expand": ["receipts", "cover"],
 "aggregate": {"metrics": ["count", "max", "min"], "group_by": [], "group_by_time": ["posted_at"],
   "granularities": ["minute", "hour", "day", "week", "month", "quarter", "year"], "max_limit": 100}}`},
		{"X-8 time constraint", at(t, full, "time_constraint"), `{"field": "posted_at", "since": "2025-01-01T00:00:00Z"}`},
		{
			"X-13 shared connections", at(t, index, "connectors", 0, "granted_connections"),
			`[{"connection_id": "cin_a1", "display_name": "Joint account"}, {"connection_id": "cin_b2"}]`,
		},
		{
			"X-13 row", at(t, index, "connectors", 0, "streams", 0),
			`{"name": "entries", "label": "Your ledger", "field_count": 3, "search_modes": ["lexical"], "aggregate": true}`,
		},
		{
			"X-13 deviating row", at(t, index, "connectors", 0, "streams", 1),
			`{"name": "receipts", "field_count": 1, "search_modes": [], "aggregate": false, "granted_connections": [{"connection_id": "cin_b2"}]}`,
		},
		{"X-13 links", at(t, index, "links"), `
{"self": "/v1/schema?view=compact", "stream_template": "/v1/schema?view=compact&stream={stream}",
 "full_template": "/v1/schema?stream={stream}&connection_id={connection_id}&detail=full"}`},
		{"C-28 warning", at(t, index, "meta", "warnings"), `
[{"code": "source_skipped_not_applicable", "message": "Stream \"gone\" is granted, but its source no longer declares it.",
  "detail": {"stream": "gone"}}]`},
	} {
		if diff := cmp.Diff(flat(t, tc.want), tc.got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tc.rule, diff)
		}
	}
}

// TestScopedSample tests the row of X-14, whose grant has five fields and no receipts.
func TestScopedSample(t *testing.T) {
	r := tally(grantOf("entries", []string{"id", "memo", "amount_minor", "posted_at", "scan"}, "cin_a1"))
	doc := schemadoc.AppendScoped(nil, r, r.Rows, schemadoc.Request{Self: "/v1/schema", Stream: "entries"})
	got := at(t, doc, "connectors", 0, "streams", 0)
	want := flat(t, `{"name": "entries", "connector_key": "ledgerly", "label": "Your ledger",
 "primary_key": ["id"], "cursor_field": "posted_at", "consent_time_field": "posted_at",
 "field_capabilities": {"id": "t=string,eq", "memo": "t=string|null,role=primary-title,eq,lex",
   "amount_minor": "t=money,role=amount,eq,r=gte|lte,a=max|min|sum,j=integer",
   "posted_at": "t=timestamp,role=event-time,eq,r=gte|lt,a=group_by_time|max|min,j=string,fmt=date-time",
   "scan": "t=object|null,role=media,blob"},
 "query_capabilities": `+at(t, []byte(got), "query_capabilities")+`,
 "views": [{"id": "brief", "fields": ["id", "memo"]}, {"id": "paper", "fields": ["scan"]}], "expand_capabilities": []}`)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("scoped row (-want +got):\n%s", diff)
	}
}

func TestWarnings(t *testing.T) {
	r := partial()
	scoped := schemadoc.Request{Stream: "entries", Warnings: [][]byte{[]byte(`{"code":"limit_clamped"}`)}}
	rows := pick(t, r, "entries", "")
	for name, doc := range map[string][]byte{
		"full":   schemadoc.AppendFull(nil, r, rows, scoped),
		"scoped": schemadoc.AppendScoped(nil, r, rows, scoped),
		"stream": schemadoc.AppendStream(nil, r, rows[0], scoped),
	} {
		if got, want := at(t, doc, "meta", "warnings"), `[{"code":"limit_clamped"}]`; got != want {
			t.Errorf("%s scoped to a stream: warnings = %s, want %s", name, got, want)
		}
	}
	unscoped := schemadoc.AppendFull(nil, r, r.Rows, schemadoc.Request{Warnings: scoped.Warnings})
	if got := at(t, unscoped, "meta", "warnings", 1, "detail"); got != `{"stream":"gone"}` {
		t.Errorf("full, unscoped: second warning's detail = %s", got)
	}
}

func TestNoGrantedCapabilities(t *testing.T) {
	// Only payload is granted: it has no type, and every list around it is empty.
	r := tally(grantOf("receipts", []string{"payload"}))
	doc := schemadoc.AppendStream(nil, r, r.Rows[0], schemadoc.Request{Self: "/v1/streams/receipts"})
	for member, want := range map[string]string{
		"primary_key": `[]`, "views": `[]`, "relationships": `[]`, "query": `{}`, "expand_capabilities": `[]`,
		"granted_connections": `[]`, "cursor_field": ``, "consent_time_field": ``, "time_constraint": ``, "resources": ``,
		"schema": `{"type":"object","additionalProperties":false,"required":[],"properties":{"payload":{}}}`,
	} {
		if got := at(t, doc, member); got != want {
			t.Errorf("%s = %q, want %q", member, got, want)
		}
	}
	for member, want := range map[string]string{
		"sort": `{"fields":[],"default":null,"order":["asc","desc"]}`, "search_modes": `[]`, "aggregate": `null`,
	} {
		if got := at(t, doc, "query_capabilities", member); got != want {
			t.Errorf("query_capabilities.%s = %s, want %s", member, got, want)
		}
	}
}

// Grouping is not offered without a metric, because AG-1 rejects it.
func TestGroupingNeedsMetric(t *testing.T) {
	for _, tc := range []struct {
		fields []string
		want   string
	}{
		{[]string{"entry_id"}, "t=string,eq"},
		{[]string{"entry_id", "rid"}, "t=string,eq,a=group_by"},
	} {
		r := tally(grantOf("receipts", tc.fields))
		doc := schemadoc.AppendScoped(nil, r, r.Rows, schemadoc.Request{Stream: "receipts"})
		if got := at(t, doc, "connectors", 0, "streams", 0, "field_capabilities", "entry_id"); got != `"`+tc.want+`"` {
			t.Errorf("granted %v: flags of entry_id = %s, want %q", tc.fields, got, tc.want)
		}
	}
}

func TestAppendKeepsPrefix(t *testing.T) {
	r := partial()
	prefix := append(make([]byte, 0, 1<<16), `[{"a":1},`...)
	for name, doc := range map[string][]byte{
		"full":   schemadoc.AppendFull(prefix, r, r.Rows, schemadoc.Request{}),
		"index":  schemadoc.AppendIndex(bytes.Clone(prefix), r, r.Rows, schemadoc.Request{}),
		"stream": schemadoc.AppendStream(bytes.Clone(prefix), r, r.Rows[0], schemadoc.Request{}),
	} {
		if !bytes.HasPrefix(doc, prefix) || !json.Valid(append(doc, ']')) {
			t.Errorf("%s after a prefix = %.40s…, not the prefix and an object", name, doc)
		}
	}
}
