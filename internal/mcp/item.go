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
	handle string // the number and the handle, which the first item always prints
	head   string // with the title and what else is printed whole or not at all
	labels []string
	parts  []part
	// way is the call that shows fields of the record; nil when there is none.
	way func(fields []string) *Next
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
	text  string // name=value, as printed; "" for what is only read on
	lacks lack

	// Of a text that can be shortened:
	source string // its beginning as it came, with what is not printed
	total  int    // characters of the whole; -1: not known
	chars  int    // characters of the source that are shown
	marked bool   // highlights in it are tags
	whole  bool   // the source is the whole text
	read   *window
}

func newItem(n int, r ref) *item {
	it := &item{ref: r, handle: strconv.Itoa(n) + "."}
	if r.id != "" {
		it.handle += " " + quoteID(r.id)
		it.way = func(fields []string) *Next {
			if len(fields) == 0 {
				return r.fetch()
			}
			return r.fetch(member{"fields", []byte(quoteList(fields))})
		}
	}
	if r.beside != "" {
		it.handle += " connection_id=" + quoteID(r.beside)
	}
	it.head = it.handle
	return it
}

// say adds words to the head.
func (it *item) say(words string) { it.head += " " + words }

// titled adds title and time. A title that ends with the time says it already, and
// one that is the handle says nothing.
func (it *item) titled(title string, at evidence.EventTime) {
	if title != "" && title != it.ref.id {
		it.say(quote(title))
	}
	if at.Value != "" && !strings.HasSuffix(title, at.Value) {
		it.say(timed(at))
	}
}

// timed is a time under its name: when the record was stored is not when it happened
// (MS-66).
func timed(at evidence.EventTime) string {
	if at.Source == evidence.SourceEnvelope {
		return "emitted_at=" + quote(at.Value)
	}
	return "at=" + quote(at.Value)
}

// label adds name="value" behind the head; nothing for "".
func (it *item) label(name, value string) {
	if value != "" {
		it.labels = append(it.labels, " "+name+"="+quote(firstChars(value, LabelChars)))
	}
}

func (it *item) add(p part) { it.parts = append(it.parts, p) }

// newPart begins a part for a field. A name that no argument can hold is printed, and
// not read by.
func newPart(field string) part {
	p := part{label: bareName(field) + "="}
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
	var shown string
	if p.marked {
		shown, p.chars = aroundMark(p.source, n)
	} else {
		shown = firstChars(p.source, n)
		p.chars = charCount(shown)
	}
	isWhole := shown == p.source && (p.whole || !p.marked && p.total >= 0 && p.chars >= p.total)
	if p.lacks = lacksNothing; !isWhole {
		p.lacks = lacksText
		if !p.marked {
			shown = strings.TrimSuffix(shown, "…") + "…"
		}
	}
	p.text = p.label + quote(shown)
	if !isWhole {
		p.text += cutMark(p.total)
	}
}

// fit puts the item into a number of bytes, its lines included. cut reports that
// something is shortened or left out.
func (it *item) fit(share int) (text string, cut bool) {
	all := fitting{item: it, room: share}
	for _, l := range it.labels {
		all.labels += l
	}
	all.shown = it.parts
	if text, led := all.text(); len(text) <= share && led {
		return text, all.isCut()
	}
	// Room is kept for the longest line that may follow (MS-65). Where there is none
	// for it, nothing is shown in part.
	f := fitting{item: it, room: share, partly: true}
	left := share - len(it.head) - 1 - len(moreFields(len(it.parts)))
	if reserve := it.reserve(); left > reserve {
		left -= reserve
	} else {
		f.partly = false
	}
	for _, l := range it.labels {
		if len(l) <= left {
			f.labels += l
			left -= len(l)
		}
	}
	for _, p := range it.parts {
		left -= f.place(p, left)
	}
	text, _ = f.text()
	return text, true
}

// reserve is the length of the longest line that may follow the item.
func (it *item) reserve() int {
	longest := 0
	for _, p := range it.parts {
		if p.source != "" || p.lacks == lacksText {
			p.chars = max(p.chars, PreviewChars)
			longest = max(longest, len(moreLine(it.window(p).next())))
		}
	}
	if it.way != nil {
		longest = max(longest, len(moreLine(it.way(nil))))
	}
	return longest
}

// window is where a shortened text goes on.
func (it *item) window(p part) window {
	if p.read != nil {
		return *p.read
	}
	return it.ref.from(p.field, p.chars)
}

func moreLine(n *Next) string { return "   more: " + n.Tool + " " + string(n.Args) + "\n" }

func moreFields(n int) string { return " | more_fields=" + strconv.Itoa(n) }
