package manifest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
)

type dict = map[string]any

// fullRow returns the row of X-8 with as an owner gets it, with every
// capability of the server.
func fullRow(t failer, s *pdpp.Stream) []byte {
	t.Helper()
	row := dict{
		"object": "stream_metadata", "name": s.Name, "connector_key": strings.Repeat("k", 64), "label": s.Label,
		"description": s.Description, "semantics": s.Semantics, "schema": s.Schema, "primary_key": s.PrimaryKey,
		"cursor_field": s.CursorField, "consent_time_field": s.ConsentTimeField,
		"selection": dict{"fields": s.SelectFields, "resources": s.SelectResources},
	}
	caps := dict{}
	for _, f := range s.Fields {
		caps[f.Name] = capability(s, f)
	}
	row["field_capabilities"] = caps
	addRelations(row, s)
	addQuery(row, s)
	raw, err := json.Marshal(row)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.ReplaceAll(raw, []byte(":null"), []byte(":[]")) // the server sends an empty list, not null
}

func capability(s *pdpp.Stream, f *pdpp.Field) dict {
	flag := func(on bool) dict { return dict{"declared": on, "usable": on} }
	in := func(list []string) dict { return flag(slices.Contains(list, f.Name)) }
	a := s.Aggregations
	ranges := flag(s.RangeOps(f.Name) != nil)
	if ops := s.RangeOps(f.Name); ops != nil {
		ranges["operators"] = ops
	}
	return dict{
		"type": f.DisplayType, "role": f.Role, "schema": f.Schema, "granted": true,
		"exact_filter": flag(f.Kind != pdpp.KindNone), "range_filter": ranges,
		"lexical_search": in(s.LexicalFields), "semantic_search": in(s.SemanticFields),
		"aggregation": dict{
			"count_distinct": in(a.CountDistinct), "group_by": in(a.GroupBy), "group_by_time": in(a.GroupByTime),
			"max": in(a.Max), "min": in(a.Min), "sum": in(a.Sum),
		},
	}
}

func addRelations(row dict, s *pdpp.Stream) {
	var views, viewIDs, rels, expand, caps, names []any
	for _, v := range s.Views {
		views = append(views, dict{"id": v.ID, "label": v.Label, "fields": v.Fields})
		viewIDs = append(viewIDs, v.ID)
	}
	for _, r := range s.Relations {
		rels = append(rels, dict{"name": r.Name, "stream": r.Stream, "foreign_key": r.ForeignKey, "cardinality": r.Cardinality()})
		expand = append(expand, dict{"name": r.Name, "default_limit": r.DefaultLimit, "max_limit": r.MaxLimit})
		caps = append(caps, dict{
			"name": r.Name, "stream": r.Stream, "target_stream": r.Stream, "cardinality": r.Cardinality(),
			"foreign_key": r.ForeignKey, "child_parent_key_field": r.ForeignKey,
			"default_limit": r.DefaultLimit, "max_limit": r.MaxLimit, "granted": true, "usable": true,
		})
		names = append(names, r.Name)
	}
	row["views"], row["relationships"], row["expand_capabilities"] = views, rels, caps
	row["query"] = dict{"expand": expand}
	row["query_capabilities"] = dict{"projection": dict{"fields": true, "views": viewIDs}, "expand": names}
}

func addQuery(row dict, s *pdpp.Stream) {
	a := s.Aggregations
	ranges := dict{}
	for _, r := range s.RangeFilters {
		ranges[r.Field] = r.Ops
	}
	query := row["query"].(dict)
	query["range_filters"] = ranges
	query["search"] = dict{"lexical_fields": s.LexicalFields, "semantic_fields": s.SemanticFields}
	query["aggregations"] = dict{
		"count": true, "sum": a.Sum, "min": a.Min, "max": a.Max, "group_by": a.GroupBy,
		"group_by_time": a.GroupByTime, "count_distinct": a.CountDistinct,
	}
	caps := row["query_capabilities"].(dict)
	caps["sort"] = dict{"fields": []string{s.CursorField}, "default": "-" + s.CursorField, "order": []string{"asc", "desc"}}
	caps["count"] = []string{"none", "estimated", "exact"}
	caps["pagination"] = dict{"cursor": true, "default_limit": pdpp.DefaultPage, "max_limit": pdpp.MaxPage}
	caps["changes_since"] = true
	caps["search_modes"] = []string{"lexical", "semantic", "hybrid"}
	caps["aggregate"] = dict{
		"metrics": []string{"count", "count_distinct", "max", "min", "sum"}, "group_by": a.GroupBy,
		"group_by_time": a.GroupByTime, "max_limit": pdpp.MaxGroups,
		"granularities": []string{"minute", "hour", "day", "week", "month", "quarter", "year"},
	}
}

// drawStream returns a random stream. Only its size matters.
func drawStream(t *rapid.T) *pdpp.Stream {
	text := rapid.StringOfN(rapid.RuneFrom([]rune("ab<&>\"\\\u2028é😀")), 1, 20, -1)
	s := &pdpp.Stream{Name: text.Draw(t, "name"), Label: text.Draw(t, "label"), Description: text.Draw(t, "description"), Semantics: "mutable_state"}
	var names []string
	for _, n := range rapid.SliceOfNDistinct(text, 1, 12, rapid.ID[string]).Draw(t, "fields") {
		schema, err := json.Marshal(dict{"type": "integer", "description": text.Draw(t, "schema")})
		if err != nil {
			t.Fatal(err)
		}
		s.Fields = append(s.Fields, &pdpp.Field{Name: n, Kind: pdpp.KindInteger, DisplayType: text.Draw(t, "type"), Role: pdpp.Role(text.Draw(t, "role")), Schema: schema})
		names = append(names, n)
	}
	some := func(label string) []string { return names[:rapid.IntRange(0, len(names)).Draw(t, label)] }
	s.Schema = s.Fields[0].Schema
	s.PrimaryKey, s.CursorField, s.ConsentTimeField = some("key"), names[0], names[0]
	s.LexicalFields, s.SemanticFields = some("lexical"), some("semantic")
	s.Aggregations = pdpp.Aggregations{
		Count: true, Sum: some("sum"), Min: some("min"), Max: some("max"),
		GroupBy: some("group"), GroupByTime: some("time"), CountDistinct: some("distinct"),
	}
	for _, n := range some("ranges") {
		s.RangeFilters = append(s.RangeFilters, pdpp.RangeFilter{Field: n, Ops: []pdpp.Op{pdpp.OpGte, pdpp.OpGt, pdpp.OpLte, pdpp.OpLt}})
	}
	for _, n := range some("relations") {
		s.Relations = append(s.Relations, pdpp.Relation{
			Name: n, Stream: text.Draw(t, "related"), ForeignKey: text.Draw(t, "foreign"),
			HasMany: true, Expandable: true, DefaultLimit: pdpp.MaxExpand, MaxLimit: pdpp.MaxExpand,
		})
	}
	for _, n := range some("views") {
		s.Views = append(s.Views, pdpp.View{ID: n, Label: text.Draw(t, "view"), Fields: some("view fields")})
	}
	return s
}

// TestRowBytesBounds compares the bound of M-10 with real rows. It is never smaller than
// the row, and not so much larger that reasonable manifests are rejected.
func TestRowBytesBounds(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		s := drawStream(rt)
		bound, sent := rowBytes(s), len(fullRow(t, s))
		if bound < sent {
			rt.Errorf("bound %d is below the %d bytes of the row", bound, sent)
		}
		if limit := sent + sent/4 + 400; bound > limit {
			rt.Errorf("bound %d is far above the %d bytes of the row", bound, sent)
		}
	})
}

// manifestOf returns a manifest with the given streams.
func manifestOf(streams ...string) []byte {
	return fmt.Appendf(nil, `{"declaration_version":"1","source":{"kind":"connector","id":"x"},"streams":[%s]}`, strings.Join(streams, ","))
}

func streamOf(name, schema string) string {
	return fmt.Sprintf(`{"name":%q,"semantics":"append_only","primary_key":["f0"],"selection":{},"schema":%s}`, name, schema)
}

// wide returns n properties with descriptions of the given length.
func wide(n, description int) string {
	var props []string
	for i := range n {
		props = append(props, fmt.Sprintf(`"f%d":{"type":"string","description":%q}`, i, strings.Repeat("d", description)))
	}
	return `{"properties":{` + strings.Join(props, ",") + `}}`
}

func TestBounds(t *testing.T) {
	var streams []string
	for i := range maxStreams + 1 {
		streams = append(streams, streamOf(fmt.Sprintf("s%d", i), wide(1, 0)))
	}
	mustParse(t, manifestOf(streams[:maxStreams]...))
	if got, want := refusal(t, manifestOf(streams...)), "streams: has 201 streams; at most 200 are allowed"; got != want {
		t.Errorf("message %q", got)
	}
	if m := mustParse(t, manifestOf(streamOf("s", wide(maxProperties, 0)))); len(m.Streams[0].Fields) != maxProperties {
		t.Errorf("%d fields", len(m.Streams[0].Fields))
	}
	got := refusal(t, manifestOf(streamOf("s", wide(maxProperties+1, 0))))
	if want := "streams[0].schema.properties: has 257 properties; at most 256 are allowed"; got != want {
		t.Errorf("message %q", got)
	}
}

// TestRowTooLarge finds the largest accepted description, and checks the real row
// at that limit.
func TestRowTooLarge(t *testing.T) {
	accepts := func(n int) bool {
		_, err := Parse(manifestOf(streamOf("s", wide(200, n))))
		return err == nil
	}
	low, high := 0, 1000
	for high-low > 1 {
		if mid := (low + high) / 2; accepts(mid) {
			low = mid
		} else {
			high = mid
		}
	}
	sent := len(fullRow(t, mustParse(t, manifestOf(streamOf("s", wide(200, low)))).Streams[0]))
	if sent > maxRow || sent < maxRow*9/10 {
		t.Errorf("the largest accepted row has %d bytes", sent)
	}
	got := refusal(t, manifestOf(streamOf("s", wide(200, high))))
	if !strings.HasPrefix(got, "streams[0]: the full schema row of this stream would have ") || !strings.HasSuffix(got, "") {
		t.Errorf("message %q", got)
	}
	got = refusal(t, manifestOf(streamOf("s", wide(1, maxRow))))
	if !strings.HasPrefix(got, "streams[0].schema: has 195") || strings.Contains(got, "\n") {
		t.Errorf("message %q", got)
	}
}

// TestReferencesAreBounded refers to a large definition very often. Parse must fail
// without building the resolved schema.
func TestReferencesAreBounded(t *testing.T) {
	var props []string
	for i := range maxProperties {
		props = append(props, fmt.Sprintf(`"f%d":{"$ref":"#/$defs/big"}`, i))
	}
	schema := fmt.Sprintf(`{"$defs":{"big":{"type":"string","description":%q}},"properties":{%s}}`,
		strings.Repeat("d", 100_000), strings.Join(props, ","))
	var streams []string
	for i := range 60 {
		streams = append(streams, streamOf(fmt.Sprintf("s%d", i), schema))
	}
	text := manifestOf(streams...)
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got := refusal(t, text)
	runtime.ReadMemStats(&after)
	if want := "streams[0].schema.properties: has more than 195000 bytes once its references are resolved\n"; !strings.HasPrefix(got, want) {
		t.Errorf("message %q", got)
	}
	// Resolved, the definitions would have 60 × 256 × 100,000 bytes.
	if used := after.TotalAlloc - before.TotalAlloc; used > 800<<20 {
		t.Errorf("%d MiB were allocated", used>>20)
	}
}
