package mcp

import (
	"slices"
	"sort"
	"strconv"
	"strings"
)

// A cut description of one stream goes on by places: each row has one, then each of
// its fields (MS-92). A result with an offset has the places from there on, as many as
// fit and at least one, so that following the next: lines shows every field and ends.

// place is that of a field of a block; of the number of its fields, the end.
func (b *schemaBlock) place(field int) int { return b.rows[0].at + 1 + field }

// goOn is the call that goes on at a place.
func (t *schemaText) goOn(place int) *Next {
	args := schemaArgs(t.doc.scope.stream, t.doc.scope.connection)
	args = args[:len(args)-1]
	if t.detail == "full" {
		args = appendMember(args, "detail", t.detail)
	}
	args = strconv.AppendInt(append(args, `,"offset":`...), int64(place), 10)
	return &Next{"schema", append(args, '}')}
}

func (t *schemaText) goOnLine(place int) string {
	return "next: schema " + escapeHidden(string(t.goOn(place).Args))
}

// appendNext appends a call as a member of structured output.
func appendNext(b []byte, next *Next) []byte { return next.append(append(b, `,"next":`...)) }

// page is the text from an offset on.
func (t *schemaText) page(blocks []*schemaBlock, head, tail []string) string {
	layout := schemaLayout{terse: true, short: t.detail != "full"}
	left := room(nil, layout, head, tail, []string{t.goOnLine(maxPlace)})
	if left < cutReserve { // the names of the call itself fill the text
		return head[0]
	}
	lines, next := head, given{}
	for _, b := range blocks {
		if b.place(len(b.fields)) <= t.offset.n {
			continue
		}
		part, end := b.part(t.offset.n, left, layout, len(lines) == len(head))
		for _, l := range part {
			left -= len(l) + 1
		}
		lines = append(lines, part...)
		if end < b.place(len(b.fields)) {
			next = given{end, true}
			break
		}
	}
	switch {
	case len(lines) == len(head):
		return strings.Join(append(head, "nothing is left at this offset", "next: schema "+escapeHidden(string(schemaArgs(t.doc.scope.stream, t.doc.scope.connection)))), "\n")
	case next.ok:
		lines = append(lines, t.goOnLine(next.n))
	}
	return strings.Join(append(lines, tail...), "\n")
}

// maxPlace is as long as a place can get in a call.
const maxPlace = 999_999_999

// part are the lines of a block from a place on, and the place where they end. A row
// that the page before began has its fields only. The first part of a page has at
// least one place, cut when it alone is longer than a page.
func (b *schemaBlock) part(from, left int, layout schemaLayout, first bool) (lines []string, end int) {
	begun := from > b.rows[0].at
	around := func() []string {
		if begun {
			return []string{b.row(layout)}
		}
		return slices.Delete(b.lines(0, layout), 1, 2)
	}
	const words = len(" fields: more_fields=1000000") + 1
	size := func() int { return len(strings.Join(around(), "\n")) + 1 + words }
	if begun || size() > left {
		layout.crowded = true
	}
	if size() > left {
		if !first {
			return nil, b.rows[0].at
		}
		if !begun {
			return []string{cutBytes(strings.Join(around(), "\n"), left-words), " fields: more_fields=" + strconv.Itoa(len(b.fields))}, b.place(0)
		}
	}
	field := max(0, from-b.place(0))
	n, _ := b.fit(field, left-size(), layout)
	if n == 0 && begun && first {
		text := cutBytes(b.row(layout)+"\n fields: "+b.fields[field].text(layout), left)
		return []string{text}, b.place(field + 1)
	}
	out := around()
	return slices.Insert(out, 1, b.fieldLine(field, n, layout)), b.place(field + n)
}

// projectFrom makes the document of the places from an offset on, as many as fit the
// budget and at least one. next is the place after them, if there is one.
func (d *schemaDoc) projectFrom(offset, budget int) (doc []byte, next given) {
	rows := d.inScope()
	last := rows[len(rows)-1]
	total := last.at + 1 + last.fieldCount()
	more := sort.Search(max(0, total-offset-1), func(i int) bool { // the first that does not fit, after one place
		return len(d.projectPlaces(offset, offset+2+i)) > budget
	})
	end := offset + 1 + more
	return d.projectPlaces(offset, end), given{end, end < total}
}

// projectPlaces is the document of the rows and fields of some places.
func (d *schemaDoc) projectPlaces(from, end int) []byte {
	rows := map[*schemaRow][]byte{}
	for _, r := range d.inScope() {
		if r.at < end && r.at+1+r.fieldCount() > from {
			rows[r] = r.projectPlaces(from, end)
		}
	}
	return d.projectRows(rows)
}

// projectPlaces is a row with the fields of some places; what else can be asked of it
// stands at its first place.
func (r *schemaRow) projectPlaces(from, end int) []byte {
	fields := r.fields()
	first := max(0, from-r.at-1)
	after := min(len(fields), end-r.at-1)
	var caps jsonObject
	for _, f := range fields[first:after] {
		caps.text(f.name, f.flags)
	}
	var o jsonObject
	o.keep(r.Raw, identityMembers...)
	o.raw("field_capabilities", caps.close())
	if left := len(fields) - after; left > 0 {
		o.number("more_fields", left)
	}
	if from <= r.at {
		o.keep(r.Raw, "query_capabilities", "views", "expand_capabilities", "time_constraint")
	}
	r.appendConnections(&o)
	return o.close()
}
