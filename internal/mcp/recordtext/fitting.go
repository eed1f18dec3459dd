package recordtext

import (
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// separator comes before every part.
const separator = " | "

// fit shortens the item to share bytes, its lines included, and appends it. cut reports
// that something is shortened or left out. It changes the item.
func (it *Item) fit(b []byte, share int) (text []byte, cut bool) {
	if it.size() <= share {
		if text, ok := it.append(b, share); ok && len(text)-len(b) <= share {
			return text, it.isCut()
		}
	}
	// Space is reserved for the longest line that may follow (MS-65). When it does not
	// fit, no text is shown in part.
	left := share - it.headSize()
	reserve := it.reserved()
	partly := left > reserve
	if partly {
		left -= reserve
	}
	matches := 0
	for matches < len(it.parts) && it.parts[matches].marked { // these come first
		left -= it.parts[matches].place(left, partly)
		matches++
	}
	left = it.keepLabels(left)
	kept := 0 // bytes for the text, which comes after short fields
	if partly && matches == 0 {
		kept = it.leastText()
	}
	for i := matches; i < len(it.parts); i++ {
		if i >= it.body {
			kept = 0
		}
		left -= it.parts[i].place(left-kept, partly)
	}
	text, _ = it.append(b, share)
	return text, true
}

// keepLabels keeps the labels that fit into so many bytes and returns the bytes left.
func (it *Item) keepLabels(left int) int {
	kept := it.labels[:0]
	for _, l := range it.labels {
		if len(l) <= left {
			kept = append(kept, l)
			left -= len(l)
		}
	}
	it.labels = kept
	return left
}

// place decides whether a part is shown: whole, or shortened if partly allows it. It
// returns the bytes that the part takes.
func (p *part) place(left int, partly bool) int {
	if p.size == 0 {
		if !partly {
			p.placement = isDropped
		}
		return 0
	}
	if len(separator)+p.size > left && partly {
		p.shrink(left - len(separator))
	}
	if len(separator)+p.size > left || p.omits != OmitsNothing && !partly {
		p.placement = isLeftOut
		return 0
	}
	return len(separator) + p.size
}

// shrink shortens a text to at most so many bytes, or not at all when too little would be
// left of it.
func (p *part) shrink(most int) {
	if !p.isText() || most < minShown {
		return
	}
	if !p.marked {
		var mark [32]byte
		around := len(p.Label) + len(`=""`) + len(quote.Ellipsis) + len(quote.AppendCutMark(mark[:0], p.total))
		p.shortenTo(min(p.charsWithin(most-around), p.chars), most)
		return
	}
	// The size of highlights and escapes depends on what is shown: a few tries come close.
	best := *p
	for n, tries := min(p.chars, most), 0; n >= minShown && tries < 4; tries++ {
		short := *p
		short.shorten(n)
		slack := most - short.size
		if slack >= 0 && (best.size > most || short.chars > best.chars) {
			best = short
		}
		if slack >= 0 && (slack < 4 || n >= p.chars) {
			break
		}
		n = min(n+slack, p.chars)
	}
	if best.size > most {
		best.shortenTo(minShown, most)
	}
	if best.size <= most {
		*p = best
	}
}

// charsWithin counts the leading characters of the text that take at most so many bytes
// between quotes.
func (p *part) charsWithin(most int) int {
	if p.isRaw {
		return rawjson.CharCount(rawjson.Within(p.value, most))
	}
	return quote.CharsWithin(p.source, most)
}

// shortenTo shows n characters if these are enough and take at most so many bytes.
func (p *part) shortenTo(n, most int) {
	if n < minShown {
		return
	}
	short := *p
	if short.shorten(n); short.size <= most {
		*p = short
	}
}

// isCut reports that something is shortened or left out.
func (it *Item) isCut() bool {
	for i := range it.parts {
		if p := &it.parts[i]; p.placement == isLeftOut || p.placement == isShown && p.omits != OmitsNothing {
			return true
		}
	}
	return false
}

// leftOut counts the fields that are left out.
func (it *Item) leftOut() int {
	n := 0
	for i := range it.parts {
		if it.parts[i].placement == isLeftOut {
			n += max(1, it.parts[i].fields)
		}
	}
	return n
}

// size returns the length of the item's first line with all parts.
func (it *Item) size() int {
	n := len(it.head) + len("\n")
	for _, l := range it.labels {
		n += len(l)
	}
	for i := range it.parts {
		if it.parts[i].size > 0 {
			n += len(separator) + it.parts[i].size
		}
	}
	return n
}

// wholeSize returns the length of the item with all parts and the lines that follow it.
func (it *Item) wholeSize() int {
	if it.isCut() {
		return it.size() + it.reserved()
	}
	return it.size()
}

// append appends the item with its lines, within so many bytes. ok reports that it has the
// calls for everything that it omits.
func (it *Item) append(b []byte, most int) (text []byte, ok bool) {
	start := len(b)
	b = append(b, it.head...)
	for _, l := range it.labels {
		b = append(b, l...)
	}
	for i := range it.parts {
		if p := &it.parts[i]; p.placement == isShown && p.size > 0 {
			b = p.append(append(b, separator...))
		}
	}
	if left := it.leftOut(); left > 0 {
		b = appendMoreFields(b, left)
	}
	b = append(b, '\n')
	line := len(b)
	b = it.appendMore(b, most-(len(b)-start))
	more := b[line:]
	ok = len(more) > 0 || !it.isCut() || it.subject.Calls == nil
	expand := it.expand()
	switch {
	case expand == "" || expand == string(more):
	case len(b)-start+len(expand) <= most:
		b = append(b, expand...)
	default:
		ok = false
	}
	return b, ok
}

// appendMore appends the line with the call that shows what the item omits (MS-68);
// nothing when it omits nothing, or the line does not fit.
func (it *Item) appendMore(b []byte, most int) []byte {
	if it.subject.Calls == nil || !it.isCut() {
		return b
	}
	text := it.omitting(OmitsText)
	start := len(b)
	switch hasHandle := it.subject.ID != ""; {
	case text != nil && text.Field != "" && hasHandle:
		b = it.appendReadOn(b, text, most)
	case hasHandle && text == nil && it.omitting(OmitsNested) == nil && it.leftOut() == 0:
		b = append(b, it.expand()...)
	default:
		b = it.appendFields(b, most)
	}
	if len(b)-start > most {
		return b[:start]
	}
	return b
}

// omitting returns the first shown part with an omission, or nil.
func (it *Item) omitting(what Omission) *part {
	for i := range it.parts {
		if p := &it.parts[i]; p.placement == isShown && p.omits == what {
			return p
		}
	}
	return nil
}

// appendReadOn appends the call that reads on in a text, and the names of the other texts
// that are shortened.
func (it *Item) appendReadOn(b []byte, text *part, most int) []byte {
	start := len(b)
	b = it.appendRest(b, text)
	end, others := len(b), 0
	for i := range it.parts {
		if p := &it.parts[i]; p.placement == isShown && p.omits == OmitsText && p != text {
			sep := ","
			if others == 0 {
				b, sep = b[:len(b)-1], " other_fields=["
			}
			b = quote.AppendID(append(b, sep...), p.Field)
			others++
		}
	}
	if others == 0 {
		return b
	}
	if b = append(b, "]\n"...); len(b)-start > most {
		b = append(b[:end-1], '\n')
	}
	return b
}

// appendFields appends the call that shows the fields that are left out or shown in part:
// the whole record when they are many, or not all can be named.
func (it *Item) appendFields(b []byte, most int) []byte {
	if it.nameOmitted() {
		start := len(b)
		if b = it.appendFieldsCall(b, it.names); len(b)-start <= most {
			return b
		}
		b = b[:start]
	}
	return it.appendFieldsCall(b, nil)
}

// nameOmitted lists the fields that are left out, then those that are shown in part. It
// returns false when they are many, or not all can be named: a relation is not a field
// that fetch can select.
func (it *Item) nameOmitted() bool {
	it.names = it.names[:0]
	for i := range it.parts {
		if p := &it.parts[i]; p.placement == isLeftOut && (p.omits == omitsRelation || !it.name(p)) {
			return false
		}
	}
	for _, what := range []Omission{OmitsNested, OmitsText} {
		for i := range it.parts {
			if p := &it.parts[i]; p.placement == isShown && p.omits == what && !it.name(p) {
				return false
			}
		}
	}
	return true
}

// name adds the field of a part to the list, if possible.
func (it *Item) name(p *part) bool {
	const most = 8
	if p.Field == "" || len(it.names) == most {
		return false
	}
	it.names = append(it.names, p.Field)
	return true
}

// CutField is a field that a fitted item shows in part or leaves out.
type CutField struct {
	Name  string
	Chars int // of a text: characters that are shown
}

// CutFields returns the fields that the fitted item shows in part or leaves out, in order.
func (it *Item) CutFields() []CutField {
	var list []CutField
	for i := range it.parts {
		p := &it.parts[i]
		if p.Field == "" || p.placement == isShown && p.omits == OmitsNothing {
			continue
		}
		f := CutField{Name: p.Field}
		if p.placement == isShown {
			f.Chars = p.chars
		}
		list = append(list, f)
	}
	return list
}
