package pkgreader

import (
	"strconv"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// merge interleaves the hits of all members by rank and writes the answer (H-90). No
// hit belongs to two members, so the order is the same as with reciprocal rank fusion.
func (s *search) merge() []byte {
	var w warnings
	for _, a := range s.absent {
		w.missing(a)
	}
	for _, name := range s.ungranted() {
		w.notSearched(name)
	}
	for _, l := range s.positions {
		w.repeat(l.page.Warnings)
	}
	count, recall := s.count(), s.recall()
	o := rawjson.Writer(`{"object":"list","data":`)
	o, limited := s.interleave(o)
	if limited {
		w.pageLimited(s.page.bytes, s.shown(), s.page.hits)
	}
	more, cursor := s.next()
	o.Flag("has_more", more)
	o.Optional("next_cursor", cursor)
	if more && cursor == "" && s.hasPages() {
		w.noCursor()
	}
	o.OpenObject("meta")
	o.Member("count", count)
	o.Member("package", s.facts())
	if !s.resumed {
		s.addUnavailable(&o)
	}
	if recall != nil {
		o.Member("recall", recall)
	}
	o.Member("warnings", w.json())
	o.End("}}")
	return o
}

// interleave appends the list of hits: all of the lowest rank, in the order of the
// members, then all of the next rank. limited reports whether the page ended because of
// its size.
func (s *search) interleave(dst []byte) (list []byte, limited bool) {
	start := len(dst)
	dst = append(dst, '[')
	hits := 0
	for {
		rank, ok := s.nextRank()
		if !ok {
			return append(dst, ']'), false
		}
		for _, l := range s.positions {
			switch {
			case l.isOver() || l.rank() != rank:
				continue
			case hits == s.page.hits, l.isUsedUp(): // the page is full, or the next hit of this member is on its next page
				return append(dst, ']'), false
			}
			before := len(dst)
			if hits > 0 {
				dst = append(dst, ',')
			}
			dst = l.appendHit(dst)
			if hits > 0 && s.page.bytes > 0 && len(dst)-start+1 > s.page.bytes {
				l.given--
				return append(dst[:before], ']'), true
			}
			hits++
		}
	}
}

// nextRank returns the lowest rank of all next hits; false if there are none.
func (s *search) nextRank() (rank int, ok bool) {
	for _, l := range s.positions {
		if !l.isOver() && (!ok || l.rank() < rank) {
			rank, ok = l.rank(), true
		}
	}
	return rank, ok
}

// shown returns the number of hits on this page.
func (s *search) shown() int {
	n := 0
	for _, l := range s.positions {
		n += l.given - l.before
	}
	return n
}

// next reports whether there are more hits, and returns the cursor that continues; "" if there
// is none.
func (s *search) next() (more bool, cursor string) {
	readable := false
	for _, l := range s.positions {
		readable = readable || !l.isOver()
		more = more || !l.isOver() || l.more
	}
	if readable && s.hasPages() {
		cursor = s.seal()
	}
	return more, cursor
}

// facts returns the value of meta.package.
func (s *search) facts() []byte {
	o := rawjson.Writer("{")
	o.Number("member_count", len(s.usable()))
	o.Number("queried_count", s.called)
	o.Flag("partial", len(s.absent) > 0)
	o.OpenArray("source_mix")
	for _, l := range s.positions {
		if n := l.given - l.before; n > 0 {
			o.Object()
			o.Optional("connection_id", l.Connection)
			o.Optional("connector_key", l.ConnectorKey)
			o.Optional("display_name", l.DisplayName)
			o.Number("count", n)
			o.End("}")
		}
	}
	o.End("]}")
	return o
}

// count returns the value of meta.count: the sum, if every searched member returned its
// own count. It is as exact as the least exact of them.
func (s *search) count() []byte {
	kind, sum := "exact", 0
	if len(s.positions) < s.granting {
		kind = "none"
	}
	for _, l := range s.positions {
		own := l.count()
		n, err := strconv.Atoi(own.Value)
		switch {
		case own.Kind == "" || err != nil || kind == "none":
			kind = "none"
		case own.Kind != "exact" && kind != "estimated":
			kind = own.Kind
		}
		sum += n
	}
	o := rawjson.Writer("{")
	o.Optional("kind", kind)
	if kind != "none" {
		o.Number("value", sum)
	}
	return append(o, '}')
}

// count returns the member's own count. An empty first page without a count counts as
// 0; a source without searchable fields sends such a page.
func (l *position) count() rsclient.Count {
	if l.page.Count.Kind == "" && len(l.page.Rows) == 0 && !l.more && l.cursor == "" {
		return rsclient.Count{Kind: "exact", Value: "0"}
	}
	return l.page.Count
}

// recall returns the value of meta.recall if a member did not rank all its matches
// else nil.
func (s *search) recall() []byte {
	bounded := 0
	for _, l := range s.positions {
		if l.page.Recall().Bounded {
			bounded++
		}
	}
	if bounded == 0 {
		return nil
	}
	o := rawjson.Writer(`{"complete":false,"ranking_scope":"candidate_window","truncated":true`)
	o.Number("truncated_source_count", bounded)
	return append(o, '}')
}
