package mcp

import (
	"strconv"
	"strings"

	"pdpp/internal/evidence"
)

// item is one record or hit of a text (MS-66): a line, and perhaps a line that says
// how to read on. It is put together first and fitted into its share afterwards.
type item struct {
	ref    ref
	head   []byte // number, handle, title and what else is printed whole or not at all
	handle int    // bytes of head: number and handle, which the first item always prints
	labels []string
	parts  []part
	// way is the call that shows fields of a record that no handle names; nil when
	// there is none.
	way      func(fields []string) *Next
	room     []part // for the parts that fit
	reserved int    // bytes of the longest line that may follow; 0: not known yet
}

// lack is what a part does not show.
type lack uint8

const (
	lacksNothing  lack = iota
	lacksText          // the rest of a text: read_record_field has it
	lacksNested        // a nested value: fetch has it
	lacksRelation      // the records of a relation: fetch has them
)

// part is one field of an item.
type part struct {
	field string // as arguments name it; "" when none can
	label string // name=
	text  string // name=value, as printed; "" for a text, and for what is only read on
	size  int    // bytes as printed
	lacks lack

	// Of a text that can be shortened:
	source string // its beginning as it came, with what is not printed
	shown  string // what is printed of it
	total  int    // characters of the whole; -1: not known
	chars  int    // characters of the source that are shown
	marked bool   // highlights in it are tags
	whole  bool   // the source is the whole text
	read   *window
}

// start begins the nth item of a list, in the place of the one before.
func (it *item) start(n int, r ref) {
	*it = item{ref: r, head: it.head[:0], labels: it.labels[:0], parts: it.parts[:0], room: it.room[:0]}
	it.head = append(strconv.AppendInt(it.head, int64(n), 10), '.')
	if r.id != "" {
		it.head = appendID(append(it.head, ' '), r.id)
	}
	if r.beside != "" {
		it.head = appendID(append(it.head, " connection_id="...), r.beside)
	}
	it.handle = len(it.head)
}

// say adds words to the head.
func (it *item) say(words string) { it.head = append(append(it.head, ' '), words...) }

// titled adds title and time. A title that ends with the time says it already, and
// one that is the handle says nothing.
func (it *item) titled(title string, at evidence.EventTime) {
	if title != "" && title != it.ref.id {
		it.head = appendQuote(append(it.head, ' '), title)
	}
	if at.Value != "" && !strings.HasSuffix(title, at.Value) {
		it.head = appendTimed(append(it.head, ' '), at)
	}
}

// timed is a time under its name: when the record was stored is not when it happened
// (MS-66).
func timed(at evidence.EventTime) string { return string(appendTimed(nil, at)) }

func appendTimed(b []byte, at evidence.EventTime) []byte {
	if at.Source == evidence.SourceEnvelope {
		b = append(b, "emitted_"...)
	}
	return appendQuote(append(b, "at="...), at.Value)
}

// label adds name="value" behind the head; nothing for "".
func (it *item) label(name, value string) {
	if value != "" {
		it.labels = append(it.labels, " "+name+"="+quote(firstChars(value, LabelChars)))
	}
}

func (it *item) add(p part) {
	if p.size == 0 {
		p.size = len(p.text)
	}
	it.parts = append(it.parts, p)
}

// newPart begins a part for a field. A name that no argument can hold is printed, and
// not read by.
func newPart(field string) part {
	p := part{label: bareName(field)}
	if isReadable(field) {
		p.field = field
	}
	return p
}

// isReadable reports a field that an argument can name (MS-56).
func isReadable(field string) bool { return field != "" && isCarried(field) }

// shorten shows at most n characters of a text: its first, or those around its first
// highlight.
func (p *part) shorten(n int) {
	if p.marked {
		p.shown, p.chars = aroundMark(p.source, n)
	} else {
		p.shown = firstChars(p.source, n)
		p.chars = charCount(p.shown)
	}
	isWhole := p.shown == p.source && (p.whole || !p.marked && p.total >= 0 && p.chars >= p.total)
	if p.lacks = lacksNothing; !isWhole {
		p.lacks = lacksText
		if !p.marked {
			p.shown = strings.TrimSuffix(p.shown, ellipsis)
		}
	}
	p.size = len(p.label) + len("=") + quotedLen(p.shown)
	if p.lacks != lacksNothing {
		var room [32]byte
		if p.size += len(appendCutMark(room[:0], p.total)); !p.marked {
			p.size += len(ellipsis)
		}
	}
}

// ellipsis stands for what a shortened text goes on with.
const ellipsis = "…"

// append appends the part as it is printed.
func (p *part) append(b []byte) []byte {
	if p.source == "" || p.shown == "" && p.text != "" {
		return append(b, p.text...)
	}
	b = appendQuote(append(append(b, p.label...), '='), p.shown)
	if p.lacks == lacksNothing {
		return b
	}
	if !p.marked {
		b = append(append(b[:len(b)-1], ellipsis...), '"')
	}
	return appendCutMark(b, p.total)
}

// headSize is what the item takes at least: its head, and how much is left out.
func (it *item) headSize() int {
	n := len(it.head) + len("\n")
	if len(it.parts) > 0 {
		n += len(moreFields(len(it.parts)))
	}
	return n
}

// wholeSize is the length of the item's first line with all that it has.
func (it *item) wholeSize() int {
	all := fitting{item: it, shown: it.parts, labels: it.labels}
	return all.size()
}

// matchSize is what the item takes beside that to show a little of its first match and
// how to read on; 0 for an item that is no hit.
func (it *item) matchSize() int {
	if len(it.parts) == 0 || !it.parts[0].marked {
		return 0
	}
	p := it.parts[0]
	if p.chars > minShown {
		p.shorten(minShown)
	}
	return len(separator) + p.size + it.reserve() + 1
}

// fit puts the item into a number of bytes, its lines included, and appends it. cut
// reports that something is shortened or left out.
func (it *item) fit(b []byte, share int) (text []byte, cut bool) {
	all := fitting{item: it, room: share, shown: it.parts, labels: it.labels}
	if all.size() <= share {
		if text, led := all.append(b); len(text)-len(b) <= share && led {
			return text, all.isCut()
		}
	}
	// Room is kept for the longest line that may follow (MS-65). Where there is none
	// for it, nothing is shown in part.
	f := fitting{item: it, room: share, partly: true, shown: it.room}
	left := share - it.headSize()
	if reserve := it.reserve(); left > reserve {
		left -= reserve
	} else {
		f.partly = false
	}
	matches := 0
	for matches < len(it.parts) && it.parts[matches].marked { // they come first
		left -= f.place(it.parts[matches], left)
		matches++
	}
	for _, l := range it.labels {
		if len(l) <= left {
			f.labels = append(f.labels, l)
			left -= len(l)
		}
	}
	for _, p := range it.parts[matches:] {
		left -= f.place(p, left)
	}
	it.room = f.shown
	text, _ = f.append(b)
	return text, true
}

// reserve is the length of the longest lines that may follow the item.
func (it *item) reserve() int {
	if it.reserved > 0 {
		return it.reserved
	}
	longest := 0
	var room [512]byte
	var field string // the longest name that is read on from some place
	for i := range it.parts {
		switch p := &it.parts[i]; {
		case p.source == "" && p.lacks != lacksText:
		case p.read != nil:
			longest = max(longest, len(p.read.appendMore(room[:0])))
		case len(p.field) >= len(field):
			field = p.field
			longest = max(longest, len(it.ref.from(field, max(p.chars, PreviewChars)).appendMore(room[:0])))
		}
	}
	if it.hasWay() {
		longest = max(longest, len(it.appendWay(room[:0], nil)))
	}
	it.reserved = longest + len(it.expand())
	return it.reserved
}

// hasWay reports that a call shows what the item does not.
func (it *item) hasWay() bool { return it.ref.id != "" || it.way != nil }

// appendWay appends the line that shows some fields of the record, or all of it.
func (it *item) appendWay(b []byte, fields []string) []byte {
	if it.ref.id == "" {
		return append(b, moreLine(it.way(fields))...)
	}
	b = it.ref.appendFetched(append(b, "   more: fetch "...))
	for i, name := range fields {
		sep := ","
		if i == 0 {
			sep = `,"fields":[`
		}
		b = appendID(append(b, sep...), name)
	}
	if len(fields) > 0 {
		b = append(b, ']')
	}
	return append(b, "}\n"...)
}

// expand is the line that shows the records of relations; "" when there are none.
func (it *item) expand() string {
	if it.ref.id == "" {
		return ""
	}
	var names []string
	for i := range it.parts {
		if p := &it.parts[i]; p.lacks == lacksRelation && p.field != "" {
			names = append(names, p.field)
		}
	}
	if names == nil {
		return ""
	}
	return moreLine(it.ref.fetch(member{"expand", []byte(quoteList(names))}))
}

// window is where a shortened text goes on.
func (it *item) window(p *part) window {
	if p.read != nil {
		return *p.read
	}
	return it.ref.from(p.field, p.chars)
}

// appendMore appends the line that reads the window.
func (w window) appendMore(b []byte) []byte {
	return append(w.appendArgs(append(b, "   more: read_record_field "...)), '\n')
}

func moreLine(n *Next) string { return "   more: " + n.Tool + " " + string(n.Args) + "\n" }

func moreFields(n int) string { return " | more_fields=" + strconv.Itoa(n) }
