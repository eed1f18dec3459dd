package pkgreader

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rsclient"
)

// A cursor of a package search (H-91) holds the size of the members' pages and, for
// each member of the search, either its position or why it failed. Members without
// further hits are not in it.

// Kinds of entries.
const (
	entryPosition = iota
	entryAbsent
)

// scope returns what a cursor is bound to: the package and the whole request.
func (s *search) scope() query.Scope {
	parts := strings.Split(s.query.Without("count").String(), "&")
	for _, name := range s.streams {
		parts = append(parts, "streams="+name)
	}
	slices.Sort(parts)
	h := sha256.New()
	for _, part := range append([]string{s.ID, s.mode}, slices.Compact(parts)...) {
		h.Write(appendText(nil, part))
	}
	return query.Scope(h.Sum(nil)[:len(query.Scope{})])
}

// seal returns the cursor that continues after this page, or "" if it would be too
// long.
func (s *search) seal() string {
	b := binary.AppendUvarint(nil, uint64(s.fetch.hits))
	b = binary.AppendUvarint(b, uint64(s.fetch.bytes))
	for _, l := range s.positions {
		b = l.appendEntry(b)
	}
	for _, a := range s.absent {
		b = appendText(append(b, entryAbsent), a.GrantID)
		b = appendText(b, firstChars(string(a.code), maxCode))
		b = binary.AppendUvarint(b, uint64(a.status))
	}
	cursor := s.Sealer.Seal(query.PackagePages, s.scope(), b, s.Clock())
	if len(cursor) > query.MaxPackageCursor {
		return ""
	}
	return cursor
}

// maxCode bounds the characters of a code in a cursor.
const maxCode = 64

// appendEntry appends the position at which the search of a member continues: in its
// current page, or at the start of the next one if all hits of the current page were
// returned. A member that has more hits but no cursor to them stays in the list, so
// that the last page still reports has_more.
func (l *position) appendEntry(b []byte) []byte {
	cursor, first, given := l.cursor, l.first, l.given
	switch {
	case l.isOver() && !l.more:
		return b
	case l.isUsedUp() && l.next != "":
		cursor, first, given = l.next, l.rank(), 0
	}
	b = appendText(append(b, entryPosition), l.GrantID)
	b = appendText(b, cursor)
	b = binary.AppendUvarint(b, uint64(first))
	return binary.AppendUvarint(b, uint64(given))
}

// resume restores the positions of a cursor. Members that the package no longer has are
// dropped silently, and new ones do not join.
func (s *search) resume(ctx context.Context, cursor string) error {
	s.resumed = true
	payload, err := s.Sealer.Open(query.PackagePages, s.scope(), cursor, s.Clock())
	if err != nil {
		return s.cursorError(ctx, err)
	}
	r := entryReader{payload}
	s.fetch = size{hits: r.number(), bytes: r.number()}
	s.limit = strconv.Itoa(s.fetch.hits)
	offered := s.positions
	s.positions = nil
	entries := map[string]*position{}
	for len(r.rest) > 0 {
		if kind := r.number(); kind == entryPosition {
			grant := r.text()
			entries[grant] = &position{cursor: r.text(), first: r.number(), given: r.number()}
			continue
		}
		grant, out := r.text(), absence{code: pdpp.Code(r.text()), status: r.number()}
		if i := slices.IndexFunc(offered, func(l *position) bool { return l.GrantID == grant }); i >= 0 {
			out.Member = offered[i].Member
			s.absent = append(s.absent, out)
		}
	}
	for _, l := range offered {
		if e := entries[l.GrantID]; e != nil {
			e.Member = l.Member
			s.positions = append(s.positions, e)
		}
	}
	return nil
}

func (s *search) cursorError(ctx context.Context, err error) *rsclient.Error {
	var e *pdpp.Error
	if !errors.As(err, &e) {
		e = &pdpp.Error{Code: pdpp.CodeInvalidCursor, Message: err.Error()}
	}
	return s.refuse(ctx, refusal{code: e.Code, message: e.Message, param: e.Param})
}

// expired returns the error for a search in which a member refused its own cursor.
func (s *search) expired(ctx context.Context) *rsclient.Error {
	return s.cursorError(ctx, query.PackagePages.Expired())
}

// appendText appends a text after its length.
func appendText(b []byte, s string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// entryReader reads what seal wrote. Open has authenticated it.
type entryReader struct{ rest []byte }

func (r *entryReader) number() int {
	n, size := binary.Uvarint(r.rest)
	if size <= 0 {
		r.rest = nil
		return 0
	}
	r.rest = r.rest[size:]
	return int(n)
}

func (r *entryReader) text() string {
	n := min(r.number(), len(r.rest))
	s := string(r.rest[:n])
	r.rest = r.rest[n:]
	return s
}
