package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
)

// unsealed ignores the lookup tables that Seal builds.
var unsealed = cmpopts.IgnoreUnexported(pdpp.Manifest{}, pdpp.Stream{})

func readExample(t testing.TB, name string) []byte {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", name))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}

func mustParse(t testing.TB, raw []byte) *pdpp.Manifest {
	t.Helper()
	m, err := Parse(raw)
	if err != nil {
		t.Fatalf("Parse: %v", err)
	}
	return m
}

// TestExample parses the example of M-1 with the related stream added.
func TestExample(t *testing.T) {
	raw := readExample(t, "ledgerly.json")
	m := mustParse(t, raw)
	want := &pdpp.Manifest{
		ConnectorKey: "ledgerly", SourceID: "https://reg.acme.test/c/ledgerly", SourceKind: "connector",
		Version: "2026-02-01", DisplayName: "Ledgerly",
		Streams: []*pdpp.Stream{entries(), receipts()},
	}
	want.BuildIndex() // also marks the foreign keys
	if !m.Stream("receipts").Field("entry_id").ForeignKey || m.Stream("entries").Field("memo").ForeignKey {
		t.Error("entry_id must be a foreign key, memo must not")
	}
	ignore := cmp.Options{unsealed, cmpopts.IgnoreFields(pdpp.Manifest{}, "Raw", "Digest"), cmpopts.IgnoreFields(pdpp.Stream{}, "Schema")}
	if diff := cmp.Diff(want, m, ignore); diff != "" {
		t.Errorf("manifest (-want +got):\n%s", diff)
	}
	const schema = `{"type":"object","properties":{"id":{"type":"string"},"entry_id":{"type":"string"},"tags":{"type":"array"}}}`
	if got := string(m.Stream("receipts").Schema); got != schema {
		t.Errorf("schema of receipts = %s", got)
	}
	if f := m.Stream("entries").Field("scan"); f == nil || f.Index != 5 {
		t.Errorf("the manifest is not sealed: scan = %v", f)
	}
}

func entries() *pdpp.Stream {
	return &pdpp.Stream{
		Name: "entries", Label: "Your ledger", Description: "Ledger lines", Semantics: "append_only",
		Fields: []*pdpp.Field{
			{Name: "id", Index: 0, Types: []string{"string"}, Kind: pdpp.KindString, Schema: json.RawMessage(`{"type":"string"}`)},
			{
				Name: "memo", Index: 1, Types: []string{"string", "null"}, Kind: pdpp.KindString, Role: pdpp.RolePrimaryTitle,
				Schema: json.RawMessage(`{"type":["string","null"],"x_pdpp_role":"primary-title"}`),
			},
			{
				Name: "note", Index: 2, Types: []string{"string", "null"}, Kind: pdpp.KindString, Role: pdpp.RolePrimaryText,
				Schema: json.RawMessage(`{"type":["string","null"],"x_pdpp_role":"primary-text"}`),
			},
			{
				Name: "amount_minor", Index: 3, Types: []string{"integer"}, Kind: pdpp.KindInteger, Role: pdpp.RoleAmount, DisplayType: "money",
				Schema: json.RawMessage(`{"type":"integer","x_pdpp_type":"money","x_pdpp_role":"amount"}`),
			},
			{
				Name: "posted_at", Index: 4, Types: []string{"string"}, Kind: pdpp.KindDateTime, Format: "date-time",
				Role: pdpp.RoleEventTime, DisplayType: "timestamp",
				Schema: json.RawMessage(`{"type":"string","format":"date-time","x_pdpp_type":"timestamp","x_pdpp_role":"event-time"}`),
			},
			{
				Name: "scan", Index: 5, Types: []string{"object", "null"}, Role: pdpp.RoleMedia, Blob: pdpp.BlobOne,
				Schema: json.RawMessage(`{"type":["object","null"],"required":["blob_id"],"x_pdpp_role":"media","properties":{"blob_id":{"type":"string"},` +
					`"mime_type":{"type":"string"},"size_bytes":{"type":"integer"},"sha256":{"type":"string"}}}`),
			},
		},
		Required: []string{"id", "posted_at"}, PrimaryKey: []string{"id"},
		CursorField: "posted_at", ConsentTimeField: "posted_at", SelectFields: true,
		Views: []pdpp.View{{ID: "brief", Label: "Brief", Fields: []string{"id", "memo"}}},
		Relations: []pdpp.Relation{{
			Name: "receipts", Stream: "receipts", ForeignKey: "entry_id", HasMany: true,
			Expandable: true, DefaultLimit: 10, MaxLimit: 50,
		}},
		RangeFilters: []pdpp.RangeFilter{
			{Field: "posted_at", Ops: []pdpp.Op{pdpp.OpGte, pdpp.OpLt}},
			{Field: "amount_minor", Ops: []pdpp.Op{pdpp.OpGte, pdpp.OpLte}},
		},
		LexicalFields: []string{"memo", "note"}, SemanticFields: []string{"note"},
		Aggregations: pdpp.Aggregations{
			Count: true, Sum: []string{"amount_minor"}, Min: []string{"posted_at"}, Max: []string{"posted_at"},
			GroupBy: []string{"memo"}, GroupByTime: []string{"posted_at"}, CountDistinct: []string{"memo"},
		},
	}
}

func receipts() *pdpp.Stream {
	return &pdpp.Stream{
		Name: "receipts", Semantics: "mutable_state",
		Fields: []*pdpp.Field{
			{Name: "id", Index: 0, Types: []string{"string"}, Kind: pdpp.KindString, Schema: json.RawMessage(`{"type":"string"}`)},
			{Name: "entry_id", Index: 1, Types: []string{"string"}, Kind: pdpp.KindString, Schema: json.RawMessage(`{"type":"string"}`)},
			{Name: "tags", Index: 2, Types: []string{"array"}, Schema: json.RawMessage(`{"type":"array"}`)},
		},
		PrimaryKey: []string{"id"}, SelectResources: true,
		Relations: []pdpp.Relation{{Name: "entry", Stream: "entries", ForeignKey: "id"}},
	}
}

func TestRawAndDigest(t *testing.T) {
	raw := readExample(t, "ledgerly.json")
	m := mustParse(t, raw)
	if !json.Valid(m.Raw) || len(m.Raw) >= len(raw) {
		t.Errorf("Raw has %d bytes of %d: not compact", len(m.Raw), len(raw))
	}
	sum := sha256.Sum256(m.Raw)
	if want := hex.EncodeToString(sum[:]); m.Digest != want {
		t.Errorf("Digest = %s, want %s", m.Digest, want)
	}
	before := string(m.Raw) + string(m.Streams[0].Schema)
	for i := range raw {
		raw[i] = 'x'
	}
	if string(m.Raw)+string(m.Streams[0].Schema) != before {
		t.Error("the manifest shares memory with the input")
	}
}

func TestWrapper(t *testing.T) {
	m := mustParse(t, readExample(t, "postbox.json"))
	if m.ConnectorKey != "postbox" || m.Version != "7" || m.DisplayName != "" {
		t.Errorf("key %q, version %q, name %q", m.ConnectorKey, m.Version, m.DisplayName)
	}
	if want := `{"published_by":"Example Guild","connector_key":"postbox",`; string(m.Raw[:len(want)]) != want {
		t.Errorf("Raw does not keep the wrapper: %s", m.Raw[:len(want)])
	}
}

func TestConnectorKey(t *testing.T) {
	for _, c := range []struct{ id, outer, inner, want string }{
		{id: "https://reg.acme.test/c/ledgerly", want: "ledgerly"},
		{id: "https://reg.acme.test/c/ledgerly/", want: "ledgerly"},
		{id: "https://reg.acme.test/c/ledgerly?v=2#top", want: "ledgerly"},
		{id: "ledgerly", want: "ledgerly"},
		{id: "https://reg.acme.test/c/ledgerly", inner: "other", want: "other"},
		{id: "https://reg.acme.test/c/ledgerly", outer: "other", want: "other"},
		{id: "https://reg.acme.test/c/ledgerly", outer: "other", inner: "other", want: "other"},
		{id: "urn:acme:Ledgerly", inner: "ledgerly", want: "ledgerly"},
	} {
		stream := map[string]any{
			"name": "s", "semantics": "append_only", "primary_key": []string{"id"}, "selection": map[string]any{},
			"schema": map[string]any{"type": "object", "properties": map[string]any{"id": map[string]any{"type": "string"}}},
		}
		decl := map[string]any{"declaration_version": "1", "streams": []any{stream}, "source": map[string]any{"kind": "connector", "id": c.id}}
		if c.inner != "" {
			decl["connector_key"] = c.inner
		}
		doc := map[string]any{"source_declaration": decl}
		if c.outer != "" {
			doc["connector_key"] = c.outer
		}
		raw, err := json.Marshal(doc)
		if err != nil {
			t.Fatal(err)
		}
		if m := mustParse(t, raw); string(m.ConnectorKey) != c.want {
			t.Errorf("%+v: key = %q", c, m.ConnectorKey)
		}
	}
}

// TestDeclaredOrder uses names whose declared order is not sorted.
func TestDeclaredOrder(t *testing.T) {
	s := mustParse(t, readExample(t, "postbox.json")).Stream("messages")
	var fields, views, rels, ranges []string
	for _, f := range s.Fields {
		fields = append(fields, f.Name)
	}
	for _, v := range s.Views {
		views = append(views, v.ID)
	}
	for _, r := range s.Relations {
		rels = append(rels, r.Name)
	}
	for _, r := range s.RangeFilters {
		ranges = append(ranges, r.Field)
	}
	got := [][]string{fields, views, rels, ranges}
	want := [][]string{
		{
			"zone", "id", "sent_at", "read_at", "day", "sender", "blob_ref", "attachments", "maybe_file", "score", "starred",
			"mixed", "anything", "second", "first", "choice", "odd.name with spaces",
		},
		{"z", "a"},
		{"replies", "calm", "bulk", "closed"},
		{"score", "day", "id"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("order (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]pdpp.Op{pdpp.OpGt, pdpp.OpGte, pdpp.OpLte}, s.RangeOps("day")); diff != "" {
		t.Errorf("operators (-want +got):\n%s", diff)
	}
}

func TestRelations(t *testing.T) {
	s := mustParse(t, readExample(t, "postbox.json")).Stream("messages")
	want := []pdpp.Relation{
		{Name: "replies", Stream: "messages", ForeignKey: "zone", HasMany: true, Expandable: true, DefaultLimit: 10, MaxLimit: 50},
		{Name: "calm", Stream: "messages", ForeignKey: "id", Expandable: true},
		{Name: "bulk", Stream: "messages", ForeignKey: "id", HasMany: true, Expandable: true, DefaultLimit: 5, MaxLimit: 5},
		{Name: "closed", Stream: "messages", ForeignKey: "id", HasMany: true},
	}
	if diff := cmp.Diff(want, s.Relations); diff != "" {
		t.Errorf("relations (-want +got):\n%s", diff)
	}
}

// TestFields covers references, nullable alternatives, kinds and blob shapes.
func TestFields(t *testing.T) {
	s := mustParse(t, readExample(t, "postbox.json")).Stream("messages")
	const file = `{"type":"object","required":["blob_id"],"properties":{"blob_id":{"$ref":"#/$defs/a~1b"}}}`
	for _, want := range []*pdpp.Field{
		{
			Name: "sent_at", Types: []string{"string"}, Kind: pdpp.KindDateTime, Format: "date-time", Role: pdpp.RoleEventTime,
			Schema: json.RawMessage(`{"type":"string","format":"date-time","x_pdpp_role":"event-time","description":"When it left"}`),
		},
		{
			Name: "read_at", Types: []string{"string", "null"}, Kind: pdpp.KindDateTime, Format: "date-time",
			Schema: json.RawMessage(`{"anyOf":[{"$ref":"#/$defs/instant"},{"type":"null"}],"default":null}`),
		},
		{
			Name: "day", Types: []string{"null", "string"}, Kind: pdpp.KindDate, Format: "date",
			Schema: json.RawMessage(`{"oneOf":[{"type":"null"},{"type":"string","format":"date"}]}`),
		},
		{
			Name: "sender", Types: []string{"object"},
			Schema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"string"},"name":{"type":"string"}}}`),
		},
		{Name: "blob_ref", Types: []string{"object"}, Blob: pdpp.BlobOne, Schema: json.RawMessage(file)},
		{
			Name: "attachments", Types: []string{"array", "null"}, Blob: pdpp.BlobList,
			Schema: json.RawMessage(`{"type":["array","null"],"items":{"$ref":"#/$defs/file"}}`),
		},
		{
			Name: "maybe_file", Types: []string{"object", "null"}, Blob: pdpp.BlobOne,
			Schema: json.RawMessage(`{"anyOf":[{"$ref":"#/$defs/file"},{"type":"null"}]}`),
		},
		{Name: "score", Types: []string{"number"}, Kind: pdpp.KindNumber, Schema: json.RawMessage(`{"type":"number"}`)},
		{Name: "starred", Types: []string{"null", "boolean"}, Kind: pdpp.KindBoolean, Schema: json.RawMessage(`{"type":["null","boolean"]}`)},
		{Name: "mixed", Types: []string{"string", "integer"}, Schema: json.RawMessage(`{"type":["string","integer"]}`)},
		{Name: "anything", Schema: json.RawMessage(`true`)},
		{Name: "second", Types: []string{"integer"}, Kind: pdpp.KindInteger, Schema: json.RawMessage(`{"type":"integer"}`)},
		{Name: "first", Types: []string{"boolean"}, Kind: pdpp.KindBoolean, Schema: json.RawMessage(`{"type":"boolean"}`)},
		{Name: "choice", Schema: json.RawMessage(`{"anyOf":[{"type":"string"},{"type":"integer"}]}`)},
		{
			Name: "odd.name with spaces", Types: []string{"string"}, Kind: pdpp.KindString, Role: "house-special",
			Schema: json.RawMessage(`{"type":"string","x_pdpp_role":"house-special","enum":[{"$ref":"https://data.example.test"}]}`),
		},
	} {
		if diff := cmp.Diff(want, s.Field(want.Name), cmpopts.IgnoreFields(pdpp.Field{}, "Index")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", want.Name, diff)
		}
	}
}

// TestNotBlobs tests schemas that are similar to blob references (M-9, D12).
func TestNotBlobs(t *testing.T) {
	for _, schema := range []string{
		`{"type":"object","properties":{"blob_id":{"type":"string"}}}`,
		`{"type":"object","required":["blob_id"]}`,
		`{"type":"object","required":["blob_id"],"properties":{"blob_id":{"type":"integer"}}}`,
		`{"type":"object","required":["blob_id"],"properties":{"blob_id":{"type":["string","null"]}}}`,
		`{"type":["object","string"],"required":["blob_id"],"properties":{"blob_id":{"type":"string"}}}`,
		`{"type":"array","items":{"type":"string"}}`,
		`{"type":"array"}`,
		`{"type":"string"}`,
	} {
		raw := edit(t, `"tags": {"type": "array"}`, `"blob_ref": `+schema)
		if f := mustParse(t, raw).Stream("receipts").Field("blob_ref"); f.Blob != pdpp.BlobNone {
			t.Errorf("%s counts as a blob reference", schema)
		}
	}
}
