package recordtext

import (
	"bytes"
	"strconv"
	"strings"
	"unicode/utf8"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

const (
	// minShown is the least of a text that is worth showing (MS-65), in characters.
	minShown = 40
	// minBody is the least that a list shows of the text of a record, in characters. A
	// record with less space is left for the next page (MS-65).
	minBody = 80
)

// Omission is what a part does not show.
type Omission uint8

// What a part can omit, and the tool that shows it.
const (
	OmitsNothing  Omission = iota
	OmitsText              // the rest of a text: read_record_field
	OmitsNested            // a nested value: fetch
	omitsRelation          // the records of a relation: fetch
)

// placement is where a part of a fitted item is.
type placement uint8

const (
	isShown   placement = iota
	isLeftOut           // counted in more_fields
	isDropped           // a part without a value, whose call does not fit
)

// Naming is how a part names its field.
type Naming struct {
	Label string // as printed
	Field string // as arguments name it; "" if none can
}

// Named returns the naming of a field. A name that cannot be an argument (MS-56) is
// printed, but Field is "".
func Named(field string) Naming {
	n := Naming{Label: quote.Name(field)}
	if IsReadable(field) {
		n.Field = field
	}
	return n
}

// IsReadable reports whether an argument can name a field (MS-56).
func IsReadable(field string) bool {
	return field != "" && strings.IndexByte(field, 0) < 0 && utf8.ValidString(field)
}

// Call writes a call: the name of a tool and its arguments.
type Call interface {
	AppendCall(b []byte) []byte
}

// part is one field of an item.
type part struct {
	Naming
	value []byte // as printed behind its name; nil for a text with a source, and for a part without a value
	size  int    // bytes as printed, with the name
	// fields is the number of fields whose names the value lists, for a part that stands
	// for several fields; 0 for a part that is one field.
	fields    int
	omits     Omission
	placement placement

	// Of a text that can be shortened:
	isRaw  bool   // value is its beginning: the content of a JSON string that needs no change
	marked bool   // highlights in it are tags
	whole  bool   // the source is the whole text
	bytes  int    // bytes of a raw value that are shown
	source string // beginning of a text that is not raw
	shown  string // the shown part of source
	total  int    // characters of the whole; -1 if unknown
	chars  int    // characters of its beginning that are shown
	rest   Call   // reads the rest; if nil, the call from chars on does
}

// add appends a part for a field. It is filled before the next one is added.
func (it *Item) add(n Naming) *part {
	it.parts = append(it.parts, part{Naming: n})
	return &it.parts[len(it.parts)-1]
}

// AddValue adds a value as it is printed; a nil value only states what is omitted.
func (it *Item) AddValue(n Naming, value []byte, omits Omission) {
	p := it.add(n)
	if p.omits = omits; value != nil {
		p.print(value)
	}
}

// Text is a text that an item shows in part.
type Text struct {
	Naming
	Source string // its beginning
	Total  int    // characters of the whole; -1 if unknown
	Marked bool   // it has highlight tags: what is shown is around the first
	Whole  bool   // Source is the whole text
	Rest   Call   // reads the rest; if nil, a call from the last shown character on does
}

// AddText adds a text.
func (it *Item) AddText(t Text) {
	p := it.add(t.Naming)
	p.source, p.total, p.marked, p.whole, p.rest = t.Source, t.Total, t.Marked, t.Whole, t.Rest
	p.shorten(limits.PreviewChars)
}

// AddField adds a field of a record. texts decodes its strings.
func (it *Item) AddField(n Naming, f *evidence.Field, texts *rawjson.Texts) {
	p := it.add(n)
	switch f.Shape {
	case evidence.ShapeScalar:
		p.print(f.Value)
	case evidence.ShapeBinary:
		p.print(it.storeValue(AppendBinary(it.values, *f)))
		if IsReadableFile(f.File) {
			p.omits = OmitsText
		}
	case evidence.ShapeNested:
		shown, whole := AppendNested(it.values, f.Value, limits.JSONPreviewBytes)
		if f.Cut != nil || !whole {
			shown = quote.AppendCutMark(append(it.values, "json"...), NestedSize(f))
			p.omits = OmitsNested
		} else if len(Files(f)) > 0 || HidesBytes(f.Value) {
			p.omits = OmitsText
		}
		p.print(it.storeValue(shown))
	default:
		content, _ := rawjson.Content(f.Value)
		content = rawjson.Prefix(content, limits.PreviewChars)
		if len(content) > 0 && quote.IsPrintable(content) {
			p.printRaw(content, min(f.Chars(), limits.PreviewChars), f.TotalChars())
			return
		}
		p.source, p.total = texts.Decoded(content), f.TotalChars()
		p.shorten(limits.PreviewChars)
	}
}

// AddBody adds the field that contains the record's text. At least the beginning of it is
// always shown.
func (it *Item) AddBody(n Naming, f *evidence.Field, texts *rawjson.Texts) {
	it.body = len(it.parts)
	it.AddField(n, f, texts)
}

// AddEmpty adds the labels of the fields without a value.
func (it *Item) AddEmpty(labels []string) {
	if it.empty = len(labels); it.empty == 0 {
		return
	}
	b := it.values
	for i, label := range labels {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, label...)
	}
	p := it.add(Naming{Label: "empty_fields"})
	p.print(it.storeValue(b))
	p.fields = len(labels)
}

// AddRelation adds an expanded relation; records is the number of its records.
func (it *Item) AddRelation(name string, records int, hasMore bool) {
	p := it.add(Named(name))
	b := strconv.AppendInt(append(it.values, "expanded("...), int64(records), 10)
	if hasMore {
		b = append(b, ", has_more"...)
	}
	p.print(it.storeValue(append(b, ')')))
	if records > 0 {
		p.omits = omitsRelation
	} else {
		p.Field = "" // neither a field nor records to read
	}
}

// storeValue stores the buffer after a value was appended to it, and returns that value.
func (it *Item) storeValue(values []byte) []byte {
	value := values[len(it.values):]
	it.values = values
	return value
}

// print sets the value of a part.
func (p *part) print(value []byte) {
	p.value, p.size = value, len(p.Label)+len("=")+len(value)
}

// printRaw sets the text of a part to the content of a JSON string that is printed
// unchanged; chars of its total characters are shown.
func (p *part) printRaw(content []byte, chars, total int) {
	p.isRaw, p.value, p.bytes, p.chars, p.total = true, content, len(content), chars, total
	p.setSize(len(content)+len(`""`), true)
}

// shorten shows at most n characters of a text: its first, or those around its first
// highlight.
func (p *part) shorten(n int) {
	switch {
	case p.isRaw:
		p.bytes, p.chars = len(rawjson.Prefix(p.value, n)), min(n, p.chars)
		p.setSize(p.bytes+len(`""`), p.bytes == len(p.value))
	case p.marked:
		p.shown, p.chars = quote.AroundMark(p.source, n)
		_, quoted := quote.Measure(p.shown)
		p.setSize(quoted, p.shown == p.source)
	default:
		p.shown = quote.First(p.source, n)
		chars, quoted := quote.Measure(p.shown)
		p.chars = chars
		p.setSize(quoted, len(p.shown) == len(p.source))
	}
}

// setSize sets the omission and the printed size of a text; quoted is its length in bytes
// with quotes, isAll is true if all of source is shown.
func (p *part) setSize(quoted int, isAll bool) {
	p.size = len(p.Label) + len("=") + quoted
	if isAll && (p.whole || !p.marked && p.total >= 0 && p.chars >= p.total) {
		p.omits = OmitsNothing
		return
	}
	p.omits = OmitsText
	var buf [32]byte
	if p.size += len(quote.AppendCutMark(buf[:0], p.total)); !p.marked && !p.trimEllipsis() {
		p.size += len(quote.Ellipsis)
	}
}

// trimEllipsis removes the ellipsis at the end of the shown text, since one is printed
// behind it.
func (p *part) trimEllipsis() bool {
	if p.isRaw {
		shown, has := bytes.CutSuffix(p.value[:p.bytes], []byte(quote.Ellipsis))
		p.bytes = len(shown)
		return has
	}
	var has bool
	p.shown, has = strings.CutSuffix(p.shown, quote.Ellipsis)
	return has
}

// isText reports whether a part shows a text.
func (p *part) isText() bool { return p.isRaw || p.source != "" }

// append appends the part as it is printed.
func (p *part) append(b []byte) []byte {
	b = append(append(b, p.Label...), '=')
	switch {
	case p.isRaw:
		b = append(append(append(b, '"'), p.value[:p.bytes]...), '"')
	case p.shown == "" && p.value != nil:
		return append(b, p.value...)
	default:
		b = quote.AppendText(b, p.shown)
	}
	if p.omits == OmitsNothing {
		return b
	}
	if !p.marked {
		b = append(append(b[:len(b)-1], quote.Ellipsis...), '"')
	}
	return quote.AppendCutMark(b, p.total)
}
