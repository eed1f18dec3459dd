package sqlite

import (
	"slices"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlite/engine"
)

// finder reads the matches of one source, newest first.
type finder struct {
	way    *sqlgen.Search
	stmt   *engine.Stmt
	fields []int64 // numbers of the searchable fields
	hashes []uint64
	cur    store.Match
}

// Search implements store.Searcher: the sources are walked side by side, newest
// record first.
func (t *tx) Search(q query.Search, visit func(*store.Match) (bool, error)) error {
	var live []*finder
	defer func() {
		for _, f := range live {
			f.stmt.Close()
		}
	}()
	for i, src := range q.Sources {
		f, err := t.finder(q, src)
		if err != nil {
			return err
		}
		if f == nil {
			continue
		}
		live = append(live, f)
		f.cur.Source = i
		if err := advance(&live, len(live)-1); err != nil {
			return err
		}
	}
	for len(live) > 0 {
		newest := 0
		for i := range live {
			if live[i].cur.Ref > live[newest].cur.Ref {
				newest = i
			}
		}
		taken, err := visit(&live[newest].cur)
		if err != nil || !taken {
			return err
		}
		if err := advance(&live, newest); err != nil {
			return err
		}
	}
	return nil
}

// advance moves one finder on, and drops it when it has no more matches.
func advance(live *[]*finder, i int) error {
	f := (*live)[i]
	ok, err := f.next()
	if err != nil || ok {
		return err
	}
	f.stmt.Close()
	*live = append((*live)[:i], (*live)[i+1:]...)
	return nil
}

// finder starts the search of a source; nil when it cannot have a match.
func (t *tx) finder(q query.Search, src query.SearchSource) (*finder, error) {
	s, ok, err := t.source(q.Subject, src.Source)
	if err != nil || !ok {
		return nil, err
	}
	way, err := sqlgen.CompileSearch(dialect{}, s, func(p sqlgen.Statement) (int64, error) {
		return queryInt(t.conn, p.SQL, p.Args...)
	})
	if err != nil || way.Empty() {
		return nil, err
	}
	return t.find(q, src, s, way)
}

// find starts the search of a source that goes a compiled way.
func (t *tx) find(q query.Search, src query.SearchSource, s sqlgen.Source, way *sqlgen.Search) (f *finder, err error) {
	f = &finder{way: way, cur: store.Match{Times: make([]int, len(q.Terms))}}
	for _, field := range src.Fields {
		f.fields = append(f.fields, s.FieldID(field))
	}
	groups := make([][]string, len(q.Terms))
	for i, term := range q.Terms {
		f.hashes = append(f.hashes, store.TermHash([]byte(term)))
		for _, number := range f.fields {
			groups[i] = append(groups[i], store.TermToken(number, term))
		}
	}
	text := way.Statement(groups, q.Oldest)
	f.stmt, err = t.conn.Query(text.SQL, text.Args...)
	if err != nil {
		return nil, err
	}
	return f, nil
}

// next reads the next match; false when there is none.
func (f *finder) next() (bool, error) {
	for {
		row, err := f.stmt.Step()
		if err != nil || !row {
			return false, err
		}
		length, all := store.TermCounts(f.stmt.Bytes(4)).Tally(f.fields, f.hashes, f.cur.Times)
		if !all || f.way.Walks && !f.way.Verify(f.stmt.Bytes(3)) {
			continue
		}
		readRecord(&f.cur.Record, f.stmt, f.cur.Source)
		if len(f.cur.Body) > store.ShortBody || len(f.cur.Body) == 0 {
			f.cur.Body = nil
		}
		f.cur.Length = length
		return true, nil
	}
}

// Matched implements store.Searcher.
func (t *tx) Matched(q query.Search, r *store.Record) ([]bool, error) {
	src := q.Sources[r.Source]
	matched := make([]bool, len(src.Fields))
	s, ok, err := t.source(q.Subject, src.Source)
	if err != nil || !ok {
		return matched, err
	}
	stmt, err := t.conn.Query(`SELECT term_counts FROM records WHERE record = ?`, int64(r.Ref))
	if err != nil {
		return matched, err
	}
	defer stmt.Close()
	row, err := stmt.Step()
	if err != nil || !row {
		return matched, err
	}
	for counts := range store.TermCounts(stmt.Bytes(0)).Fields {
		i := slices.IndexFunc(src.Fields, func(f *pdpp.Field) bool { return s.FieldID(f) == counts.Field })
		if i >= 0 {
			matched[i] = slices.ContainsFunc(q.Terms, func(term string) bool { return counts.Times(store.TermHash([]byte(term))) > 0 })
		}
	}
	return matched, nil
}
