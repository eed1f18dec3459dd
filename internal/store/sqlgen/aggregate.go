package sqlgen

import (
	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// ForAggregate compiles a source whose records are all read, in any order. ids
// says that their ids are wanted.
//
// Under a grant's time range the way is the one of lists, and so it is to few
// records. Otherwise the entries of a condition are less than the records, however
// many they are: best those of a token, which nothing else can test but the body.
func ForAggregate(d Dialect, src Source, ids bool, probe func(Statement) (int64, error)) (*Query, error) {
	q, err := Compile(d, src, query.ByCursor, probe)
	if err != nil {
		return nil, err
	}
	if q.sorted && src.Time == nil && !q.terms.hasID {
		for i, s := range q.terms.spans {
			if q.driver == walkOrder || s.token {
				q.driver, q.sorted = i, false
			}
		}
	}
	q.lean = !ids && q.driver >= 0 && !q.terms.spans[q.driver].token && !q.Partial()
	return q, nil
}

// Entries are the index entries of a field of a source that has conditions on this
// field alone, if any; false when it has others.
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
	return &Query{d: d, src: src, terms: terms{spans: []span{s}}, lean: true}, true
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

// First selects the least value of Entries from lo on, and Last the greatest below
// hi; nil for no bound.
func (q *Query) First(lo []byte) Statement { return q.extreme(lo, nil, "") }

// Last is described with First.
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
	s := q.terms.spans[0]
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

// Pairs says what of each record an aggregate needs.
type Pairs struct {
	Group    *pdpp.Field // nil: not grouped
	Metric   *pdpp.Field // nil: a count
	IDs      bool        // the least id
	ByMetric bool        // in the order of metric and group, instead of group and metric
	NoGroup  bool        // only of records without a value in Group
}

// Pairs selects the values of two fields in ascending order, none first: group,
// metric, how many records have both, their least id, and a record. When the query
// is Partial, each row is one record, to be verified.
func (q *Query) Pairs(p Pairs) Statement {
	b := builder{d: q.d}
	group, metric := q.column(p.Group, "g"), q.column(p.Metric, "m")
	first, second := group, metric
	if p.ByMetric {
		first, second = metric, group
	}
	b.add(`SELECT ` + group + `, ` + metric + q.counted(p.IDs) + ` FROM `)
	q.from(&b)
	q.join(&b, p.Group, group, "g")
	q.join(&b, p.Metric, metric, "m")
	q.where(&b, query.Order{By: query.ByCursor}, Segment{}, nil)
	if p.NoGroup {
		b.add(` AND ` + group + ` IS NULL`)
	}
	if !q.Partial() {
		b.add(` GROUP BY ` + first + `, ` + second)
	}
	b.add(` ORDER BY ` + first + ` NULLS FIRST, ` + second + ` NULLS FIRST`)
	return b.statement()
}

// counted is the columns of Pairs that say of how many records a row is.
func (q *Query) counted(ids bool) string {
	switch {
	case q.Partial() && ids:
		return `, 1, r.id, ` + q.record()
	case q.Partial():
		return `, 1, NULL, ` + q.record()
	case ids:
		return `, count(*), min(r.id), NULL`
	}
	return `, count(*), NULL, NULL`
}

// column is where Pairs reads a field: from the entries that lead to the records,
// or from the values kept with them.
func (q *Query) column(f *pdpp.Field, alias string) string {
	switch {
	case f == nil:
		return "NULL"
	case q.driver >= 0 && !q.terms.spans[q.driver].token && q.terms.spans[q.driver].field.Name == f.Name:
		return "i.value"
	}
	return alias + ".value"
}

func (q *Query) join(b *builder, f *pdpp.Field, column, alias string) {
	if column == alias+".value" {
		b.add(` LEFT JOIN field_values `+alias+` ON `+alias+`.record = `+q.record()+` AND `+alias+`.field = ?`, q.src.FieldID(f))
	}
}

// BodyOf selects the body of the record with an id that Pairs gave.
func BodyOf(d Dialect, src Source, id []byte) Statement {
	b := builder{d: d}
	b.add(`SELECT r.body FROM records r WHERE r.subject = ? AND r.binding = ? AND r.id = ?`, src.Subject, src.Binding, string(id))
	return b.statement()
}
