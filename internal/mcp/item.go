package mcp

import (
	"bytes"
	"strconv"
	"strings"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// item is one record or hit of a text (MS-66): a line, and perhaps a line that says
// how to read on. It is put together first and fitted into its share afterwards. One
// item is used for all of a list, one after the other.
type item struct {
	ref    ref
	head   []byte // number, handle, title and what else is printed whole or not at all
	handle int    // bytes of head: number and handle, which the first item always prints
	labels []string
	parts  []part
	body   int    // index of the part that is the record's text; -1: none
	values []byte // room for values of parts that are written for them
	reads  []window
	// way is the call that shows fields of a record of the list that no handle names;
	// nil when there is none.
	way      func(fields []string) *Next
	empty    []string // names of the fields without a value
	reserved int      // bytes of the longest line that may follow; 0: not known yet
	names    []string // of the fields that a call asks for
}

// lack is what a part does not show.
type lack uint8

const (
	lacksNothing  lack = iota
	lacksText          // the rest of a text: read_record_field has it
	lacksNested        // a nested value: fetch has it
	lacksRelation      // the records of a relation: fetch has them
)

// fate is what becomes of a part when its item is fitted.
type fate uint8

const (
	isShown   fate = iota
	isLeftOut      // it is counted, and fetch shows it
	isDropped      // it says only where to read on, and there is no room for that
)

// naming is how a part names its field.
type naming struct {
	label string // as printed
	field string // as arguments name it; "" when none can
	width int    // bytes of that as an argument
}

// part is one field of an item.
type part struct {
	naming
	value []byte // as printed behind its name; nil for a text with a source, and for what is only read on
	size  int    // bytes as printed, with the name
	// fields is the number of fields that the value names instead of showing them; 0 of
	// a part that is one field.
	fields int
	lacks  lack
	fate   fate

	// Of a text that can be shortened:
	isRaw  bool   // value is its beginning: the inside of a JSON string that is printed as it stands
	marked bool   // highlights in it are tags
	whole  bool   // the source is the whole text
	bytes  int    // of a raw value that are shown
	source string // of another text: its beginning as it came, with what is not printed
	shown  string // and what is printed of it
	total  int    // characters of the whole; -1: not known
	chars  int    // characters of its beginning that are shown
	read   *window
}

// start begins the nth item of a list, in the place of the one before.
func (it *item) start(n int, r ref) {
	it.ref, it.reserved, it.body = r, 0, -1
	it.head, it.labels, it.parts, it.values = it.head[:0], it.labels[:0], it.parts[:0], it.values[:0]
	it.reads, it.empty = it.reads[:0], it.empty[:0]
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

// titled adds title and time. A title that was put together may end with the time,
// which is then said, or be the handle alone, which says nothing. What a field of the
// record says is shown, whatever it is equal to.
func (it *item) titled(title evidence.Title, at evidence.EventTime) {
	isMade := title.Field == ""
	if title.Text != "" && !(isMade && title.Text == it.ref.id) {
		it.head = appendQuote(append(it.head, ' '), title.Text)
	}
	if at.Value != "" && !(isMade && strings.HasSuffix(title.Text, at.Value)) {
		it.head = appendTimed(append(it.head, ' '), at)
	}
}

// appendTimed appends a time under its name: when the record was stored is not when it
// happened (MS-66).
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

// add begins a part for a field, behind those that there are. It is filled before the
// next one is added.
func (it *item) add(n naming) *part {
	it.parts = append(it.parts, part{naming: n})
	return &it.parts[len(it.parts)-1]
}

// reading keeps a window for a part.
func (it *item) reading(w window) *window {
	it.reads = append(it.reads, w)
	return &it.reads[len(it.reads)-1]
}

// named is the naming of a field. A name that no argument can hold is printed, and not
// read by.
func named(field string) naming {
	n := naming{label: bareName(field)}
	if isReadable(field) {
		n.field, n.width = field, idLen(field)
	}
	return n
}

// print gives a part its value.
func (p *part) print(value []byte) {
	p.value, p.size = value, len(p.label)+len("=")+len(value)
}

// isReadable reports a field that an argument can name (MS-56).
func isReadable(field string) bool { return field != "" && isCarried(field) }

// printRaw gives a part its text: the inside of a JSON string that quote would write as
// it stands, with so many characters of all that there are.
func (p *part) printRaw(content []byte, chars, total int) {
	p.isRaw, p.value, p.bytes, p.chars, p.total = true, content, len(content), chars, total
	p.settle(len(content)+len(`""`), true)
}

// shorten shows at most n characters of a text: its first, or those around its first
// highlight.
func (p *part) shorten(n int) {
	switch {
	case p.isRaw:
		p.bytes, p.chars = len(rawjson.Prefix(p.value, n)), min(n, p.chars)
		p.settle(p.bytes+len(`""`), p.bytes == len(p.value))
	case p.marked:
		p.shown, p.chars = aroundMark(p.source, n)
		_, quoted := measure(p.shown)
		p.settle(quoted, p.shown == p.source)
	default:
		p.shown = firstChars(p.source, n)
		chars, quoted := measure(p.shown)
		p.chars = chars
		p.settle(quoted, len(p.shown) == len(p.source))
	}
}

// settle finds out what a text lacks and how long it is as printed: so many bytes, and
// what says that it is cut. isAll says that its whole beginning is shown.
func (p *part) settle(quoted int, isAll bool) {
	p.size = len(p.label) + len("=") + quoted
	if isAll && (p.whole || !p.marked && p.total >= 0 && p.chars >= p.total) {
		p.lacks = lacksNothing
		return
	}
	p.lacks = lacksText
	var room [32]byte
	if p.size += len(appendCutMark(room[:0], p.total)); !p.marked && !p.trimEllipsis() {
		p.size += len(ellipsis)
	}
}

// trimEllipsis takes away the ellipsis that what is shown ends with, as one will stand
// behind it.
func (p *part) trimEllipsis() bool {
	if p.isRaw {
		shown, has := bytes.CutSuffix(p.value[:p.bytes], []byte(ellipsis))
		p.bytes = len(shown)
		return has
	}
	var has bool
	p.shown, has = strings.CutSuffix(p.shown, ellipsis)
	return has
}

// isText reports a part that shows a text.
func (p *part) isText() bool { return p.isRaw || p.source != "" }

// ellipsis stands for what a shortened text goes on with.
const ellipsis = "…"

// append appends the part as it is printed.
func (p *part) append(b []byte) []byte {
	b = append(append(b, p.label...), '=')
	switch {
	case p.isRaw:
		b = append(append(append(b, '"'), p.value[:p.bytes]...), '"')
	case p.shown == "" && p.value != nil:
		return append(b, p.value...)
	default:
		b = appendQuote(b, p.shown)
	}
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
		var room [32]byte
		n += len(appendMoreFields(room[:0], len(it.parts)+len(it.empty)))
	}
	return n
}

// textSize is what the item takes beside that to show a little of its text and how to
// read on; 0 for an item without a text.
func (it *item) textSize() int {
	n := it.leastText()
	if n == 0 {
		return 0
	}
	return n + it.reserve() + 1
}

// leastText is the size of the least that is shown of the text of an item: of the first
// match of a hit, or of the text of a record. 0: it has none.
func (it *item) leastText() int {
	at, least := it.body, minBody
	if len(it.parts) > 0 && it.parts[0].marked {
		at, least = 0, minShown
	}
	if at < 0 {
		return 0
	}
	p := it.parts[at]
	if p.chars > least {
		p.shorten(least)
	}
	return len(separator) + p.size
}

// reserve is the length of the longest lines that may follow the item.
func (it *item) reserve() int {
	if it.reserved > 0 {
		return it.reserved
	}
	longest := 0
	var room [512]byte
	var longestName, widest *part // of those that are read on from some place
	for i := range it.parts {
		switch p := &it.parts[i]; {
		case !p.isText() && p.lacks != lacksText:
		case p.read != nil:
			longest = max(longest, len(p.read.appendMore(room[:0])))
		case longestName == nil || len(p.field) >= len(longestName.field):
			if longestName = p; widest == nil || p.width > widest.width {
				widest = p
			}
		}
	}
	if widest != nil {
		longest = max(longest, len(it.ref.from(widest.field, PreviewChars).appendMore(room[:0])))
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

// appendMoreFields appends how many fields are left out.
func appendMoreFields(b []byte, n int) []byte {
	return strconv.AppendInt(append(b, " | more_fields="...), int64(n), 10)
}
