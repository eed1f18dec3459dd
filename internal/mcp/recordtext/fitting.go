package recordtext

import (
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// separator comes before every part.
const separator = " | "

// fit shortens the item to share bytes, its lines included, and appends it. cut reports
// whether something is shortened or left out. fit changes the item.
func (it *Item) fit(b []byte, share int) (text []byte, cut bool) {
	if it.size() <= share {
		if text, ok := it.append(b, share); ok && len(text)-len(b) <= share {
			return text, it.isCut()
		}
	}
	// Space is reserved for the longest line that may follow the item (MS-65). If that line
	// does not fit, no text is shortened, because nothing would say how to read the rest.
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
	kept := 0 // bytes reserved for the record's text while the fields before it are placed
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

// keepLabels keeps the labels that fit into space bytes and returns the bytes that remain.
func (it *Item) keepLabels(space int) int {
	kept := it.labels[:0]
	for _, l := range it.labels {
		if len(l) <= space {
			kept = append(kept, l)
			space -= len(l)
		}
	}
	it.labels = kept
	return space
}

// place decides whether a part is shown whole, shortened (only if partly is true) or left
// out. It returns the number of bytes that it takes.
func (p *part) place(space int, partly bool) int {
	if p.size == 0 {
		if !partly {
			p.placement = isDropped
		}
		return 0
	}
	if len(separator)+p.size > space && partly {
		p.shrink(space - len(separator))
	}
	if len(separator)+p.size > space || p.omits != OmitsNothing && !partly {
		p.placement = isLeftOut
		return 0
	}
	return len(separator) + p.size
}

// shrink shortens a text to at most limit bytes. It leaves the text unchanged if less than
// minShown characters would remain.
func (p *part) shrink(limit int) {
	if !p.isText() || limit < minShown {
		return
	}
	if !p.marked {
		var mark [32]byte
		around := len(p.Label) + len(`=""`) + len(quote.Ellipsis) + len(quote.AppendCutMark(mark[:0], p.total))
		p.shortenTo(min(p.charsWithin(limit-around), p.chars), limit)
		return
	}
	// The size of highlights and escapes depends on what is shown: a few tries come close.
	best := *p
	for n, tries := min(p.chars, limit), 0; n >= minShown && tries < 4; tries++ {
		short := *p
		short.shorten(n)
		slack := limit - short.size
		if slack >= 0 && (best.size > limit || short.chars > best.chars) {
			best = short
		}
		if slack >= 0 && (slack < 4 || n >= p.chars) {
			break
		}
		n = min(n+slack, p.chars)
	}
	if best.size > limit {
		best.shortenTo(minShown, limit)
	}
	if best.size <= limit {
		*p = best
	}
}

// charsWithin returns how many leading characters of the text fit into limit bytes between
// quotes.
func (p *part) charsWithin(limit int) int {
	if p.isRaw {
		return rawjson.CharCount(rawjson.Within(p.value, limit))
	}
	return quote.CharsWithin(p.source, limit)
}

// shortenTo shortens the text to n characters if n is at least minShown and the result has
// at most limit bytes.
func (p *part) shortenTo(n, limit int) {
	if n < minShown {
		return
	}
	short := *p
	if short.shorten(n); short.size <= limit {
		*p = short
	}
}

// isCut reports whether something is shortened or left out.
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

// append appends the item and the lines below it, in at most limit bytes. ok reports
// whether these have calls for everything that the item omits.
func (it *Item) append(b []byte, limit int) (text []byte, ok bool) {
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
	b = it.appendMore(b, limit-(len(b)-start))
	more := b[line:]
	ok = len(more) > 0 || !it.isCut() || it.subject.Calls == nil
	expand := it.expand()
	switch {
	case expand == "" || expand == string(more):
	case len(b)-start+len(expand) <= limit:
		b = append(b, expand...)
	default:
		ok = false
	}
	return b, ok
}

// appendMore appends the line with the call that shows what the item omits (MS-68);
// nothing when it omits nothing, or the line does not fit.
func (it *Item) appendMore(b []byte, limit int) []byte {
	if it.subject.Calls == nil || !it.isCut() {
		return b
	}
	text := it.omitting(OmitsText)
	start := len(b)
	switch hasHandle := it.subject.ID != ""; {
	case text != nil && text.Field != "" && hasHandle:
		b = it.appendReadOn(b, text, limit)
	case hasHandle && text == nil && it.omitting(OmitsNested) == nil && it.leftOut() == 0:
		b = append(b, it.expand()...)
	default:
		b = it.appendFields(b, limit)
	}
	if len(b)-start > limit {
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
func (it *Item) appendReadOn(b []byte, text *part, limit int) []byte {
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
	if b = append(b, "]\n"...); len(b)-start > limit {
		b = append(b[:end-1], '\n')
	}
	return b
}

// appendFields appends the call that shows the fields that are left out or shown in part:
// the whole record when they are many, or not all can be named.
func (it *Item) appendFields(b []byte, limit int) []byte {
	if it.nameOmitted() {
		start := len(b)
		if b = it.appendFieldsCall(b, it.names); len(b)-start <= limit {
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
	const maxNames = 8
	if p.Field == "" || len(it.names) == maxNames {
		return false
	}
	it.names = append(it.names, p.Field)
	return true
}

// CutField is a field that a fitted item shows in part or leaves out.
type CutField struct {
	Name  string
	Chars int // characters that are shown of a text
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
