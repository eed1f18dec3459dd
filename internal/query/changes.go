package query

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"strconv"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/sortkey"
)

// Mark is a position in a subject's change sequence: the number of the last change
// before it, and the generation of the catalog at that moment.
type Mark struct {
	Number     int64
	Generation int64
}

// Changes is a query for the changes of records of one or several bindings, between two
// positions of the change sequence.
type Changes struct {
	Subject pdpp.SubjectID
	Sources []Source
	Shown   []Projection // for each source: the fields whose changes are reported
	Since   Mark         // the bookmark
	Until   int64        // the horizon
	After   int64        // continue after this change number; on the first page that of Since
	Scan    int          // the most changes to examine for one page
}

// SeesTime reports whether the grant shows a record with a time. A nil key means that the
// record has no time.
func (s Source) SeesTime(key []byte) bool {
	if s.Time == nil {
		return true
	}
	return key != nil &&
		(s.Time.Since.IsZero() || bytes.Compare(key, sortkey.FromTime(s.Time.Since)) >= 0) &&
		(s.Time.Until.IsZero() || bytes.Compare(key, sortkey.FromTime(s.Time.Until)) < 0)
}

// Shown is a digest of the fields and views of a stream that a client can see. If it
// changes, records look different although none was written.
type Shown [8]byte

// ShownOf returns the digest for all rows of a stream in the reach, independent of what a
// request selects. For an owner, who sees whole records, only blob fields count, and the
// other fields if there are several rows, because a connector without a requested field
// is left out (C-25).
func ShownOf(rows []grant.Row) Shown {
	var parts []string
	for _, row := range rows {
		parts = append(parts, "row", string(row.Manifest.ConnectorKey))
		start := len(parts)
		for _, f := range row.Access.Fields {
			if !row.Access.All || len(rows) > 1 || f.Blob != pdpp.BlobNone {
				parts = append(parts, f.Name+"\x00"+strconv.Itoa(int(f.Blob)))
			}
		}
		slices.Sort(parts[start:])
		for _, v := range row.Stream.Views {
			if fields := row.Access.ViewFields(v); len(fields) > 0 {
				parts = append(append(parts, "view", v.ID), fields...)
			}
		}
	}
	h := sha256.New()
	for _, p := range parts {
		h.Write(binary.BigEndian.AppendUint32(nil, uint32(len(p))))
		h.Write([]byte(p))
	}
	return Shown(h.Sum(nil)[:8])
}

// BookmarkScope returns what a bookmark is bound to (REC-33). It includes no parameters,
// so that fields and connection may change between sessions.
func BookmarkScope(subject pdpp.SubjectID, grant pdpp.GrantID, stream string) Scope {
	return ScopeOf(subject, grant, stream, "bookmark", &Params{})
}

// SealBookmark returns the bookmark of a mark that was made at the time made.
func (s *Sealer) SealBookmark(scope Scope, shown Shown, m Mark, made time.Time) string {
	return s.Seal(Bookmarks, scope, s.appendMark(shown[:], m), made)
}

// OpenBookmark reads a bookmark. If the manifest has changed what is shown of the stream
// since then, the bookmark has expired, because the log does not contain such changes.
func (s *Sealer) OpenBookmark(scope Scope, shown Shown, bookmark string, now time.Time) (Mark, error) {
	payload, err := s.Open(Bookmarks, scope, bookmark, now)
	if err != nil {
		return Mark{}, err
	}
	if len(payload) != len(shown)+markSize {
		return Mark{}, Bookmarks.Invalid()
	}
	if Shown(payload[:len(shown)]) != shown {
		return Mark{}, Bookmarks.Expired()
	}
	return s.mark(payload[len(shown):]), nil
}

// Session is the state of a changes session between two pages. A session from the
// beginning reads the records by id; any other reads the log.
type Session struct {
	Began time.Time
	Start bool // from beginning
	Since Mark // the bookmark; zero from beginning
	Until Mark // the horizon

	After int64     // unless Start: the last change that was examined
	At    *Position // if Start: the last record that was returned
}

// SealSession returns the cursor of a session's next page.
func (s *Sealer) SealSession(scope Scope, v Session, now time.Time) string {
	payload := binary.BigEndian.AppendUint64(nil, uint64(v.Began.UnixMilli()))
	payload = s.appendMark(payload, v.Since)
	payload = s.appendMark(payload, v.Until)
	payload = s.Hide(payload, v.After)
	if v.Start {
		payload = appendPosition(payload, v.At)
	}
	return s.Seal(ChangePages, scope, payload, now)
}

// OpenSession reads the cursor of a changes page.
func (s *Sealer) OpenSession(scope Scope, cursor string, now time.Time) (Session, error) {
	payload, err := s.Open(ChangePages, scope, cursor, now)
	if err != nil {
		return Session{}, err
	}
	const fixed = 8 + 2*markSize + HiddenSize
	if len(payload) < fixed {
		return Session{}, ChangePages.Invalid()
	}
	v := Session{
		Began: time.UnixMilli(int64(binary.BigEndian.Uint64(payload))).UTC(),
		Since: s.mark(payload[8:]), Until: s.mark(payload[8+markSize:]), After: s.number(payload[8+2*markSize:]),
	}
	if rest := payload[fixed:]; len(rest) > 0 {
		v.Start = true
		if v.At = position(rest); v.At == nil {
			return Session{}, ChangePages.Invalid()
		}
	}
	return v, nil
}

const markSize = 2 * HiddenSize

func (s *Sealer) appendMark(dst []byte, m Mark) []byte {
	return s.Hide(s.Hide(dst, m.Number), m.Generation)
}

func (s *Sealer) mark(sealed []byte) Mark {
	return Mark{Number: s.number(sealed), Generation: s.number(sealed[HiddenSize:])}
}

func (s *Sealer) number(sealed []byte) int64 {
	n, _ := s.Reveal(sealed[:HiddenSize])
	return n
}
