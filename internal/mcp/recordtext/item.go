package recordtext

import (
	"strconv"
	"strings"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
)

// Item is one record or hit of a text (MS-66): a line, and lines with the calls that show
// what it omits. It is filled first and fitted into its share afterwards. One Item serves
// all records of a list, one after the other.
type Item struct {
	subject Subject
	head    []byte // number, handle, title and whatever else is printed whole or not at all
	handle  int    // bytes of head: number and handle, which the first item always prints
	labels  []string
	parts   []part
	body    int    // index of the part that is the record's text; -1 if there is none
	values  []byte // buffer for values that are written for parts
	empty   int    // fields without a value
	reserve int    // bytes of the longest lines that may follow; -1 if not yet computed
	names   []string
	line    []byte // buffer for lines that are only measured
}

// Subject is the record that an item shows.
type Subject struct {
	ID            string // its handle; "" if no handle can name it
	ConnectionArg string // the connection_id to pass with the handle; "" if the handle contains it
	Name          string // printed when there is no handle
	Calls         Calls  // nil if no call shows more of it
}

// Calls writes the calls that show what an item omits: the name of a tool and its
// arguments. A subject without a handle needs AppendFields only.
type Calls interface {
	// AppendFields appends the call that shows some fields, or the whole record for none.
	AppendFields(b []byte, fields []string) []byte
	// AppendRest appends the call that reads a text field from a character on.
	AppendRest(b []byte, field string, offset int) []byte
	// AppendExpand appends the call that shows the records of relations.
	AppendExpand(b []byte, relations []string) []byte
}

// Start begins the nth item of a list, in place of the one before.
func (it *Item) Start(n int, s Subject) {
	it.subject, it.reserve, it.body, it.empty = s, -1, -1, 0
	it.head, it.labels, it.parts, it.values = it.head[:0], it.labels[:0], it.parts[:0], it.values[:0]
	it.head = append(strconv.AppendInt(it.head, int64(n), 10), '.')
	switch {
	case s.ID != "":
		it.head = quote.AppendID(append(it.head, ' '), s.ID)
	case s.Name != "":
		it.head = quote.AppendID(append(it.head, ' '), s.Name)
	}
	if s.ConnectionArg != "" {
		it.head = quote.AppendID(append(it.head, " connection_id="...), s.ConnectionArg)
	}
	it.handle = len(it.head)
}

// AddWords adds words to the head.
func (it *Item) AddWords(words string) { it.head = append(append(it.head, ' '), words...) }

// Title adds title and time to the head. A composed title is left out if it only repeats
// the handle, and the time is left out if a composed title ends with it. A title from a
// field is always shown.
func (it *Item) Title(title evidence.Title, at evidence.EventTime) {
	isComposed := title.Field == ""
	if title.Text != "" && !(isComposed && title.Text == it.subject.ID) {
		it.head = quote.AppendText(append(it.head, ' '), title.Text)
	}
	if at.Value != "" && !(isComposed && strings.HasSuffix(title.Text, at.Value)) {
		it.head = AppendTime(append(it.head, ' '), at)
	}
}

// AppendTime appends a time with its label, which distinguishes the time of the event from
// the time of storing (MS-66).
func AppendTime(b []byte, at evidence.EventTime) []byte {
	if at.Source == evidence.SourceEnvelope {
		b = append(b, "emitted_"...)
	}
	return quote.AppendText(append(b, "at="...), at.Value)
}

// Label adds name="value" behind the head; nothing for "".
func (it *Item) Label(name, value string) {
	if value != "" {
		it.labels = append(it.labels, " "+name+"="+quote.Text(quote.First(value, limits.LabelChars)))
	}
}

// LabelID adds an identifier behind the head, whole.
func (it *Item) LabelID(name, id string) { it.labels = append(it.labels, " "+name+"="+quote.ID(id)) }

// headSize returns the minimum size of the item in bytes: its head, and the note how many
// fields are left out.
func (it *Item) headSize() int {
	n := len(it.head) + len("\n")
	if len(it.parts) > 0 {
		var buf [32]byte
		n += len(appendMoreFields(buf[:0], len(it.parts)+it.empty))
	}
	return n
}

// textSize returns the bytes that the item needs in addition to headSize to show the least
// part of its text and the call that reads the rest; 0 for an item without a text.
func (it *Item) textSize() int {
	n := it.leastText()
	if n == 0 {
		return 0
	}
	return n + it.reserved() + 1
}

// leastText returns the bytes of the shortest form of the item's text: the first match of a
// hit, or the text of a record; 0 if it has no text.
func (it *Item) leastText() int {
	at, minChars := it.body, minBody
	if len(it.parts) > 0 && it.parts[0].marked {
		at, minChars = 0, minShown
	}
	if at < 0 {
		return 0
	}
	p := it.parts[at]
	if p.chars > minChars {
		p.shorten(minChars)
	}
	return len(separator) + p.size
}

// reserved returns the length of the longest lines that may follow the item.
func (it *Item) reserved() int {
	if it.reserve < 0 {
		it.reserve = it.longestCall() + len(it.expand())
	}
	return it.reserve
}

func (it *Item) longestCall() int {
	if it.subject.Calls == nil {
		return 0
	}
	it.line = it.appendFieldsCall(it.line[:0], nil)
	longest := len(it.line)
	if it.subject.ID == "" {
		return longest
	}
	widest := -1 // index of the part with the longest name that is read from some character on
	for i := range it.parts {
		switch p := &it.parts[i]; {
		case !p.isText() && p.omits != OmitsText:
		case p.rest != nil:
			it.line = it.appendRest(it.line[:0], p)
			longest = max(longest, len(it.line))
		case widest < 0 || quote.IDLen(p.Field) > quote.IDLen(it.parts[widest].Field):
			widest = i
		}
	}
	if widest >= 0 {
		p := part{Naming: it.parts[widest].Naming, chars: limits.PreviewChars}
		it.line = it.appendRest(it.line[:0], &p)
		longest = max(longest, len(it.line))
	}
	return longest
}

// appendFieldsCall appends the line that shows some fields of the record, or all of it.
func (it *Item) appendFieldsCall(b []byte, fields []string) []byte {
	return append(it.subject.Calls.AppendFields(append(b, morePrefix...), fields), '\n')
}

// appendRest appends the line that reads a text from where the part ends.
func (it *Item) appendRest(b []byte, p *part) []byte {
	b = append(b, morePrefix...)
	if p.rest != nil {
		b = p.rest.AppendCall(b)
	} else {
		b = it.subject.Calls.AppendRest(b, p.Field, p.chars)
	}
	return append(b, '\n')
}

// expand returns the line that shows the records of relations; "" when there are none.
func (it *Item) expand() string {
	if it.subject.ID == "" {
		return ""
	}
	var names []string
	for i := range it.parts {
		if p := &it.parts[i]; p.omits == omitsRelation && p.Field != "" {
			names = append(names, p.Field)
		}
	}
	if names == nil {
		return ""
	}
	return string(append(it.subject.Calls.AppendExpand([]byte(morePrefix), names), '\n'))
}

// morePrefix begins the lines with calls below an item.
const morePrefix = "   more: "

// appendMoreFields appends the number of fields that are left out.
func appendMoreFields(b []byte, n int) []byte {
	return strconv.AppendInt(append(b, " | more_fields="...), int64(n), 10)
}
