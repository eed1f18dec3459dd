package rsclient

import (
	"slices"

	"pdpp"
	"pdpp/internal/rawjson"
)

// Page is a list answer: of records, or of search hits.
type Page struct {
	Rows             [][]byte // the items as received
	NextCursor       string
	NextChangesSince string
	HasMore          *bool // nil if the server does not say
	Count            Count
	Warnings         []Warning
	Presentation     Presentations
	Meta             []byte // the member meta; nil when there is none

	body []byte
	list span
}

// span is a part of a body.
type span struct{ start, end int }

// Count is the number of items on all pages.
type Count struct {
	Kind  string // "" when nothing was counted; else exact, estimated, lower_bound
	Value string // digits
}

// String returns the count for texts; "" if there is none (MS-127).
func (c Count) String() string {
	switch c.Kind {
	case "":
		return ""
	case "lower_bound":
		return "at_least:" + c.Value
	}
	return c.Kind + ":" + c.Value
}

// Warning is one of meta.warnings (C-32, H-93).
type Warning struct {
	Code         string
	Message      string
	Param        string
	Connection   string
	ConnectorKey string
	Stream       string
	Error        string // the code of what failed
	Raw          []byte
}

// PageOf reads a list answer. A body without a list has no rows.
func PageOf(body []byte) Page {
	p := Page{body: body}
	var buf [16]placed
	top := p.layout(buf[:0])
	p.NextCursor, p.NextChangesSince = asText(top.value(body, "next_cursor")), asText(top.value(body, "next_changes_since"))
	p.Meta = asObject(top.value(body, "meta"))
	if v := top.value(body, "has_more"); rawjson.KindOf(v) == rawjson.KindBool {
		more := string(v) == "true"
		p.HasMore = &more
	}
	if p.Rows == nil {
		p.list = top.list(body)
		p.Rows = slices.AppendSeq(make([][]byte, 0, pdpp.DefaultPage), rawjson.Elements(body[p.list.start:p.list.end]))
	}
	p.Count = countOf(p.Meta)
	p.Warnings = warningsOf(p.Meta)
	p.Presentation = presentationsOf(p.Meta)
	return p
}

// layout has the positions of the values of a page. Looking up one member may scan the
// whole list of rows, so one pass finds all members.
type layout []placed

type placed struct {
	name []byte
	span
}

// layout finds the members of the body and, in the same pass, the rows in data.
func (p *Page) layout(all layout) layout {
	s := rawjson.Scan(p.body)
	for name := range s.Members() {
		start := s.Offset()
		if string(name) == "data" && s.Kind() == rawjson.KindArray && !all.has("data") {
			p.Rows = make([][]byte, 0, pdpp.DefaultPage)
			for range s.Elements() {
				p.Rows = append(p.Rows, s.Value())
			}
			p.list = span{start, s.Offset()}
		} else {
			s.Value()
		}
		all = append(all, placed{name, span{start, s.Offset()}})
	}
	return all
}

func (l layout) has(name string) bool {
	_, ok := l.find(name)
	return ok
}

// find returns the position of a member.
func (l layout) find(name string) (span, bool) {
	for i := range l {
		if string(l[i].name) == name {
			return l[i].span, true
		}
	}
	return span{}, false
}

// value returns the value of a member; nil if there is none.
func (l layout) value(body []byte, name string) []byte {
	s, ok := l.find(name)
	if !ok {
		return nil
	}
	return body[s.start:s.end]
}

// list finds the list of items; an empty span when there is none. A body that is an
// array is the list.
func (l layout) list(body []byte) span {
	if rawjson.KindOf(body) == rawjson.KindArray {
		return span{0, len(body)}
	}
	for _, path := range listPaths {
		outer, ok := l.find(path[0])
		if !ok {
			continue
		}
		inner, ok := locate(body[outer.start:outer.end], path[1:])
		s := span{outer.start + inner.start, outer.start + inner.end}
		if ok && rawjson.KindOf(body[s.start:s.end]) == rawjson.KindArray {
			return s
		}
	}
	return span{}
}

// locate finds the value at a path.
func locate(body []byte, path []string) (span, bool) {
	s := span{0, len(body)}
	for _, name := range path {
		place, ok := memberAt(body[s.start:s.end], name)
		if !ok {
			return span{}, false
		}
		s = span{s.start + place.start, s.start + place.end}
	}
	return s, true
}

// memberAt finds the value of a member.
func memberAt(obj []byte, name string) (span, bool) {
	s := rawjson.Scan(obj)
	for n := range s.Members() {
		if string(n) == name {
			start := s.Offset()
			return span{start, start + len(s.Value())}, true
		}
	}
	return span{}, false
}

// countOf reads {kind, value}, or a number beside count_accuracy (IO-4).
func countOf(meta []byte) Count {
	v, kind := get(meta, "count"), text(meta, "count_accuracy")
	if rawjson.KindOf(v) == rawjson.KindObject {
		kind = text(v, "kind")
		v = get(v, "value")
	}
	switch {
	case !isDigits(v):
		return Count{}
	case kind == "exact", kind == "estimated", kind == "lower_bound":
		return Count{kind, string(v)}
	}
	return Count{}
}

func isDigits(v []byte) bool {
	for _, c := range v {
		if c < '0' || c > '9' {
			return false
		}
	}
	return len(v) > 0 && len(v) < 20
}

func warningsOf(meta []byte) []Warning {
	var list []Warning
	for w := range rawjson.Elements(get(meta, "warnings")) {
		if rawjson.KindOf(w) != rawjson.KindObject {
			continue
		}
		detail := object(w, "detail")
		list = append(list, Warning{
			Code: text(w, "code"), Message: text(w, "message"), Param: text(w, "param"), Connection: ConnectionOf(w),
			ConnectorKey: firstID(detail, connectorNames), Stream: text(detail, "stream"), Error: text(object(detail, "error"), "code"), Raw: w,
		})
	}
	return list
}

// Body returns the answer with these rows in place of its own. If rows were removed,
// has_more is true, and next_cursor, next_changes_since and links.next are left out,
// because they would continue after the removed rows (MS-71).
func (p Page) Body(rows [][]byte) []byte {
	list := rawjson.Writer("[")
	for _, row := range rows {
		list.Raw(row)
	}
	list.End("]")
	body := slices.Concat(p.body[:p.list.start], list, p.body[p.list.end:])
	if len(rows) >= len(p.Rows) || rawjson.KindOf(body) != rawjson.KindObject {
		return body
	}
	return withoutCursors(body)
}

// withoutCursors returns a copy of a page without next_cursor, next_changes_since and
// links.next, and with has_more.
func withoutCursors(body []byte) []byte {
	w := rawjson.Writer(append(make([]byte, 0, len(body)+16), '{'))
	s := rawjson.Scan(body)
	for name := range s.Members() {
		switch string(name) {
		case "next_cursor", "next_changes_since", "has_more":
			continue
		}
		if string(name) == "links" {
			w.Key("links")
			w = appendWithNull(w, s.Value(), "next")
			continue
		}
		w.Raw(s.Member())
	}
	w.Flag("has_more", true)
	return append(w, '}')
}

// appendWithNull appends an object; if it has a member name, that becomes null.
func appendWithNull(dst, obj []byte, name string) []byte {
	place, ok := memberAt(obj, name)
	if !ok {
		return append(dst, obj...)
	}
	dst = append(append(dst, obj[:place.start]...), "null"...)
	return append(dst, obj[place.end:]...)
}
