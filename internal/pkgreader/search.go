package pkgreader

import (
	"context"
	"slices"
	"strconv"

	"pdpp"
	"pdpp/internal/rsclient"
)

// Search searches all members and merges their hits by rank, or, with a connection_id,
// searches one member (H-90).
func (p *Package) Search(ctx context.Context, mode string, q rsclient.Query, want rsclient.Prefer) (*rsclient.Answer, error) {
	if q.Get("connection_id") != "" {
		return readOne(ctx, p, "", q, func(r rsclient.Reader) (*rsclient.Answer, error) { return r.Search(ctx, mode, q, want) })
	}
	s, err := p.begin(ctx, mode, q, want)
	if err != nil {
		return nil, err
	}
	// Queries are made here, because a call that still runs when ask returns must not see
	// changed positions.
	members, queries := make([]*Member, len(s.positions)), make([]rsclient.Query, len(s.positions))
	for i, l := range s.positions {
		members[i], queries[i] = l.Member, s.queryFor(l)
	}
	fetch := rsclient.Prefer{HitPreview: want.HitPreview, PageBytes: s.fetch.bytes}
	outcomes, err := ask(ctx, p, members, func(ctx context.Context, i int) (page rsclient.Page, err error) {
		answer, err := members[i].Reader.Search(ctx, mode, queries[i], fetch)
		if err != nil {
			return page, err
		}
		return rsclient.PageOf(answer.Body), nil
	})
	if err != nil {
		return nil, err
	}
	if err := s.receive(ctx, outcomes); err != nil {
		return nil, err
	}
	return &rsclient.Answer{
		Body: s.merge(), RequestID: p.requestID(ctx), Applied: rsclient.Prefer{HitPreview: want.HitPreview, PageBytes: s.page.bytes},
	}, nil
}

// size is the maximum size of a page.
type size struct {
	hits  int
	bytes int // of the list; 0 if there is no limit
}

// search builds one page of a package search.
type search struct {
	*Package
	mode    string
	query   rsclient.Query // without the parameters that differ between members
	streams []string       // of the request; nil for all
	limit   string         // of the members' requests
	page    size           // of this page
	fetch   size           // of the members' pages; the same on all pages of a search
	resumed bool           // it continues a cursor

	positions []*position // of the members that are still searched, in their order
	absent    []absence   // members that failed, on this page or an earlier one
	granting  int         // number of usable members that grant a requested stream
	called    int
}

// begin determines which members to call, and for which of their pages.
func (p *Package) begin(ctx context.Context, mode string, q rsclient.Query, want rsclient.Prefer) (*search, error) {
	s := &search{
		Package: p, mode: mode, query: q.Without("streams", "limit", "cursor"), streams: q.All("streams"),
		limit: strconv.Itoa(pdpp.DefaultPage), page: size{hits: pdpp.DefaultPage},
	}
	if given := q.Get("limit"); given != "" {
		s.limit = given // the members refuse an invalid one
		if n, err := strconv.Atoi(given); err == nil {
			s.page.hits = max(1, min(n, pdpp.MaxPage))
		}
	}
	if want.PageBytes >= pdpp.MinPageBytes && want.PageBytes <= pdpp.MaxPageBytes {
		s.page.bytes = want.PageBytes
	}
	s.fetch = s.page
	usable := p.usable()
	if len(usable) == 0 {
		return nil, p.empty(ctx)
	}
	for _, m := range usable {
		if s.streams == nil || len(s.streamsOf(m)) > 0 {
			s.positions = append(s.positions, &position{Member: m})
		}
	}
	if len(s.positions) == 0 {
		return nil, p.notGranted(ctx, "streams", s.streams...)
	}
	s.granting = len(s.positions)
	if cursor := q.Get("cursor"); cursor != "" {
		return s, s.resume(ctx, cursor)
	}
	return s, nil
}

// notGranted returns the error of a read of streams that no member grants.
func (p *Package) notGranted(ctx context.Context, param string, streams ...string) error {
	message := "None of these streams is granted by a source of this package. The schema lists the granted streams."
	if len(streams) == 1 {
		message = "Stream " + strconv.Quote(streams[0]) + " is not granted by any source of this package. The schema lists the granted streams."
	}
	e := p.withUnavailable(p.refuse(ctx, refusal{code: pdpp.CodeStreamNotAllowed, param: param, message: message}))
	return with(e, "next_step", quoted("Ask the owner to approve this stream, or read one that is granted."))
}

// streamsOf returns the requested streams that a member grants, each once.
func (s *search) streamsOf(m *Member) []string {
	var names []string
	for _, name := range s.streams {
		if m.grants(name) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// ungranted returns the requested streams that no usable member grants, each once.
func (s *search) ungranted() []string {
	var names []string
	usable := s.usable()
	for _, name := range s.streams {
		isGranted := slices.ContainsFunc(usable, func(m *Member) bool { return m.grants(name) })
		if !isGranted && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

// queryFor returns the query for a member: its own streams, at its own position.
func (s *search) queryFor(l *position) rsclient.Query {
	q := s.query.Without()
	q.Each("streams", s.streamsOf(l.Member))
	q.Set("limit", s.limit)
	q.Set("cursor", l.cursor)
	return q
}

// receive stores the pages of the members that answered; the others leave the search.
func (s *search) receive(ctx context.Context, outcomes []outcome[rsclient.Page]) error {
	for i, o := range outcomes {
		if o.failure != nil && s.positions[i].cursor != "" && isStale(o.failure.Code) {
			return s.expired(ctx)
		}
	}
	if e := firstFailure(s.Package, outcomes); e != nil {
		return e
	}
	var answered []*position
	for i, o := range outcomes {
		if o.called {
			s.called++
		}
		if o.failure != nil {
			s.absent = append(s.absent, absent(s.positions[i].Member, o.failure))
			continue
		}
		s.positions[i].take(o.answer, s.hasPages())
		answered = append(answered, s.positions[i])
	}
	s.positions = answered
	return nil
}

// isStale reports whether a code means that a member refuses its own cursor.
func isStale(code pdpp.Code) bool {
	return code == pdpp.CodeCursorExpired || code == pdpp.CodeInvalidCursor
}

// hasPages reports whether this search mode has cursors.
func (s *search) hasPages() bool { return s.mode != "hybrid" }
