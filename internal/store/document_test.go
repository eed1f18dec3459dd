package store

import (
	"bytes"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/rawjson"
)

func sealed(s *pdpp.Stream) *pdpp.Stream {
	(&pdpp.Manifest{Streams: []*pdpp.Stream{s}}).BuildIndex()
	return s
}

func entries() *pdpp.Stream {
	return sealed(&pdpp.Stream{
		Name: "entries", Label: "Entries", PrimaryKey: []string{"id"}, CursorField: "at", ConsentTimeField: "due",
		Fields: []*pdpp.Field{
			{Name: "id", Kind: pdpp.KindString},
			{Name: "at", Kind: pdpp.KindDateTime},
			{Name: "due", Kind: pdpp.KindDate},
			{Name: "memo", Kind: pdpp.KindString},
			{Name: "amount", Kind: pdpp.KindNumber},
			{Name: "seen", Kind: pdpp.KindDateTime},
			{Name: "group", Kind: pdpp.KindString},
			{Name: "tags"},
		},
		RangeFilters:  []pdpp.RangeFilter{{Field: "amount", Ops: []pdpp.Op{pdpp.OpGte}}},
		Aggregations:  pdpp.Aggregations{Count: true, GroupBy: []string{"group"}},
		LexicalFields: []string{"memo"},
	})
}

func bound(s *pdpp.Stream) *Binding {
	b := &Binding{Stream: s, Layout: LayoutDigest(s)}
	for i := range s.Fields {
		b.FieldIDs = append(b.FieldIDs, int64(100+i))
	}
	return b
}

func TestChangedFields(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          []string
	}{
		{`{}`, `{}`, nil},
		{`{"a":1,"b":2}`, `{"b":2,"a":1}`, nil},
		{`{"a":1,"b":2,"c":3}`, `{"d":4,"c":3.0,"a":1}`, []string{"b", "c", "d"}},
		{`{}`, `{"b":null,"a":1}`, []string{"b", "a"}},
		{`{"b":null,"a":1}`, `{}`, []string{"b", "a"}},
		{`{"\u0061":1}`, `{"a":1}`, nil}, // the same name, otherwise written
		{"{\"a\":\x000:t:5:5:aa\x00}", "{\"a\":\x000:t:5:5:ab\x00}", []string{"a"}},
	} {
		got := changedFields([]byte(c.before), []byte(c.after))
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("changedFields(%s, %s) (-want +got):\n%s", c.before, c.after, diff)
		}
	}
}

func TestSlots(t *testing.T) {
	s := entries()
	for name, want := range map[string]Slot{
		"id": SlotKey, "at": SlotCursor, "due": SlotIndex, "memo": SlotToken,
		"amount": SlotIndex, "seen": SlotIndex, "group": SlotIndex, "tags": SlotNone,
	} {
		if got := SlotOf(s, s.Field(name)); got != want {
			t.Errorf("%s: slot %d, want %d", name, got, want)
		}
	}
	s.Field("memo").ForeignKey = true
	if slot := SlotOf(s, s.Field("memo")); slot != SlotIndex {
		t.Errorf("a foreign key has slot %d, want an index", slot)
	}
	s.PrimaryKey = []string{"id", "memo"}
	if slot := SlotOf(s, s.Field("id")); slot != SlotToken {
		t.Errorf("a part of a compound key has slot %d, want a token", slot)
	}
	s.PrimaryKey, s.CursorField = []string{"amount"}, ""
	if slot := SlotOf(s, s.Field("amount")); slot != SlotIndex {
		t.Errorf("a key that is no string has slot %d, want an index", slot)
	}
}

// TestLayoutDigest: the digest changes only with declarations that affect index entries.
func TestLayoutDigest(t *testing.T) {
	base := LayoutDigest(entries())
	for _, c := range []struct {
		name   string
		change func(*pdpp.Stream)
		same   bool
	}{
		{"nothing", func(*pdpp.Stream) {}, true},
		{"label", func(s *pdpp.Stream) { s.Label, s.Description = "Other", "Text" }, true},
		{"views", func(s *pdpp.Stream) { s.Views = []pdpp.View{{ID: "v", Fields: []string{"id"}}} }, true},
		{"role", func(s *pdpp.Stream) { s.Field("memo").Role = pdpp.RolePrimaryTitle }, true},
		{"another operator", func(s *pdpp.Stream) { s.RangeFilters[0].Ops = []pdpp.Op{pdpp.OpLt} }, true},
		{"new range filter", func(s *pdpp.Stream) {
			s.Field("memo").Kind = pdpp.KindString
			s.RangeFilters = append(s.RangeFilters, pdpp.RangeFilter{Field: "memo", Ops: []pdpp.Op{pdpp.OpLt}})
		}, false},
		{"new aggregation", func(s *pdpp.Stream) { s.Aggregations.CountDistinct = []string{"memo"} }, false},
		{"aggregated cursor field", func(s *pdpp.Stream) { s.Aggregations.GroupByTime = []string{s.CursorField} }, false},
		{"aggregated key", func(s *pdpp.Stream) { s.Aggregations.CountDistinct = []string{"id"} }, false},
		{"cursor field", func(s *pdpp.Stream) { s.CursorField = "seen" }, false},
		{"consent time", func(s *pdpp.Stream) { s.ConsentTimeField = "seen" }, false},
		{"key", func(s *pdpp.Stream) { s.PrimaryKey = []string{"id", "memo"} }, false},
		{"type", func(s *pdpp.Stream) { s.Field("amount").Kind = pdpp.KindInteger }, false},
		{"lexical field", func(s *pdpp.Stream) { s.LexicalFields = append(s.LexicalFields, "group") }, false},
		{"blob reference", func(s *pdpp.Stream) { s.Field("tags").Blob = pdpp.BlobList }, false},
		{"field", func(s *pdpp.Stream) { s.Fields = append(s.Fields, &pdpp.Field{Name: "new", Kind: pdpp.KindString}) }, false},
	} {
		s := entries()
		c.change(s)
		if same := LayoutDigest(s) == base; same != c.same {
			t.Errorf("%s: the digest is the same: %v, want %v", c.name, same, c.same)
		}
	}
}

// TestPrepare compares the document of one record.
func TestPrepare(t *testing.T) {
	b := bound(entries())
	data := `{"memo":"Big Words","amount":12.50,"due":"2026-01-02","at":"2026-01-01","id":"a","tags":["x"],"other":1}`
	doc := Prepare(b, Input{ID: "a", Data: []byte(data)})
	if string(doc.Body) != data || doc.Layout != b.Layout || !doc.KeyInData || len(doc.Long) != 0 {
		t.Errorf("Prepare = %+v", doc)
	}
	var fields []int64
	for _, e := range doc.Index {
		fields = append(fields, e.Field)
	}
	if diff := cmp.Diff([]int64{104, 102}, fields); diff != "" {
		t.Errorf("indexed fields (-want +got):\n%s", diff)
	}
	if doc.ConsentTime == nil || !bytes.HasSuffix(doc.Order, []byte("a")) || doc.Order[0] != orderValued {
		t.Errorf("consent time %v, order %q", doc.ConsentTime, doc.Order)
	}
	if want := "2v.big 2v.words " + ValueToken(103, []byte("Big Words")); string(doc.Search) != want { // 103 in base 36
		t.Errorf("Search = %q", doc.Search)
	}
	if diff := cmp.Diff(doc.Index, FieldKeys(b, "a", doc.Body)); diff != "" {
		t.Errorf("FieldKeys of the body (-prepared +keys):\n%s", diff)
	}
	if got := Terms(map[string]SearchForm{"memo": {103, true, pdpp.KindString, false}}, []byte(data)); string(got) != string(doc.Search) {
		t.Errorf("Terms = %q, want %q", got, doc.Search)
	}
	empty := Prepare(b, Input{ID: "a", Data: []byte(`{"id":null,"memo":5,"at":"x"}`)})
	if empty.KeyInData || len(empty.Index) != 0 || empty.ConsentTime != nil || string(empty.Order) != "\x02a" || len(empty.Search) != 0 {
		t.Errorf("Prepare of mistyped values = %+v", empty)
	}
}

// TestPrepareLong: a body with stubs has the entries of the whole, and names as they were
// written.
func TestPrepareLong(t *testing.T) {
	b := bound(entries())
	digits := strings.Repeat("7", LongValue+1)
	long := `"` + strings.Repeat("x ", LongValue) + `"`
	data := `{"\u0061\":` + digits + `":` + digits + `,"memo":` + long + `,"amount":3,"` + digits + `":1,"z\\":` + long + `}`
	doc := Prepare(b, Input{ID: "a", Data: []byte(data)})
	if len(doc.Long) != 3 {
		t.Fatalf("%d long values, want 3", len(doc.Long))
	}
	body := doc.Body
	for i, l := range doc.Long {
		var value []byte
		for _, p := range l.Pieces {
			value = append(value, p.Raw...)
		}
		value = l.Quote(append(l.Quote(nil), value...))
		if l.Ordinal != i {
			t.Errorf("long value %d has the ordinal %d", i, l.Ordinal)
		}
		body = bytes.Replace(body, l.append(nil, value), value, 1)
	}
	if string(body) != data {
		t.Errorf("the body with its values in place differs from the data")
	}
	if diff := cmp.Diff(doc.Index, FieldKeys(b, "a", doc.Body)); diff != "" || len(doc.Index) != 1 {
		t.Errorf("%d entries, of the stored body (-prepared +entries):\n%s", len(doc.Index), diff)
	}
	if memo, ok := rawjson.Get(doc.Body, "memo"); !ok || rawjson.KindOf(memo) != rawjson.KindStub {
		t.Errorf("memo is stored as %.60q", memo)
	}
}

func TestOrderKey(t *testing.T) {
	valued, none, end := OrderSegments()
	with, without := OrderKey([]byte("v"), "id"), OrderKey(nil, "id")
	inOrder := [][]byte{valued, with, none, without, end}
	for i := 1; i < len(inOrder); i++ {
		if bytes.Compare(inOrder[i-1], inOrder[i]) >= 0 {
			t.Errorf("%q does not come before %q", inOrder[i-1], inOrder[i])
		}
	}
}
