package schemadoc_test

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/grant"
)

// ledgerly returns the example source of the contract: entries with receipts, with the
// capabilities of the samples of §6.
func ledgerly() *pdpp.Manifest {
	m := &pdpp.Manifest{
		ConnectorKey: "ledgerly", SourceID: "https://reg.acme.test/c/ledgerly", SourceKind: "connector",
		Version: "2026-02-01", DisplayName: "Ledgerly",
		Streams: []*pdpp.Stream{entries(), receipts()},
	}
	m.BuildIndex()
	return m
}

func entries() *pdpp.Stream {
	return &pdpp.Stream{
		Name: "entries", Label: "Your ledger", Description: "Ledger lines", Semantics: "append_only",
		Schema: json.RawMessage(`{"type": "object", "required": ["id", "posted_at"], "properties": {"id": {"type": "string"}}}`),
		Fields: []*pdpp.Field{
			{Name: "id", Types: []string{"string"}, Kind: pdpp.KindString, Schema: json.RawMessage(`{"type":"string"}`)},
			{
				Name: "memo", Types: []string{"string", "null"}, Kind: pdpp.KindString, Role: pdpp.RolePrimaryTitle,
				Schema: json.RawMessage(`{"type":["string","null"],"x_pdpp_role":"primary-title"}`),
			},
			{
				Name: "note", Types: []string{"string", "null"}, Kind: pdpp.KindString, Role: pdpp.RolePrimaryText,
				Schema: json.RawMessage(`{"type":["string","null"],"x_pdpp_role":"primary-text"}`),
			},
			{
				Name: "amount_minor", Types: []string{"integer"}, Kind: pdpp.KindInteger, Role: pdpp.RoleAmount, DisplayType: "money",
				Schema: json.RawMessage(`{"type":"integer","x_pdpp_type":"money","x_pdpp_role":"amount"}`),
			},
			{
				Name: "posted_at", Types: []string{"string"}, Kind: pdpp.KindDateTime, Format: "date-time",
				Role: pdpp.RoleEventTime, DisplayType: "timestamp", Schema: json.RawMessage(`{"type":"string","format":"date-time"}`),
			},
			{
				Name: "scan", Types: []string{"object", "null"}, Role: pdpp.RoleMedia, Blob: pdpp.BlobOne,
				Schema: json.RawMessage(`{"type":["object","null"],"required":["blob_id"],"properties":{"blob_id":{"type":"string"}}}`),
			},
		},
		Required: []string{"id", "posted_at"}, PrimaryKey: []string{"id"},
		CursorField: "posted_at", ConsentTimeField: "posted_at", SelectFields: true,
		Views: []pdpp.View{
			{ID: "brief", Label: "Brief", Fields: []string{"id", "memo"}},
			{ID: "paper", Fields: []string{"scan"}},
		},
		Relations: []pdpp.Relation{
			{Name: "receipts", Stream: "receipts", ForeignKey: "entry_id", HasMany: true, Expandable: true, DefaultLimit: 10, MaxLimit: 50},
			{Name: "cover", Stream: "receipts", ForeignKey: "entry_id", Expandable: true},
			{Name: "attached", Stream: "receipts", ForeignKey: "entry_id", HasMany: true},
		},
		RangeFilters: []pdpp.RangeFilter{
			{Field: "posted_at", Ops: []pdpp.Op{pdpp.OpGte, pdpp.OpLt}},
			{Field: "amount_minor", Ops: []pdpp.Op{pdpp.OpGte, pdpp.OpLte}},
		},
		LexicalFields: []string{"memo", "note"}, SemanticFields: []string{"note"},
		Aggregations: pdpp.Aggregations{
			Count: true, Sum: []string{"amount_minor"},
			Min: []string{"amount_minor", "posted_at"}, Max: []string{"amount_minor", "posted_at"},
			GroupByTime: []string{"posted_at"},
		},
	}
}

func receipts() *pdpp.Stream {
	return &pdpp.Stream{
		Name: "receipts", Semantics: "mutable_state", Schema: json.RawMessage(`{"type":"object"}`),
		Fields: []*pdpp.Field{
			{Name: "rid", Types: []string{"string"}, Kind: pdpp.KindString, Schema: json.RawMessage(`{"type":"string"}`)},
			{Name: "entry_id", Types: []string{"string"}, Kind: pdpp.KindString, Schema: json.RawMessage(`{"type":"string"}`)},
			{Name: "payload", Schema: json.RawMessage(`{}`)},
		},
		PrimaryKey: []string{"rid"}, SelectFields: true, SelectResources: true,
		Aggregations: pdpp.Aggregations{GroupBy: []string{"entry_id"}, CountDistinct: []string{"rid"}},
	}
}

func catalog(ms ...*pdpp.Manifest) *pdpp.Catalog {
	return &pdpp.Catalog{Manifests: ms, Connections: []pdpp.Connection{
		{ID: "cin_a1", Connector: "ledgerly", Label: "Joint account"},
		{ID: "cin_b2", Connector: "ledgerly", Label: "ledgerly"}, // a label that adds nothing (C-27)
		{ID: "cin_hidden", Connector: "ledgerly", Label: "Secret account"},
	}}
}

// tally returns the reach of a client with a grant for the given streams of ledgerly.
func tally(streams ...pdpp.GrantStream) *grant.Reach {
	return grant.ForClient(&pdpp.Grant{
		ID: "grt_5c", ClientID: "cli_tally", SubjectID: "own_77", ConnectorKey: "ledgerly", Streams: streams,
	}, catalog(ledgerly()))
}

// partial returns the reach of the golden documents: some fields of entries, the foreign
// key of receipts, and a stream that is no longer in the manifest.
func partial() *grant.Reach {
	return tally(
		pdpp.GrantStream{
			Name: "entries", Connections: []pdpp.ConnectionID{"cin_a1", "cin_b2"}, Fields: []string{"posted_at", "id", "memo"},
			Time: &pdpp.TimeConstraint{Field: "posted_at", Since: date(2025)},
		},
		pdpp.GrantStream{
			Name: "receipts", Connections: []pdpp.ConnectionID{"cin_b2"}, Fields: []string{"entry_id"},
			Time:      &pdpp.TimeConstraint{Field: "rid", Until: date(2027).Add(1500 * time.Millisecond)},
			Resources: []pdpp.RecordID{"rc_9", "rc_1"},
		},
		pdpp.GrantStream{Name: "gone", Connections: []pdpp.ConnectionID{"cin_a1"}, Fields: []string{"id"}},
	)
}

func date(year int) time.Time { return time.Date(year, 1, 1, 0, 0, 0, 0, time.UTC) }

// pick selects rows like a request.
func pick(t *testing.T, r *grant.Reach, stream string, conn pdpp.ConnectionID) []grant.Row {
	t.Helper()
	sel := grant.Selector{Connection: conn}
	rows, err := r.Select(sel)
	if stream != "" {
		rows, err = r.Stream(stream, sel)
	}
	if err != nil {
		t.Fatalf("selecting stream %q on %q: %v", stream, conn, err)
	}
	return rows
}

// at returns the bytes of a member of a document. Steps are names or array indexes.
func at(t *testing.T, doc []byte, path ...any) string {
	t.Helper()
	for _, step := range path {
		var err error
		switch step := step.(type) {
		case string:
			var m map[string]json.RawMessage
			err = json.Unmarshal(doc, &m)
			doc = m[step]
		case int:
			var l []json.RawMessage
			if err = json.Unmarshal(doc, &l); err == nil {
				doc = l[step]
			}
		}
		if err != nil {
			t.Fatalf("%v in %s: %v", path, doc, err)
		}
	}
	return string(doc)
}

// flat removes the white space of an expected document.
func flat(t *testing.T, s string) string {
	t.Helper()
	var buf bytes.Buffer
	if err := json.Compact(&buf, []byte(s)); err != nil {
		t.Fatalf("expectation is not JSON: %v", err)
	}
	return buf.String()
}

// idsOf returns the ids of a granted_connections list, which may be absent.
func idsOf(t *testing.T, list string) []pdpp.ConnectionID {
	t.Helper()
	if list == "" {
		return nil
	}
	var conns []struct {
		ID pdpp.ConnectionID `json:"connection_id"`
	}
	if err := json.Unmarshal([]byte(list), &conns); err != nil {
		t.Fatalf("%s: %v", list, err)
	}
	var ids []pdpp.ConnectionID
	for _, c := range conns {
		ids = append(ids, c.ID)
	}
	return ids
}

func sameSet(a, b []pdpp.ConnectionID) bool {
	return slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b)))
}
