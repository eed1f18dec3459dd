package sqlgen

import (
	"strconv"

	"pdpp/internal/query"
	"pdpp/internal/store"
)

// Search is a compiled source of a search.
type Search struct {
	*Query
	// Walks says that all visible records are read, and that the caller looks for
	// the terms in their counts.
	Walks bool
}

// shortBody is the body of a match that is not long: thousands of matches may be
// looked at for a page.
var shortBody = "CASE WHEN length(r.body) <= " + strconv.Itoa(store.ShortBody) + " THEN r.body END"

// CompileSearch chooses the way to the visible records with all terms. Usually that
// is the index of terms. Where a grant narrows the records, that index would also
// be searched for those outside, and take its time for them: up to Gather visible
// records are therefore read instead (REC-30).
func CompileSearch(d Dialect, src Source, probe func(Statement) (int64, error)) (*Search, error) {
	q := &Query{d: d, src: src, terms: analyze(src.Source, src.FieldID), driver: walkOrder, walk: query.ByCursor}
	s := &Search{Query: q}
	switch {
	case q.terms.none:
		return s, nil
	case q.terms.hasID: // one record
		s.Walks = true
		return s, nil
	case q.terms.resources != nil:
		q.driver = byResources
		s.Walks = len(q.terms.resources) <= Gather
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
	s.Walks = n <= Gather
	return s, err
}

// Statement selects record, id, emitted_at, body and term_counts, newest first. The
// groups are the terms that a record has at least one of each; a walk does not look
// at them.
func (s *Search) Statement(groups [][]string, oldest *int64) Statement {
	b := builder{d: s.d}
	if s.Walks {
		s.walkAll(&b, oldest)
	} else {
		s.byWords(&b, groups, oldest)
	}
	return b.statement()
}

func (s *Search) walkAll(b *builder, oldest *int64) {
	body := shortBody
	if s.Partial() {
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

// byWords looks up the terms, together with the values that are terms themselves.
func (s *Search) byWords(b *builder, groups [][]string, oldest *int64) {
	for _, span := range s.terms.spans {
		if span.token {
			groups = append(groups, []string{store.ValueToken(span.number, span.eq)})
		}
	}
	from, where, record, arg := s.d.Words(groups)
	// The order of the tables is not left to the planner: it knows nothing about terms.
	b.add(`SELECT r.record, r.id, r.emitted_at, ` + shortBody + `, r.term_counts FROM ` + from + ` CROSS JOIN records r ON r.record = ` + record)
	b.add(` WHERE `+where+` AND r.subject = ? AND r.binding = ?`, arg, s.src.Subject, s.src.Binding)
	if oldest != nil {
		b.add(` AND `+record+` >= ?`, *oldest)
	}
	s.terms.order.where(b, "r.order_key")
	undriven := *s.Query
	undriven.driver = walkOrder // the spans are all still to be tested
	undriven.residual(b)
	b.add(` ORDER BY ` + record + ` DESC`)
}
