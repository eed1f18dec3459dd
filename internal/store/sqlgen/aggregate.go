package sqlgen

import (
	"strings"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// ForAggregate compiles a source whose records are all read, in any order. ids
// requires their ids.
//
// Under a grant's time range, and for few records, the plan is that of a list.
// Otherwise the entries of a condition drive the query, because they are smaller than
// the records, however many there are. Best are those of a token, since only the body
// could test it.
func ForAggregate(d Dialect, src Source, ids bool, probe func(Statement) (int64, error)) (*Query, error) {
	q, err := Compile(d, src, query.ByCursor, probe)
	if err != nil {
		return nil, err
	}
	if q.sorted && src.Time == nil && !q.conds.hasID {
		for i, s := range q.conds.spans {
			if q.driver == walkOrder || s.token {
				q.driver, q.sorted = i, false
			}
		}
	}
	q.lean = !ids && q.driver >= 0 && !q.conds.spans[q.driver].token && !q.NeedsVerify()
	return q, nil
}

// Entries compiles the index entries of a field of a source; false when the source
// has conditions on other fields.
func Entries(d Dialect, src Source, f *pdpp.Field) (*Query, bool) {
	s := span{field: f, number: src.FieldID(f)}
	if src.Resources != nil || !hasTimes(src.Source) || !store.Indexed(src.Stream, f) {
		return nil, false
	}
	for _, c := range src.Conditions() {
		if c.Field.Name != f.Name || !s.narrow(c) {
			return nil, false
		}
	}
	return &Query{d: d, src: src, conds: conditions{spans: []span{s}}, lean: true}, true
}

// Values selects the values of Entries in ascending order, each with the number of
// its records.
func (q *Query) Values() Statement {
	b := builder{d: q.d}
	b.add(`SELECT i.value, count(*) FROM field_index i`)
	q.entries(&b, nil, nil)
	b.add(` GROUP BY i.value ORDER BY i.value`)
	return b.statement()
}

// Within counts the Entries with a value of at least lo and below hi.
func (q *Query) Within(lo, hi []byte) Statement {
	b := builder{d: q.d}
	b.add(`SELECT count(*) FROM field_index i`)
	q.entries(&b, lo, hi)
	return b.statement()
}

// First selects the least value of Entries that is at least lo, which is nil for no
// bound.
func (q *Query) First(lo []byte) Statement { return q.extreme(lo, nil, "") }

// Last selects the greatest value of Entries below hi, which is nil for no bound.
func (q *Query) Last(hi []byte) Statement { return q.extreme(nil, hi, " DESC") }

func (q *Query) extreme(lo, hi []byte, direction string) Statement {
	b := builder{d: q.d}
	b.add(`SELECT i.value FROM field_index i`)
	q.entries(&b, lo, hi)
	b.add(` ORDER BY i.value` + direction + ` LIMIT 1`)
	return b.statement()
}

// entries writes the conditions of Entries, narrowed further.
func (q *Query) entries(b *builder, lo, hi []byte) {
	s := q.conds.spans[0]
	b.add(` WHERE i.subject = ? AND i.field = ?`, q.src.Subject, s.number)
	if lo != nil {
		s.raise(lo)
	}
	if hi != nil {
		s.lower(hi)
	}
	if s.eq != nil { // it is within the source's own bounds; lo and hi may be others
		b.add(` AND i.value = ?`, s.eq)
		s.eq = nil
	}
	s.where(b, "i.value")
}

// Pairs is what an aggregate needs of each record.
type Pairs struct {
	Group    *pdpp.Field // nil if not grouped
	Metric   *pdpp.Field // nil for a count
	IDs      bool        // the least id
	ByMetric bool        // in the order of metric and group, instead of group and metric
	NoGroup  bool        // only of records without a value in Group
}

// Pairs selects the values of two fields in ascending order, NULL first: group,
// metric, how many records have both, their least id, and a record. When the query
// needs Verify, each row is one record.
func (q *Query) Pairs(p Pairs) Statement {
	b := builder{d: q.d}
	group, metric := q.column(p.Group, "g"), q.column(p.Metric, "m")
	b.add(`SELECT ` + group + `, ` + metric + q.counted(p.IDs) + ` FROM `)
	q.from(&b)
	q.join(&b, p.Group, group, "g")
	q.join(&b, p.Metric, metric, "m")
	q.where(&b, query.Order{By: query.ByCursor}, Segment{}, nil)
	if p.NoGroup {
		b.add(` AND ` + group + ` IS NULL`)
	}
	keys := p.keys(group, metric)
	if !q.NeedsVerify() {
		b.add(` GROUP BY ` + strings.Join(keys, `, `))
	}
	b.add(` ORDER BY ` + strings.Join(keys, ` NULLS FIRST, `) + ` NULLS FIRST`)
	return b.statement()
}

// keys returns the columns to sort by. A missing one is left out, since not every
// database groups by a constant.
func (p Pairs) keys(group, metric string) []string {
	switch {
	case p.Group == nil:
		return []string{metric}
	case p.Metric == nil:
		return []string{group}
	case p.ByMetric:
		return []string{metric, group}
	}
	return []string{group, metric}
}

// counted returns the columns of Pairs that describe the records of a row.
func (q *Query) counted(ids bool) string {
	switch {
	case q.NeedsVerify() && ids:
		return `, 1, r.id, ` + q.record()
	case q.NeedsVerify():
		return `, 1, NULL, ` + q.record()
	case ids:
		return `, count(*), min(r.id), NULL`
	}
	return `, count(*), NULL, NULL`
}

// column returns where Pairs reads a field: from the entries that drive the query, or
// from field_values.
func (q *Query) column(f *pdpp.Field, alias string) string {
	switch {
	case f == nil:
		return "NULL"
	case q.driver >= 0 && !q.conds.spans[q.driver].token && q.conds.spans[q.driver].field.Name == f.Name:
		return "i.value"
	}
	return alias + ".value"
}

func (q *Query) join(b *builder, f *pdpp.Field, column, alias string) {
	if column == alias+".value" {
		b.add(` LEFT JOIN field_values `+alias+` ON `+alias+`.record = `+q.record()+` AND `+alias+`.field = ?`, q.src.FieldID(f))
	}
}

// BodyOf selects the body of the record with an id that Pairs selected.
func BodyOf(d Dialect, src Source, id []byte) Statement {
	return statement(d, `SELECT r.body FROM records r WHERE r.subject = ? AND r.binding = ? AND r.id = ?`, src.Subject, src.Binding, string(id))
}
