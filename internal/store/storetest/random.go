package storetest

import (
	"encoding/json"
	"strings"
	"time"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Values are drawn from small pools, so that records meet conditions and share
// sort values often. "" leaves the field out.
var (
	someIDs    = []string{"a", "b", "c", "d", "e", "é", "aa", `"q"`, "10", "9"}
	someTexts  = []string{"", `""`, `"x"`, `"\u0078"`, `"y"`, `"é"`, `null`, `7`, `"2026-01-01"`, `"x y x"`, `"\u00c9 AB, ab"`}
	someAmount = []string{"", `0`, `-0.0`, `-1`, `12`, `12.0`, `1.2e1`, `12.50`, `1e400`, `-1e-400`, `null`, `"12"`, `9007199254740993`}
	someTimes  = []string{
		"", `"2026-01-01"`, `"2026-01-01T00:00:00Z"`, `"2026-01-01T01:00:00+01:00"`, `"2026-01-01T00:00:00.5"`,
		`"2026-01-02"`, `"2025-12-31T23:59:59.999Z"`, `null`, `"soon"`, `5`, `"2026-02-30"`,
		`"2026-03-29T00:59:59.5Z"`, `"2026-03-29T01:00:00Z"`, `"2026-10-25T00:30:00Z"`, `"2026-10-25T01:30:00Z"`,
	}
	someBools = []string{"", `true`, `false`, `null`, `"true"`}
	someLong  = []string{"", "", "", "", `"` + strings.Repeat("ab é ", store.LongValue/4) + `"`}

	textOperands   = []string{"", "x", "y", "é", "2026-01-01"}
	amountOperands = []string{"0", "-1", "12", "12.5", "1e400", "13"}
	timeOperands   = []string{"2026-01-01", "2026-01-01T00:00:00.5Z", "2026-01-02", "2025-12-31"}
)

// pools are the values each field is drawn from.
var pools = []struct {
	field  string
	values []string
}{
	{"memo", someTexts},
	{"note", someLong},
	{"amount", someAmount},
	{"pieces", someAmount},
	{"paid", someBools},
	{"posted_at", someTimes},
	{"due", someTimes},
	{"seen_at", someTimes},
	{"extra", someTexts},
}

func pick[V any](t *rapid.T, name string, from []V) V { return rapid.SampledFrom(from).Draw(t, name) }

// Change applies random writes, in one Update, or a random manifest, and notes
// what they should have left.
func (m *Model) Change(t *rapid.T) {
	m.w.tb = t
	if rapid.IntRange(0, 5).Draw(t, "what") == 0 {
		m.decl = someDecl(t)
		m.w.declare(m.decl)
		return
	}
	c := pick(t, "connection", []pdpp.ConnectionID{connA, connB})
	var in []store.Input
	var want []store.Outcome
	for range rapid.IntRange(1, 8).Draw(t, "batch") {
		line := someLine(t)
		in = append(in, line)
		want = append(want, m.apply(c, line))
	}
	got := m.w.ingest(c, in...)
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("outcome of line %d is %v, want %v", i, got[i], want[i])
		}
	}
}

func (m *Model) apply(c pdpp.ConnectionID, in store.Input) store.Outcome {
	id := string(in.ID)
	old, had := m.records[c][id]
	switch {
	case in.Delete && !had:
		return store.Absent
	case in.Delete:
		delete(m.records[c], id)
		return store.Deleted
	case had && old.body == string(in.Data):
		return store.Unchanged
	}
	m.stored++
	r := modelRecord{emittedAt: in.EmittedAt, stored: m.stored, body: string(in.Data)}
	if err := json.Unmarshal(in.Data, &r.fields); err != nil {
		m.w.Fatalf("test data: %v", err)
	}
	m.records[c][id] = r
	return store.Stored
}

func someLine(t *rapid.T) store.Input {
	id := pick(t, "id", someIDs)
	n := rapid.IntRange(0, 5).Draw(t, "emitted")
	if rapid.IntRange(0, 4).Draw(t, "delete") == 0 {
		return drop(id, n)
	}
	var parts []string
	if rapid.Bool().Draw(t, "key in data") {
		parts = append(parts, `"id":`+encode(t, id))
	}
	for _, p := range pools {
		if v := pick(t, p.field, p.values); v != "" {
			parts = append(parts, `"`+p.field+`":`+v)
		}
	}
	return put(id, "{"+strings.Join(parts, ",")+"}", n)
}

// someDecl varies everything that decides how records are indexed.
func someDecl(t *rapid.T) decl {
	d := entries()
	if f := pick(t, "variant", []string{"", "amount integer", "seen_at string", "due string date-time", "extra string", "posted_at string date"}); f != "" {
		d = d.with(f)
	}
	if f := pick(t, "dropped", []string{"", "", "memo", "seen_at", "paid"}); f != "" {
		d = d.without(f)
	}
	d.cursor = pick(t, "cursor", []string{"posted_at", "amount", "", "due"})
	d.consent = pick(t, "consent", []string{"due", "posted_at", ""})
	d.ranges = pick(t, "ranges", [][]string{d.ranges, {"posted_at", "pieces"}, nil})
	d.lexical = pick(t, "lexical", [][]string{d.lexical, d.lexical, d.lexical[:1], nil})
	return d
}

// Question draws a query for the current manifest.
func (m *Model) Question(t *rapid.T) Question {
	m.w.tb = t
	s := m.w.stream("entries")
	q := Question{List: query.List{
		Subject: m.w.subject, Limit: rapid.IntRange(1, 7).Draw(t, "limit"),
		Order: query.Order{By: pick(t, "by", []query.OrderBy{query.ByID, query.ByCursor, query.ByEmitted}), Desc: rapid.Bool().Draw(t, "desc")},
	}}
	m.drawSources(t, s, &q)
	return q
}

// drawSources draws bindings of a stream, and what of them is visible and wanted.
func (m *Model) drawSources(t *rapid.T, s *pdpp.Stream, q *Question) {
	var where []query.Condition
	for range rapid.IntRange(0, 3).Draw(t, "conditions") {
		if c, ok := someCond(t, s); ok {
			q.conds = append(q.conds, c)
			where = append(where, m.w.where(s, c.field, c.op, c.operand))
		}
	}
	if rapid.IntRange(0, 2).Draw(t, "timed") == 0 {
		q.time = someTime(t)
	}
	var resources []pdpp.RecordID
	if rapid.IntRange(0, 4).Draw(t, "listed") == 0 {
		for _, id := range rapid.SliceOfN(rapid.SampledFrom(someIDs), 1, 5).Draw(t, "resources") {
			resources = append(resources, pdpp.RecordID(id))
		}
	}
	for _, c := range pick(t, "sources", [][]pdpp.ConnectionID{{connA}, {connB}, {connA, connB}, {connB, connA}}) {
		q.List.Sources = append(q.List.Sources, query.Source{Connection: c, Stream: s, Time: q.time, Resources: resources, Where: where})
	}
}

func someTime(t *rapid.T) *pdpp.TimeConstraint {
	c := &pdpp.TimeConstraint{Field: pick(t, "time field", []string{"due", "posted_at", "seen_at", "gone"})}
	bounds := []time.Time{{}, day(1, 1), day(1, 1).Add(time.Second / 2), day(1, 2)}
	c.Since = pick(t, "since", bounds[:3])
	c.Until = pick(t, "until", bounds)
	if c.Since.IsZero() && c.Until.IsZero() {
		c.Since = bounds[1]
	}
	return c
}

func someCond(t *rapid.T, s *pdpp.Stream) (cond, bool) {
	f := pick(t, "field", s.Fields)
	c := cond{field: f.Name, op: pdpp.OpEq}
	switch {
	case f.Kind == pdpp.KindNone || f.Name == "parent":
		return c, false
	case f.Name == "id":
		c.operand = pick(t, "operand", someIDs)
	case f.Kind == pdpp.KindString:
		c.operand = pick(t, "operand", textOperands)
	case f.Kind == pdpp.KindBoolean:
		c.operand = pick(t, "operand", []string{"true", "false"})
	case f.Kind == pdpp.KindInteger:
		c.operand = pick(t, "operand", []string{"0", "-1", "12", "13"})
	case f.Kind == pdpp.KindNumber:
		c.operand = pick(t, "operand", amountOperands)
	default:
		c.operand = pick(t, "operand", timeOperands)
	}
	if ops := s.RangeOps(f.Name); ops != nil {
		c.op = pick(t, "op", append([]pdpp.Op{pdpp.OpEq}, ops...))
	}
	return c, true
}
