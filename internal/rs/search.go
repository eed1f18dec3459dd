package rs

import (
	"encoding/binary"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// Bounds of ranking.
const (
	maxCandidates = 10_000 // the newest matches, which the first page ranks
	maxContinued  = 20_000 // matches; if there are more, a later page fails
)

// search answers GET /v1/search.
func search(q *request) error {
	streams, err := q.params.SearchStreams()
	if err != nil {
		return err
	}
	rows, err := q.searchRows(streams)
	if err != nil {
		return err
	}
	w, err := q.params.Search(streams)
	if err != nil {
		return err
	}
	plan, err := q.plan(rows, readParams{filters: w.Filters})
	if err != nil {
		return err
	}
	q.prefs = query.SearchPreferences.Parse(q.http.Header["Prefer"])
	s := searcher{
		request: q, plan: plan, limit: w.Limit.N,
		search: query.Search{Subject: q.reach.Subject, Terms: w.Terms},
		scope:  query.ScopeOf(q.reach.Subject, q.reach.GrantID, q.path(), "", q.params),
		hits:   newHitWriter(w.Terms),
	}
	if err := s.resume(w.Cursor); err != nil {
		return err
	}
	q.warnings.limitClamped(w.Limit)
	return s.answer()
}

// searchRows returns the rows of the named streams, or of all.
func (q *request) searchRows(streams []string) ([]grant.Row, error) {
	if streams == nil {
		return q.allRows()
	}
	var rows []grant.Row
	for _, name := range streams {
		found, err := q.streamRows(name)
		if err != nil {
			return nil, err
		}
		rows = append(rows, found...)
	}
	if len(streams) > 1 {
		q.tally.Key.Stream = ""
	}
	return rows, nil
}

// searcher is one search in progress.
type searcher struct {
	*request
	plan   *plan
	limit  int
	search query.Search
	shapes []*shape // by index in search.Sources
	hits   hitWriter
	scope  query.Scope
	after  *place // nil for the first page

	ranked int
	cut    bool // older matches are not ranked

	partial bool   // records may be missing, because the search index is being rebuilt
	oldest  *int64 // the store's number of the oldest candidate, when cut
}

func (s *searcher) answer() error {
	s.chooseSources()
	hits, err := s.rank()
	if err != nil {
		return err
	}
	if s.partial, err = s.view.Incomplete(s.search); err != nil {
		return err
	}
	if s.partial {
		s.warnings.rebuilding()
	}
	end, err := s.writePage(hits)
	if err != nil {
		return err
	}
	end.count, end.meta = s.count(), s.recall()
	s.closeList(end, nil)
	return nil
}

// chooseSources skips sources without a searchable field.
func (s *searcher) chooseSources() {
	for i, shape := range s.plan.shapes {
		fields := s.searchable(shape.row)
		if len(fields) == 0 {
			s.warnings.unsearchable(shape.row.Manifest.ConnectorKey, shape.row.Stream.Name)
			continue
		}
		s.search.Sources = append(s.search.Sources, query.SearchSource{Source: s.plan.sources[i], Fields: fields})
		s.shapes = append(s.shapes, shape)
	}
}

// searchable returns the declared search fields that are granted, in declared order.
func (q *request) searchable(row grant.Row) []*pdpp.Field {
	type key struct{ access *grant.Access }
	return auth.Derive(q.reach, key{row.Access}, func() (fields []*pdpp.Field) {
		for _, name := range row.Stream.LexicalFields {
			if row.Access.Granted(name) {
				fields = append(fields, row.Stream.Field(name))
			}
		}
		return fields
	})
}

// rank ranks the newest candidates and returns the best hits: one more than a page has,
// to know whether there is a next page.
func (s *searcher) rank() ([]hit, error) {
	limit := maxCandidates
	if s.after != nil {
		limit = maxContinued
	}
	best := newRanking(s.after, s.limit+1)
	last := int64(0)
	err := s.view.Search(s.search, func(m *store.Match) (bool, error) {
		if s.ranked == limit {
			s.cut = true
			return false, nil
		}
		if err := s.ctx.Err(); err != nil { // the store need not check it between matches
			return false, err
		}
		s.ranked++
		last = m.Number()
		best.add(m, s.shapes[m.Source])
		return true, nil
	})
	switch {
	case err != nil:
		return nil, err
	case s.cut && s.after != nil:
		return nil, query.LexicalPages.Expired()
	case s.cut:
		s.oldest = &last
	case s.search.Oldest != nil:
		s.cut, s.oldest = true, s.search.Oldest
	}
	return best.best(), nil
}

func (s *searcher) writePage(hits []hit) (page, error) {
	s.body.Literal(`{"object":"list","data":[`)
	start := len(s.body) - 1
	for i := range hits {
		before := len(s.body)
		if i == s.limit {
			return s.continued(hits[i-1]), nil
		}
		if err := s.writeHit(&hits[i]); err != nil {
			return page{}, err
		}
		if i > 0 && len(s.body)-start+1 > s.pageBytes() {
			s.body = s.body[:before]
			s.warnings.pageLimited(s.pageBytes(), i, s.limit, s.prefs.PageBytes != 0)
			return s.continued(hits[i-1]), nil
		}
		s.tally.Add(hits[i].stream, 1)
	}
	return page{}, nil
}

// count returns the number of matches, as far as they were counted.
func (s *searcher) count() count {
	switch {
	case len(s.search.Sources) == 0:
		return notCounted
	case s.cut || s.partial:
		return count{kind: "lower_bound", value: int64(s.ranked)}
	}
	return count{kind: "exact", value: int64(s.ranked)}
}

// recall returns the members count_accuracy and recall of meta, which say how many of the
// matches were ranked.
func (s *searcher) recall() []byte {
	accuracy, scope := s.count().kind, "all_matches"
	switch {
	case len(s.search.Sources) == 0:
		accuracy, scope = "not_counted", "unknown"
	case s.cut:
		scope = "candidate_window"
	}
	w := make(rawjson.Writer, 0, 256)
	w.Text("count_accuracy", accuracy)
	w.OpenObject("recall")
	w.Flag("complete", !s.cut && !s.partial)
	w.Text("ranking_scope", scope)
	w.Flag("truncated", s.cut)
	w.Number("ranked_candidate_count", s.ranked)
	if s.cut {
		w.Number("candidate_window_limit", maxCandidates)
	}
	w.Number("sources_searched_count", len(s.search.Sources))
	w.End("}")
	return w
}

// continued returns a page with a cursor. The cursor contains the place of the last hit and,
// encrypted, the oldest candidate.
func (s *searcher) continued(last hit) page {
	b := binary.BigEndian.AppendUint64(nil, uint64(last.score))
	b = binary.BigEndian.AppendUint64(b, uint64(last.emitted))
	if s.oldest == nil {
		b = append(b, 0)
	} else {
		b = s.server.Cursors.Hide(append(b, 1), *s.oldest)
	}
	for _, text := range []string{string(last.connection), last.stream, last.id} {
		b = append(binary.AppendUvarint(b, uint64(len(text))), text...)
	}
	return page{hasMore: true, cursor: s.server.Cursors.Seal(query.LexicalPages, s.scope, b, s.now)}
}

// resume parses the cursor, if there is one.
func (s *searcher) resume(cursor string) error {
	if cursor == "" {
		return nil
	}
	b, err := s.server.Cursors.Open(query.LexicalPages, s.scope, cursor, s.now)
	if err != nil {
		return err
	}
	if len(b) < 17 {
		return query.LexicalPages.Invalid()
	}
	p := &place{score: int64(binary.BigEndian.Uint64(b)), emitted: int64(binary.BigEndian.Uint64(b[8:]))}
	hidden, b := b[16] == 1, b[17:]
	if hidden {
		oldest, ok := s.server.Cursors.Reveal(b[:min(len(b), query.HiddenSize)])
		if !ok {
			return query.LexicalPages.Invalid()
		}
		s.search.Oldest = &oldest
		b = b[query.HiddenSize:]
	}
	var texts []string
	for len(b) > 0 {
		n, size := binary.Uvarint(b)
		if size <= 0 || n > uint64(len(b)-size) {
			return query.LexicalPages.Invalid()
		}
		texts, b = append(texts, string(b[size:size+int(n)])), b[size+int(n):]
	}
	if len(texts) != 3 {
		return query.LexicalPages.Invalid()
	}
	p.connection, p.stream, p.id = pdpp.ConnectionID(texts[0]), texts[1], texts[2]
	s.after = p
	return nil
}
