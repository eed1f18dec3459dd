package sqlread

import (
	"slices"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// matchCursor reads the matches of one source, newest first.
type matchCursor struct {
	search *sqlgen.Search
	rows   Rows
	fields []int64 // numbers of the searchable fields
	hashes []uint64
	cur    store.Match
}

// Search implements store.Searcher.
func (r *Reader) Search(q query.Search, visit func(*store.Match) (bool, error)) error {
	var cursors []*matchCursor
	for i, src := range q.Sources {
		c, err := r.matchCursor(q, src)
		if err != nil {
			closeAll(cursors)
			return err
		}
		if c != nil {
			c.cur.Source = i
			cursors = append(cursors, c)
		}
	}
	newer := func(a, b *matchCursor) bool { return a.cur.Ref > b.cur.Ref }
	_, err := merge(cursors, newer, func(c *matchCursor) (bool, error) { return visit(&c.cur) })
	return err
}

// matchCursor starts the search of a source; nil when it cannot have a match.
func (r *Reader) matchCursor(q query.Search, src query.SearchSource) (*matchCursor, error) {
	s, ok, err := r.Source(q.Subject, src.Source)
	if err != nil || !ok {
		return nil, err
	}
	compiled, err := sqlgen.CompileSearch(r.dialect, s, r.conn.Probe)
	if err != nil || compiled.Empty() {
		return nil, err
	}
	c := &matchCursor{search: compiled, cur: store.Match{Times: make([]int, len(q.Terms))}}
	for _, field := range src.Fields {
		c.fields = append(c.fields, s.FieldID(field))
	}
	groups := make([][]string, len(q.Terms))
	for i, term := range q.Terms {
		c.hashes = append(c.hashes, store.TermHash([]byte(term)))
		for _, number := range c.fields {
			groups[i] = append(groups[i], store.TermToken(number, term))
		}
	}
	c.rows, err = r.conn.Query(compiled.Statement(groups, q.Oldest))
	return c, err
}

func (c *matchCursor) next() (bool, error) {
	for {
		row, err := c.rows.Step()
		if err != nil || !row {
			return false, err
		}
		length, all := store.TermCounts(c.rows.Bytes(4)).Tally(c.fields, c.hashes, c.cur.Times)
		if !all || c.search.ReadsAll && !c.search.Verify(c.rows.Bytes(3)) {
			continue
		}
		readRecord(&c.cur.Record, c.rows, c.cur.Source)
		if len(c.cur.Body) > store.ShortBody || len(c.cur.Body) == 0 {
			c.cur.Body = nil
		}
		c.cur.Length = length
		return true, nil
	}
}

func (c *matchCursor) close() { c.rows.Close() }

// Matched implements store.Searcher.
func (r *Reader) Matched(q query.Search, rec *store.Record) ([]bool, error) {
	src := q.Sources[rec.Source]
	matched := make([]bool, len(src.Fields))
	s, ok, err := r.Source(q.Subject, src.Source)
	if err != nil || !ok {
		return matched, err
	}
	err = r.first(sqlgen.TermCounts(r.dialect, rec.Ref), func(rows Rows) error {
		for counts := range store.TermCounts(rows.Bytes(0)).Fields {
			i := slices.IndexFunc(src.Fields, func(f *pdpp.Field) bool { return s.FieldID(f) == counts.Field })
			if i >= 0 {
				matched[i] = slices.ContainsFunc(q.Terms, func(term string) bool { return counts.Times(store.TermHash([]byte(term))) > 0 })
			}
		}
		return nil
	})
	return matched, err
}

// Rebuilding implements store.Searcher.
func (r *Reader) Rebuilding() (bool, error) {
	all, err := r.conn.Stale()
	return len(all) > 0, err
}

// Incomplete implements store.Searcher.
func (r *Reader) Incomplete(q query.Search) (bool, error) {
	if rebuilding, err := r.Rebuilding(); err != nil || !rebuilding {
		return false, err
	}
	for _, src := range q.Sources {
		s, ok, err := r.Source(q.Subject, src.Source)
		if err != nil {
			return false, err
		}
		stale := func(f *pdpp.Field) bool { return s.Stale.HasWords(f.Name) }
		if ok && slices.ContainsFunc(src.Fields, stale) {
			return true, nil
		}
	}
	return false, nil
}
