package schematext

import (
	"slices"
	"sort"
	"strconv"
	"strings"

	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// A description of one stream that is cut continues by offset: an index in the list of
// all rows, each followed by its fields (MS-92). A result with an offset shows the entries
// from there on, as many as fit and at least one, so that following the next: lines shows
// every field and ends.

// place returns the offset of a field of a block. For the number of fields it returns the
// offset after the last one.
func (b *block) place(field int) int { return b.rows[0].at + 1 + field }

// ContinueArgs returns the arguments of the call that continues at an offset.
func (d *Document) ContinueArgs(detail string, offset int) []byte {
	o := d.scope.args()
	if detail == "full" {
		o.Text("detail", detail)
	}
	o.Number("offset", offset)
	return append(o, '}')
}

func (t *text) continueLine(offset int) string {
	return "next: schema " + quote.EscapeHidden(string(t.Document.ContinueArgs(t.Detail, offset)))
}

// page returns the text from the offset on.
func (t *text) page(blocks []*block, head, tail []string) string {
	layout := layout{terse: true, short: t.Detail != "full"}
	left := fieldSpace(nil, layout, head, tail, []string{t.continueLine(MaxOffset)})
	if left < cutReserve { // the names in the call fill the text
		return head[0]
	}
	lines, next := head, -1
	for _, b := range blocks {
		if b.place(len(b.fields)) <= t.Offset {
			continue
		}
		part, end := b.part(t.Offset, left, layout, len(lines) == len(head))
		for _, l := range part {
			left -= len(l) + 1
		}
		lines = append(lines, part...)
		if end < b.place(len(b.fields)) {
			next = end
			break
		}
	}
	switch {
	case len(lines) == len(head):
		return strings.Join(append(head, "nothing is left at this offset", "next: schema "+quote.EscapeHidden(string(t.scope.Args()))), "\n")
	case next >= 0:
		lines = append(lines, t.continueLine(next))
	}
	return strings.Join(append(lines, tail...), "\n")
}

// MaxOffset stands for the largest offset; it is used to measure the longest call.
const MaxOffset = 999_999_999

// part returns the lines of a block from an offset on, and the offset where they end. A
// row that began on the previous page has its fields only. The first part of a page has at
// least one entry, cut when it alone is longer than a page.
func (b *block) part(from, space int, layout layout, first bool) (lines []string, end int) {
	begun := from > b.rows[0].at
	around := func() []string {
		if begun {
			return []string{b.row(layout)}
		}
		return slices.Delete(b.lines(0, layout), 1, 2)
	}
	const words = len(" fields: more_fields=1000000") + 1
	size := func() int { return len(strings.Join(around(), "\n")) + 1 + words }
	if begun || size() > space {
		layout.crowded = true
	}
	if size() > space {
		if !first {
			return nil, b.rows[0].at
		}
		if !begun {
			return []string{quote.CutBytes(strings.Join(around(), "\n"), space-words), " fields: more_fields=" + strconv.Itoa(len(b.fields))}, b.place(0)
		}
	}
	field := max(0, from-b.place(0))
	n, _ := b.fit(field, space-size(), layout)
	if n == 0 && begun && first {
		text := quote.CutBytes(b.row(layout)+"\n fields: "+b.fields[field].text(layout), space)
		return []string{text}, b.place(field + 1)
	}
	out := around()
	return slices.Insert(out, 1, b.fieldLine(field, n, layout)), b.place(field + n)
}

// projectFrom returns the document of the entries from an offset on: as many as fit the
// budget and at least one. next is the offset after them, or -1.
func (d *Document) projectFrom(offset, budget int) (doc []byte, next int) {
	rows := d.inScope()
	last := rows[len(rows)-1]
	total := last.at + 1 + last.fieldCount()
	more := sort.Search(max(0, total-offset-1), func(i int) bool { // the first entry that does not fit, after one
		return len(d.projectPlaces(offset, offset+2+i)) > budget
	})
	end := offset + 1 + more
	if next = end; end >= total {
		next = -1
	}
	return d.projectPlaces(offset, end), next
}

// projectPlaces returns the document of the rows and fields from one offset to another.
func (d *Document) projectPlaces(from, end int) []byte {
	rows := map[*row][]byte{}
	for _, r := range d.inScope() {
		if r.at < end && r.at+1+r.fieldCount() > from {
			rows[r] = r.projectPlaces(from, end)
		}
	}
	return d.projectRows(rows)
}

// projectPlaces returns a row with its fields from one offset to another. Its other
// capabilities belong to its first offset.
func (r *row) projectPlaces(from, end int) []byte {
	fields := r.fields()
	first := max(0, from-r.at-1)
	after := min(len(fields), end-r.at-1)
	caps := rawjson.Writer("{")
	for _, f := range fields[first:after] {
		caps.Text(f.name, f.flags)
	}
	o := rawjson.Writer("{")
	keep(&o, r.Raw, identityMembers...)
	o.Member("field_capabilities", append(caps, '}'))
	if left := len(fields) - after; left > 0 {
		o.Number("more_fields", left)
	}
	if from <= r.at {
		keep(&o, r.Raw, "query_capabilities", "views", "expand_capabilities", "time_constraint")
	}
	r.appendConnections(&o)
	return append(o, '}')
}
