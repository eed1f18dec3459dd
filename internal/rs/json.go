package rs

import (
	"net/url"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// writeTime writes a member that is a time.
func writeTime(w *rawjson.Writer, name string, t time.Time) {
	w.Key(name)
	*w = append(pdpp.AppendTime(append(*w, '"'), t), '"')
}

// count is meta.count (C-31). Kind "none" has no value.
type count struct {
	kind  string
	value int64
}

var notCounted = count{kind: "none"}

// writeMeta writes the member meta, with further members after the count, and with a
// presentation when there is one.
func writeMeta(w *rawjson.Writer, c count, further []byte, warned warnings, presentation []byte) {
	w.OpenObject("meta")
	w.OpenObject("count")
	w.Text("kind", c.kind)
	if c.kind != "none" {
		w.Key("value")
		w.Int(c.value)
	}
	w.End("}")
	w.Raw(further)
	w.OpenArray("warnings")
	for _, one := range warned {
		w.Raw(one)
	}
	w.End("]")
	if presentation != nil {
		w.Member("presentation", presentation)
	}
	w.End("}")
}

// page describes how a list ends (C-29).
type page struct {
	hasMore  bool
	cursor   string // "" when there is no next page
	bookmark string // where later changes begin; only at the end of a changes session
	count    count
	meta     []byte // further members of meta
}

// closeList ends the data of a list and writes its other members.
func (q *request) closeList(p page, presentation []byte) {
	w := &q.body
	w.End("]")
	w.Flag("has_more", p.hasMore)
	w.Optional("next_cursor", p.cursor)
	w.Optional("next_changes_since", p.bookmark)
	w.Text("url", q.path())
	next := ""
	if p.cursor != "" {
		next = q.path() + "?" + withCursor(q.http.URL.RawQuery, p.cursor)
	}
	w.OpenObject("links")
	w.Text("self", q.target())
	w.TextOrNull("next", next)
	w.End("}")
	writeMeta(w, p.count, p.meta, q.warnings, presentation)
	w.End("}\n")
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

// closeObject writes links and meta of a flat object and ends it (C-30).
func (q *request) closeObject(presentation []byte) {
	w := &q.body
	w.OpenObject("links")
	w.Text("self", q.target())
	w.End("}")
	writeMeta(w, notCounted, nil, q.warnings, presentation)
	w.End("}\n")
}
