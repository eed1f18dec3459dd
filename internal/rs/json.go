package rs

import (
	"net/url"
	"strconv"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// Everything this package sends is appended to one buffer: constant text, quoted
// strings, and stored JSON as it is.

func appendText(dst []byte, s string) []byte { return append(dst, s...) }

func appendInt(dst []byte, n int) []byte { return strconv.AppendInt(dst, int64(n), 10) }

func appendBool(dst []byte, v bool) []byte { return strconv.AppendBool(dst, v) }

func appendTime(dst []byte, t time.Time) []byte {
	dst = append(dst, '"')
	dst = pdpp.AppendTime(dst, t)
	return append(dst, '"')
}

// appendMember appends ,"name":"value"; nothing when the value is empty.
func appendMember(dst []byte, name, value string) []byte {
	if value == "" {
		return dst
	}
	dst = append(dst, ',', '"')
	dst = append(dst, name...)
	dst = append(dst, '"', ':')
	return rawjson.AppendString(dst, value)
}

// count is meta.count (C-31). Kind "none" has no value.
type count struct {
	kind  string
	value int64
}

var notCounted = count{kind: "none"}

// appendMeta appends "meta":{…} with further members after the count, and with a
// presentation when there is one.
func appendMeta(dst []byte, c count, further []byte, w warnings, presentation []byte) []byte {
	dst = appendText(dst, `"meta":{"count":{"kind":"`)
	dst = appendText(dst, c.kind)
	dst = append(dst, '"')
	if c.kind != "none" {
		dst = appendText(dst, `,"value":`)
		dst = strconv.AppendInt(dst, c.value, 10)
	}
	dst = append(dst, '}')
	dst = append(dst, further...)
	dst = appendText(dst, `,"warnings":`)
	dst = w.append(dst)
	if presentation != nil {
		dst = appendText(dst, `,"presentation":`)
		dst = append(dst, presentation...)
	}
	return append(dst, '}')
}

// page describes how a list ends (C-29).
type page struct {
	hasMore  bool
	cursor   string // "" when there is no next page
	bookmark string // where later changes begin; only at the end of a changes session
	count    count
	meta     []byte // further members of meta, each after a comma
}

// closeList ends the data of a list and appends its other members.
func (q *request) closeList(p page, presentation []byte) {
	b := appendText(q.body, `],"has_more":`)
	b = strconv.AppendBool(b, p.hasMore)
	b = appendMember(b, "next_cursor", p.cursor)
	b = appendMember(b, "next_changes_since", p.bookmark)
	b = appendMember(b, "url", q.path())
	b = appendText(b, `,"links":{"self":`)
	b = rawjson.AppendString(b, q.target())
	b = appendText(b, `,"next":`)
	if p.cursor == "" {
		b = appendText(b, "null")
	} else {
		b = rawjson.AppendString(b, q.path()+"?"+withCursor(q.http.URL.RawQuery, p.cursor))
	}
	b = appendText(b, "},")
	b = appendMeta(b, p.count, p.meta, q.warnings, presentation)
	q.body = appendText(b, "}\n")
}

// withCursor returns a query string with its cursor replaced. The page cursor of a changes
// session replaces changes_since too (REC-36).
func withCursor(raw, cursor string) string {
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		name, _, _ := strings.Cut(part, "=")
		decoded, err := url.QueryUnescape(name)
		decoded = strings.TrimSuffix(decoded, "[]")
		if part == "" || err == nil && (decoded == "cursor" || decoded == "changes_since") {
			continue
		}
		kept = append(kept, part)
	}
	return strings.Join(append(kept, "cursor="+cursor), "&")
}

// closeObject appends links and meta to a flat object and closes it (C-30).
func (q *request) closeObject(presentation []byte) {
	b := appendText(q.body, `,"links":{"self":`)
	b = rawjson.AppendString(b, q.target())
	b = appendText(b, "},")
	b = appendMeta(b, notCounted, nil, q.warnings, presentation)
	q.body = appendText(b, "}\n")
}
