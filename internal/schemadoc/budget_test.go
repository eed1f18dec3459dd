package schemadoc_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/schemadoc"
)

const indexBudget = 60_000

// An index within the budget is complete. With one more byte its rows contain names only
//
func TestIndexBudget(t *testing.T) {
	sets := make([][]pdpp.ConnectionID, 200)
	for i := range sets {
		sets[i] = []pdpp.ConnectionID{"cin_x"}
		if i%50 == 7 {
			sets[i] = []pdpp.ConnectionID{pdpp.ConnectionID(fmt.Sprintf("cin_dev%d", i))}
		}
	}
	r := many(sets...)
	bare := len(schemadoc.AppendIndex(nil, r, r.Rows, schemadoc.Request{}))
	self := strings.Repeat("x", indexBudget-bare)

	whole := schemadoc.AppendIndex([]byte("prefix"), r, r.Rows, schemadoc.Request{Self: self})
	if len(whole) != len("prefix")+indexBudget || !bytes.Contains(whole, []byte(`"field_count":1`)) {
		t.Errorf("index of exactly the budget: %d bytes after the prefix, want a complete index", len(whole)-len("prefix"))
	}

	reduced := schemadoc.AppendIndex([]byte("prefix"), r, r.Rows, schemadoc.Request{Self: self + "x"})
	doc, found := bytes.CutPrefix(reduced, []byte("prefix"))
	if !found || len(doc) > indexBudget {
		t.Errorf("reduced index: prefix kept %v, %d bytes, want at most %d", found, len(doc), indexBudget)
	}
	if got := at(t, doc, "meta", "warnings", 0, "code"); got != `"partial_results"` {
		t.Errorf("reduced index: warning %s, want partial_results", got)
	}
	if got := at(t, doc, "meta", "warnings", 0, "detail"); got != `{"rows":"names_only"}` {
		t.Errorf("reduced index: warning detail %s", got)
	}
	for i, set := range sets {
		want := fmt.Sprintf(`{"name":"s%d"}`, i)
		if i%50 == 7 {
			want = fmt.Sprintf(`{"name":"s%d","granted_connections":[{"connection_id":%q}]}`, i, set[0])
		}
		if got := at(t, doc, "connectors", 0, "streams", i); got != want {
			t.Errorf("reduced row %d = %s, want %s", i, got, want)
		}
	}
	if got := at(t, doc, "connectors", 0, "granted_connections"); got != `[{"connection_id":"cin_x"}]` {
		t.Errorf("reduced index: shared connections %s", got)
	}
}

// bigStream returns a stream with n fields in a typical mixture of times, amounts, texts
// and plain values.
func bigStream(n int) *pdpp.Stream {
	s := &pdpp.Stream{
		Name: "transactions", Label: "Card transactions", Schema: []byte(`{"type":"object"}`), CursorField: "field_name_00",
		ConsentTimeField: "field_name_00", PrimaryKey: []string{"field_name_01"}, Aggregations: pdpp.Aggregations{Count: true},
	}
	agg := &s.Aggregations
	for i := range n {
		f := &pdpp.Field{
			Name: fmt.Sprintf("field_name_%02d", i), Types: []string{"string", "null"}, Kind: pdpp.KindString,
			Schema: []byte(`{"type":["string","null"]}`),
		}
		s.Fields = append(s.Fields, f)
		switch i % 5 {
		case 0:
			f.Kind, f.DisplayType, f.Format, f.Role = pdpp.KindDateTime, "timestamp", "date-time", pdpp.RoleEventTime
			s.RangeFilters = append(s.RangeFilters, pdpp.RangeFilter{Field: f.Name, Ops: []pdpp.Op{"gte", "gt", "lte", "lt"}})
			agg.Min, agg.Max, agg.GroupByTime = append(agg.Min, f.Name), append(agg.Max, f.Name), append(agg.GroupByTime, f.Name)
		case 1:
			f.Role = pdpp.RolePrimaryTitle
			s.LexicalFields = append(s.LexicalFields, f.Name)
			agg.GroupBy, agg.CountDistinct = append(agg.GroupBy, f.Name), append(agg.CountDistinct, f.Name)
		case 2:
			f.Kind, f.Types, f.DisplayType, f.Role = pdpp.KindInteger, []string{"integer", "null"}, "money", pdpp.RoleAmount
			s.RangeFilters = append(s.RangeFilters, pdpp.RangeFilter{Field: f.Name, Ops: []pdpp.Op{"gte", "lte"}})
			agg.Sum = append(agg.Sum, f.Name)
		}
	}
	return s
}

func bigReach(fields int) *grant.Reach {
	m := &pdpp.Manifest{ConnectorKey: "bank", DisplayName: "Bank", Streams: []*pdpp.Stream{bigStream(fields)}}
	m.BuildIndex()
	c := &pdpp.Catalog{Manifests: []*pdpp.Manifest{m}}
	for i := range 19 {
		c.Connections = append(c.Connections, pdpp.Connection{
			ID: pdpp.ConnectionID(fmt.Sprintf("cin_%026d", i)), Connector: "bank", Label: fmt.Sprintf("Account %d", i),
		})
	}
	return grant.ForOwner("own_1", c)
}

// TestScopedBudget checks X-18: 6,000 bytes for 30 fields on 19 connections, and 120
// bytes and the name for each further field.
func TestScopedBudget(t *testing.T) {
	size := func(fields int) int {
		r := bigReach(fields)
		return len(schemadoc.AppendScoped(nil, r, r.Rows, schemadoc.Request{
			Self: "/v1/schema?view=compact&stream=transactions", Stream: "transactions",
		}))
	}
	last := size(30)
	if last > 6000 {
		t.Errorf("scoped document of 30 fields on 19 connections: %d bytes, want at most 6000", last)
	}
	for n := 31; n <= 60; n++ {
		now := size(n)
		if more := now - last - len("field_name_00"); more > 120 {
			t.Errorf("field %d adds %d bytes and its name, want at most 120", n, more)
		}
		last = now
	}
}

func BenchmarkAppend(b *testing.B) {
	r := bigReach(60)
	var buf []byte
	b.Run("full", func(b *testing.B) {
		for b.Loop() {
			buf = schemadoc.AppendFull(buf[:0], r, r.Rows, schemadoc.Request{})
		}
	})
	b.Run("scoped", func(b *testing.B) {
		for b.Loop() {
			buf = schemadoc.AppendScoped(buf[:0], r, r.Rows, schemadoc.Request{})
		}
	})
}
