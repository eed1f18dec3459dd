package sqlgen

import (
	"strconv"

	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Search is a compiled source of a search.
type Search struct {
	*Query
	// ReadsAll reports that the statement selects all visible records. The caller
	// looks for the terms in their counts.
	ReadsAll bool
}

// shortBody is the body unless it is long: a page may read thousands of matches.
var shortBody = "CASE WHEN length(r.body) <= " + strconv.Itoa(store.ShortBody) + " THEN r.body END"

// CompileSearch chooses the plan for the visible records with all terms. Usually that
// is the index of terms. Where a grant narrows the records, the index would also find
// records outside, and the time of an answer would reveal them: then up to Gather
// visible records are read instead (REC-30).
func CompileSearch(d Dialect, src Source, probe func(Statement) (int64, error)) (*Search, error) {
	q := &Query{d: d, src: src, conds: analyze(src.Source, src.FieldID), driver: walkOrder, walk: query.ByCursor}
	s := &Search{Query: q}
	switch {
	case q.conds.none:
		return s, nil
	case q.conds.hasID: // one record
		s.ReadsAll = true
		return s, nil
	case q.conds.resources != nil:
		q.driver = byResources
		s.ReadsAll = len(q.conds.resources) <= Gather
		return s, nil
	case src.Time == nil:
		return s, nil
	}
	q.bounded(query.ByCursor)
	b := builder{d: d}
	b.add(`SELECT count(*) FROM (SELECT 1 FROM `)
	q.from(&b)
	q.lookup(&b, query.Order{By: query.ByCursor}, Segment{}, nil)
	b.add(` LIMIT ?) n`, Gather+1)
	n, err := probe(b.statement())
	s.ReadsAll = n <= Gather
	return s, err
}

// Statement selects record, id, emitted_at, body and term_counts, newest first. A
// record matches when it has at least one term of every group; ReadsAll ignores them.
func (s *Search) Statement(groups [][]string, oldest *int64) Statement {
	b := builder{d: s.d}
	if s.ReadsAll {
		s.walkAll(&b, oldest)
	} else {
		s.byWords(&b, groups, oldest)
	}
	return b.statement()
}

func (s *Search) walkAll(b *builder, oldest *int64) {
	body := shortBody
	if s.NeedsVerify() {
		body = "r.body"
	}
	b.add(`SELECT r.record, r.id, r.emitted_at, ` + body + `, r.term_counts FROM `)
	s.from(b)
	s.where(b, query.Order{By: query.ByCursor}, Segment{}, nil)
	if oldest != nil {
		b.add(` AND r.record >= ?`, *oldest)
	}
	b.add(` ORDER BY r.record DESC`)
}

// byWords looks up the terms, together with the values that are indexed as terms.
func (s *Search) byWords(b *builder, groups [][]string, oldest *int64) {
	for _, span := range s.conds.spans {
		if span.token {
			groups = append(groups, []string{store.ValueToken(span.number, span.eq)})
		}
	}
	j, arg := s.d.Words(groups)
	// CROSS JOIN keeps the order of the tables: SQLite's planner knows nothing about terms.
	b.add(`SELECT r.record, r.id, r.emitted_at, ` + shortBody + `, r.term_counts FROM ` + j.From + ` CROSS JOIN records r WHERE r.record = ` + j.Record)
	b.add(` AND `+j.Where+` AND r.subject = ? AND r.binding = ?`, arg, s.src.Subject, s.src.Binding)
	if oldest != nil {
		b.add(` AND `+j.Record+` >= ?`, *oldest)
	}
	s.conds.order.where(b, "r.order_key")
	undriven := *s.Query
	undriven.driver = walkOrder // the spans are all still to be tested
	undriven.residual(b)
	b.add(` ORDER BY ` + j.Record + ` DESC`)
}
