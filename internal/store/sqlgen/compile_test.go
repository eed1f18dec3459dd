package sqlgen

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// numbered writes parameters as $1, $2: the compiler must not assume one form.
type numbered struct{}

func (numbered) Param(n int) string                { return fmt.Sprint("$", n) }
func (numbered) IndexHint(index string) string     { return " /*" + index + "*/" }
func (numbered) OneOf(column, param string) string { return column + " = ANY(" + param + ")" }
func (numbered) WalkedBody() string                { return "r.body" }
func (numbered) IDList(ids []pdpp.RecordID) any    { return fmt.Sprint(ids) }
func (numbered) Token() TermJoin                   { return TermJoin{"terms i", "i.term = ?", "i.record"} }

func (numbered) Words(groups [][]string) (TermJoin, any) {
	return TermJoin{"terms i", "i.terms @> ?", "i.record"}, groups
}

func stream() *pdpp.Stream {
	s := &pdpp.Stream{
		Name: "entries", PrimaryKey: []string{"id"}, CursorField: "at",
		Fields: []*pdpp.Field{
			{Name: "id", Kind: pdpp.KindString},
			{Name: "at", Kind: pdpp.KindInteger},
			{Name: "memo", Kind: pdpp.KindString},
			{Name: "amount", Kind: pdpp.KindInteger},
			{Name: "tags"},
			{Name: "place", Kind: pdpp.KindString},
		},
		Aggregations: pdpp.Aggregations{GroupBy: []string{"memo"}},
		RangeFilters: []pdpp.RangeFilter{{Field: "amount", Ops: []pdpp.Op{pdpp.OpGte}}},
	}
	m := &pdpp.Manifest{Streams: []*pdpp.Stream{s}}
	m.BuildIndex()
	return s
}

func source(where ...query.Condition) Source {
	return Source{
		Source: query.Source{Connection: "b", Stream: stream(), Where: where}, Subject: 1, Binding: 2,
		FieldID: func(f *pdpp.Field) int64 { return int64(10 + f.Index) },
	}
}

func is(field string, op pdpp.Op, key string) query.Condition {
	return query.Condition{Field: stream().Field(field), Op: op, Key: []byte(key)}
}

func compile(t *testing.T, src Source, by query.OrderBy, counts ...int64) *Query {
	t.Helper()
	q, err := Compile(numbered{}, src, by, func(Statement) (int64, error) {
		if len(counts) == 0 {
			t.Fatal("one probe too many")
		}
		n := counts[0]
		counts = counts[1:]
		return n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if len(counts) != 0 {
		t.Errorf("%d probes were not made", len(counts))
	}
	return q
}

// flat joins the lines of a statement.
func flat(s Statement) string { return strings.Join(strings.Fields(s.SQL), " ") }

const many = Gather + 1

// TestListText compares the text of the main statements.
func TestListText(t *testing.T) {
	const columns = "SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM "
	at := &query.Position{Key: []byte("\x01k"), Connection: "b"}
	memo, amount, place := is("memo", pdpp.OpEq, "x"), is("amount", pdpp.OpGte, "5"), is("place", pdpp.OpEq, "x")
	cursor := query.Order{By: query.ByCursor, Desc: true}
	for _, c := range []struct {
		name   string
		src    Source
		order  query.Order
		after  *query.Position
		counts []int64
		want   string
		args   []any
	}{
		{
			"first page", source(), cursor, nil, nil,
			columns + "records r /*records_by_order*/ WHERE r.subject = $1 AND r.binding = $2" +
				" AND r.order_key >= $3 AND r.order_key < $4 ORDER BY r.order_key DESC LIMIT $5",
			[]any{int64(1), int64(2), []byte{1}, []byte{2}, 26},
		},
		{
			"next page", source(), cursor, at, nil,
			columns + "records r /*records_by_order*/ WHERE r.subject = $1 AND r.binding = $2" +
				" AND r.order_key >= $3 AND r.order_key < $4 ORDER BY r.order_key DESC LIMIT $5",
			[]any{int64(1), int64(2), []byte{1}, []byte("\x01k"), 26},
		},
		{
			"by id", source(),
			query.Order{By: query.ByID},
			&query.Position{Key: []byte("k"), Connection: "a"}, nil,
			columns + "records r /*records_by_id*/ WHERE r.subject = $1 AND r.binding = $2 AND r.id >= $3 ORDER BY r.id LIMIT $4",
			[]any{int64(1), int64(2), "k", 26},
		},
		{
			"by emitted_at", source(),
			query.Order{By: query.ByEmitted, Desc: true},
			&query.Position{Key: EmittedKey(-7, []byte("k")), Connection: "b"}, nil,
			columns + "records r /*records_by_emitted*/ WHERE r.subject = $1 AND r.binding = $2" +
				" AND (r.emitted_at, r.id) < ($3, $4) ORDER BY r.emitted_at DESC, r.id DESC LIMIT $5",
			[]any{int64(1), int64(2), int64(-7), "k", 26},
		},
		{
			"equality", source(memo), cursor, nil, nil,
			columns + "field_index i JOIN records r ON r.record = i.record WHERE i.subject = $1 AND i.field = $2 AND i.value = $3" +
				" AND i.order_key >= $4 AND i.order_key < $5 ORDER BY i.order_key DESC LIMIT $6",
			[]any{int64(1), int64(12), []byte("x"), []byte{1}, []byte{2}, 26},
		},
		{
			"few of many", source(memo, amount), cursor, nil,
			[]int64{many, 3},
			columns + "(SELECT r.record AS n FROM field_index i JOIN records r ON r.record = i.record" +
				" WHERE i.subject = $1 AND i.field = $2 AND i.value >= $3 AND i.order_key >= $4 AND i.order_key < $5" +
				" AND EXISTS (SELECT 1 FROM field_values x WHERE x.record = r.record AND x.field = $6 AND x.value = $7)" +
				" ORDER BY r.order_key DESC LIMIT $8) k JOIN records r ON r.record = k.n ORDER BY r.order_key DESC",
			[]any{int64(1), int64(13), []byte("5"), []byte{1}, []byte{2}, int64(12), []byte("x"), 26},
		},
		{
			"many of both", source(memo, amount), cursor, nil,
			[]int64{many, many},
			columns + "field_index i JOIN records r ON r.record = i.record WHERE i.subject = $1 AND i.field = $2 AND i.value = $3" +
				" AND i.order_key >= $4 AND i.order_key < $5" +
				" AND EXISTS (SELECT 1 FROM field_values x WHERE x.record = r.record AND x.field = $6 AND x.value >= $7)" +
				" ORDER BY i.order_key DESC LIMIT $8",
			[]any{int64(1), int64(12), []byte("x"), []byte{1}, []byte{2}, int64(13), []byte("5"), 26},
		},
		{
			"few with a token", source(place), cursor, nil,
			[]int64{3},
			columns + "(SELECT r.record AS n FROM terms i JOIN records r ON r.record = i.record WHERE i.term = $1 AND r.subject = $2" +
				" AND r.order_key >= $3 AND r.order_key < $4 ORDER BY r.order_key DESC LIMIT $5) k JOIN records r ON r.record = k.n ORDER BY r.order_key DESC",
			[]any{store.ValueToken(15, []byte("x")), int64(1), []byte{1}, []byte{2}, 26},
		},
		{
			"many with a token", source(place), cursor, nil,
			[]int64{many}, // each is looked at, so there is no limit
			columns + "records r /*records_by_order*/ WHERE r.subject = $1 AND r.binding = $2" +
				" AND r.order_key >= $3 AND r.order_key < $4 ORDER BY r.order_key DESC",
			[]any{int64(1), int64(2), []byte{1}, []byte{2}},
		},
		{
			"many, by id", source(memo),
			query.Order{By: query.ByID},
			nil,
			[]int64{many},
			columns + "records r /*records_by_id*/ WHERE r.subject = $1 AND r.binding = $2" +
				" AND EXISTS (SELECT 1 FROM field_values x WHERE x.record = r.record AND x.field = $3 AND x.value = $4)" +
				" ORDER BY r.id LIMIT $5",
			[]any{int64(1), int64(2), int64(12), []byte("x"), 26},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := compile(t, c.src, c.order.By, c.counts...)
			s := q.List(c.order, Segments(c.order, c.src.Stream, c.after)[0], c.after, 26)
			if diff := cmp.Diff(c.want, flat(s)); diff != "" {
				t.Errorf("text (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(c.args, s.Args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestOtherText(t *testing.T) {
	src := source(is("id", pdpp.OpEq, "k"), is("at", pdpp.OpGte, "3"))
	src.Resources = []pdpp.RecordID{"k", "l"}
	q := compile(t, src, query.ByCursor)
	want := "SELECT count(*) FROM records r /*records_by_id*/ WHERE r.subject = $1 AND r.binding = $2" +
		" AND r.order_key >= $3 AND r.order_key < $4 AND r.id = $5 AND r.key_in_data = 1"
	if diff := cmp.Diff(want, flat(q.Count())); diff != "" {
		t.Errorf("Count (-want +got):\n%s", diff)
	}
	want = "SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM records r WHERE r.subject = $1 AND r.binding = $2 AND r.id = $3" +
		" AND r.order_key >= $4 AND r.order_key < $5 AND r.id = $6 AND r.key_in_data = 1"
	if diff := cmp.Diff(want, flat(ForGet(numbered{}, src).Get("k"))); diff != "" {
		t.Errorf("Get (-want +got):\n%s", diff)
	}
	src.Where = nil
	want = "SELECT r.record, r.id, r.emitted_at, r.body, r.order_key FROM records r WHERE r.subject = $1 AND r.binding = $2 AND r.id = $3 AND r.id = ANY($4)"
	if diff := cmp.Diff(want, flat(ForGet(numbered{}, src).Get("k"))); diff != "" {
		t.Errorf("Get of a resource (-want +got):\n%s", diff)
	}
	src.Resources, src.Time = nil, &pdpp.TimeConstraint{Field: "amount", Since: time.Unix(0, 0)}
	src.Stream.Field("amount").Kind = pdpp.KindDateTime
	want = "SELECT r.record, r.id, r.emitted_at, CASE WHEN r.subject = $1" +
		" AND EXISTS (SELECT 1 FROM field_values x WHERE x.record = r.record AND x.field = $2 AND x.value >= $3)" +
		" AND r.id = $4 THEN r.body END, r.order_key FROM records r WHERE r.record = $5"
	if diff := cmp.Diff(want, flat(ForGet(numbered{}, src).Shown(7, "k"))); diff != "" {
		t.Errorf("Shown (-want +got):\n%s", diff)
	}
}

// resource returns a source of one listed record.
func resource(id pdpp.RecordID, where ...query.Condition) Source {
	src := source(where...)
	src.Resources = []pdpp.RecordID{id}
	return src
}

// TestNone: contradictions are found without the database.
func TestNone(t *testing.T) {
	gone := source()
	gone.Time = &pdpp.TimeConstraint{Field: "gone"}
	retyped := source()
	retyped.Time = &pdpp.TimeConstraint{Field: "memo"}
	for name, src := range map[string]Source{
		"two values":         source(is("memo", pdpp.OpEq, "x"), is("memo", pdpp.OpEq, "y")),
		"not a resource":     resource("l", is("id", pdpp.OpEq, "k")),
		"two ids":            source(is("id", pdpp.OpEq, "x"), is("id", pdpp.OpEq, "y")),
		"value out of range": source(is("amount", pdpp.OpGte, "5"), is("amount", pdpp.OpEq, "4")),
		"no comparable kind": source(is("tags", pdpp.OpEq, "x")),
		"time field gone":    gone,
		"time field retyped": retyped,
	} {
		if q := compile(t, src, query.ByCursor); !q.Empty() {
			t.Errorf("%s: the query is not empty", name)
		}
	}
	if q := compile(t, source(is("amount", pdpp.OpEq, "5"), is("amount", pdpp.OpGte, "5")), query.ByCursor); q.Empty() {
		t.Error("a value within its range is empty")
	}
}

func TestProbe(t *testing.T) {
	broken := errors.New("broken")
	var text string
	_, err := Compile(numbered{}, source(is("amount", pdpp.OpGte, "5")), query.ByCursor, func(s Statement) (int64, error) {
		text = flat(s)
		return 0, broken
	})
	if !errors.Is(err, broken) {
		t.Errorf("Compile = %v, want the error of the probe", err)
	}
	want := "SELECT count(*) FROM (SELECT 1 FROM field_index i WHERE i.subject = $1 AND i.field = $2 AND i.value >= $3 LIMIT $4) n"
	if text != want {
		t.Errorf("probe = %s", text)
	}
}

// TestSegments: records without a value are read last in both directions, also
// when the position is still among the others.
func TestSegments(t *testing.T) {
	s := stream()
	valued, none, end := store.OrderSegments()
	both, last := []Segment{{valued, none}, {none, end}}, []Segment{{none, end}}
	position := func(key string) *query.Position { return &query.Position{Key: []byte(key), Connection: "b"} }
	noCursor := stream()
	noCursor.CursorField = ""
	for _, c := range []struct {
		name   string
		stream *pdpp.Stream
		after  *query.Position
		want   []Segment
	}{
		{"start", s, nil, both},
		{"among values", s, position("\x01k"), both},
		{"among none", s, position("\x02k"), last},
		{"no cursor field", noCursor, nil, last},
	} {
		for _, desc := range []bool{false, true} {
			got := Segments(query.Order{By: query.ByCursor, Desc: desc}, c.stream, c.after)
			if diff := cmp.Diff(c.want, got, cmp.AllowUnexported(Segment{})); diff != "" {
				t.Errorf("%s, desc %v (-want +got):\n%s", c.name, desc, diff)
			}
		}
	}
	q := compile(t, source(), query.ByCursor)
	o := query.Order{By: query.ByCursor, Desc: true}
	second := q.List(o, both[1], position("\x01k"), 5)
	if diff := cmp.Diff([]any{int64(1), int64(2), none, end, 5}, second.Args); diff != "" {
		t.Errorf("second segment (-want +got):\n%s", diff)
	}
}

func TestEmittedKey(t *testing.T) {
	last := ""
	for _, ms := range []int64{-1 << 62, -1, 0, 1, 1 << 40} {
		key := EmittedKey(ms, []byte("id"))
		if got, id := splitEmitted(key); got != ms || id != "id" {
			t.Errorf("splitEmitted(EmittedKey(%d)) = %d, %q", ms, got, id)
		}
		if string(key) <= last {
			t.Errorf("the key of %d does not follow the one before", ms)
		}
		last = string(key)
	}
	if ms, id := splitEmitted([]byte("short")); ms != 0 || id != "" {
		t.Errorf("splitEmitted of a short key = %d, %q", ms, id)
	}
}

func TestPrefixEnd(t *testing.T) {
	for in, want := range map[string]string{"a": "b", "a\xff": "b", "\x01\xff\xff": "\x02"} {
		if got := prefixEnd([]byte(in)); string(got) != want {
			t.Errorf("prefixEnd(%q) = %q, want %q", in, got, want)
		}
	}
	if got := prefixEnd([]byte("\xff\xff")); got != nil {
		t.Errorf("prefixEnd without an end = %q", got)
	}
}

// TestVerify: conditions that the statements do not cover are tested in the record.
func TestVerify(t *testing.T) {
	src := source(is("place", pdpp.OpEq, "x"))
	few, walk := compile(t, src, query.ByCursor, 1), compile(t, src, query.ByCursor, many)
	if few.NeedsVerify() || !walk.NeedsVerify() {
		t.Errorf("NeedsVerify = %v for gathered, %v for walked records", few.NeedsVerify(), walk.NeedsVerify())
	}
	for body, want := range map[string]bool{`{"place":"x"}`: true, `{"place":"y"}`: false, `{"place":5}`: false, `{}`: false} {
		if got := walk.Verify([]byte(body)); got != want {
			t.Errorf("Verify(%s) = %v", body, got)
		}
		if !few.Verify([]byte(body)) {
			t.Errorf("a gathered record is tested again")
		}
	}
}

// TestBounded: under a time range nothing outside of it is counted or walked.
func TestBounded(t *testing.T) {
	since := func(field string, where ...query.Condition) Source {
		src := source(where...)
		src.Stream.Field("at").Kind, src.Stream.Field("amount").Kind = pdpp.KindDateTime, pdpp.KindDateTime
		src.Time = &pdpp.TimeConstraint{Field: field, Since: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		return src
	}
	o := query.Order{By: query.ByCursor, Desc: true}
	for _, c := range []struct {
		name  string
		src   Source
		order query.OrderBy
		want  string
	}{
		{"a value without entries", since("at", is("place", pdpp.OpEq, "x")), query.ByCursor, "FROM records r /*records_by_order*/"},
		{"a value with entries", since("at", is("memo", pdpp.OpEq, "x")), query.ByCursor, "FROM field_index i JOIN records r ON r.record = i.record WHERE i.subject = $1 AND i.field = $2 AND i.value = $3 AND i.order_key >= $4"},
		{"another order", since("at"), query.ByEmitted, "FROM records r /*records_by_order*/"},
		{"another time field", since("amount", is("memo", pdpp.OpEq, "x")), query.ByCursor, "FROM field_index i JOIN records r ON r.record = i.record WHERE i.subject = $1 AND i.field = $2 AND i.value >= $3"},
	} {
		q := compile(t, c.src, c.order) // no probe may be made
		order := o
		order.By = c.order
		text := flat(q.List(order, Segments(order, c.src.Stream, nil)[0], nil, 26))
		if !strings.Contains(text, c.want) {
			t.Errorf("%s: %s", c.name, text)
		}
	}
}
