package mcp

import "pdpp/internal/rawjson"

// separator stands before every part.
const separator = " | "

// fit puts the item into a number of bytes, its lines included, and appends it. cut
// reports that something is shortened or left out. The item is not what it was
// afterwards.
func (it *item) fit(b []byte, share int) (text []byte, cut bool) {
	if it.size() <= share {
		if text, led := it.append(b, share); len(text)-len(b) <= share && led {
			return text, it.isCut()
		}
	}
	// Room is kept for the longest line that may follow (MS-65). Where there is none
	// for it, nothing is shown in part.
	left := share - it.headSize()
	reserve := it.reserve()
	partly := left > reserve
	if partly {
		left -= reserve
	}
	matches := 0
	for matches < len(it.parts) && it.parts[matches].marked { // they come first
		left -= it.parts[matches].place(left, partly)
		matches++
	}
	left = it.keepLabels(left)
	kept := 0 // for the text, which comes behind short fields
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

// keepLabels keeps the labels that there is room for. It gives the room that is left.
func (it *item) keepLabels(room int) int {
	kept := it.labels[:0]
	for _, l := range it.labels {
		if len(l) <= room {
			kept = append(kept, l)
			room -= len(l)
		}
	}
	it.labels = kept
	return room
}

// place decides whether a part is shown: whole, or shortened where something may be
// shown in part. It gives the bytes that it takes.
func (p *part) place(room int, partly bool) int {
	if p.size == 0 {
		if !partly {
			p.fate = isDropped
		}
		return 0
	}
	if len(separator)+p.size > room && partly {
		p.shrink(room - len(separator))
	}
	if len(separator)+p.size > room || p.lacks != lacksNothing && !partly {
		p.fate = isLeftOut
		return 0
	}
	return len(separator) + p.size
}

// shrink shortens a text until it fits; it stays as it is when too little would be
// left.
func (p *part) shrink(room int) {
	if !p.isText() || room < minShown {
		return
	}
	if !p.marked {
		var mark [32]byte
		around := len(p.label) + len(`=""`) + len(ellipsis) + len(appendCutMark(mark[:0], p.total))
		p.shortenTo(min(p.charsWithin(room-around), p.chars), room)
		return
	}
	// What highlights and escapes take is not known before: a few tries come close.
	best := *p
	for n, tries := min(p.chars, room), 0; n >= minShown && tries < 4; tries++ {
		short := *p
		short.shorten(n)
		slack := room - short.size
		if slack >= 0 && (best.size > room || short.chars > best.chars) {
			best = short
		}
		if slack >= 0 && (slack < 4 || n >= p.chars) {
			break
		}
		n = min(n+slack, p.chars)
	}
	if best.size > room {
		best.shortenTo(minShown, room)
	}
	if best.size <= room {
		*p = best
	}
}

// charsWithin is how many characters of the text take at most so many bytes between
// quotes.
func (p *part) charsWithin(most int) int {
	if p.isRaw {
		return rawjson.CharCount(rawjson.Within(p.value, most))
	}
	return charsWithin(p.source, most)
}

// shortenTo shows n characters if they are worth it and fit.
func (p *part) shortenTo(n, room int) {
	if n < minShown {
		return
	}
	short := *p
	if short.shorten(n); short.size <= room {
		*p = short
	}
}

// isCut reports that something is shortened or left out.
func (it *item) isCut() bool {
	for i := range it.parts {
		if p := &it.parts[i]; p.fate == isLeftOut || p.fate == isShown && p.lacks != lacksNothing {
			return true
		}
	}
	return false
}

// leftOut is how many parts are left out.
func (it *item) leftOut() int {
	n := 0
	for i := range it.parts {
		if it.parts[i].fate == isLeftOut {
			n += max(1, it.parts[i].fields)
		}
	}
	return n
}

// size is the length of the item's first line with all that it has.
func (it *item) size() int {
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

// wholeSize is what the item takes with all that it has and the lines that follow it.
func (it *item) wholeSize() int {
	if it.isCut() {
		return it.size() + it.reserve()
	}
	return it.size()
}

// append appends the item with its lines, which have so much room. led reports that it
// says how to read what it does not show.
func (it *item) append(b []byte, room int) (text []byte, led bool) {
	start := len(b)
	b = append(b, it.head...)
	for _, l := range it.labels {
		b = append(b, l...)
	}
	for i := range it.parts {
		if p := &it.parts[i]; p.fate == isShown && p.size > 0 {
			b = p.append(append(b, separator...))
		}
	}
	if left := it.leftOut(); left > 0 {
		b = appendMoreFields(b, left)
	}
	b = append(b, '\n')
	line := len(b)
	b = it.appendMore(b, room-(len(b)-start))
	more := b[line:]
	led = len(more) > 0 || !it.isCut() || !it.hasWay()
	expand := it.expand()
	switch {
	case expand == "" || expand == string(more):
	case len(b)-start+len(expand) <= room:
		b = append(b, expand...)
	default:
		led = false
	}
	return b, led
}

// appendMore appends the line that says how to read what the item does not show
// (MS-68); nothing when it shows all, or there is no room for a line.
func (it *item) appendMore(b []byte, room int) []byte {
	if !it.hasWay() || !it.isCut() {
		return b
	}
	text := it.lacking(lacksText) // the first
	start := len(b)
	switch hasHandle := it.ref.id != ""; {
	case text != nil && text.field != "" && hasHandle:
		b = it.appendReadOn(b, text, room)
	case hasHandle && text == nil && it.lacking(lacksNested) == nil && it.leftOut() == 0:
		b = append(b, it.expand()...)
	default:
		b = it.appendFields(b, room)
	}
	if len(b)-start > room {
		return b[:start]
	}
	return b
}

// lacking is the first part that is shown without something; nil when there is none.
func (it *item) lacking(what lack) *part {
	for i := range it.parts {
		if p := &it.parts[i]; p.fate == isShown && p.lacks == what {
			return p
		}
	}
	return nil
}

// appendReadOn appends the call that goes on in a text, and the names of others that
// are shortened, too.
func (it *item) appendReadOn(b []byte, text *part, room int) []byte {
	start := len(b)
	b = it.window(text).appendMore(b)
	end, others := len(b), 0
	for i := range it.parts {
		if p := &it.parts[i]; p.fate == isShown && p.lacks == lacksText && p != text {
			sep := ","
			if others == 0 {
				b, sep = b[:len(b)-1], " other_fields=["
			}
			b = appendID(append(b, sep...), p.field)
			others++
		}
	}
	if others == 0 {
		return b
	}
	if b = append(b, "]\n"...); len(b)-start > room {
		b = append(b[:end-1], '\n')
	}
	return b
}

// appendFields appends the call that shows the fields that are left out or shown in
// part: the whole record when they are many, or not all have a name.
func (it *item) appendFields(b []byte, room int) []byte {
	if it.nameLacking() {
		start := len(b)
		if b = it.appendWay(b, it.names); len(b)-start <= room {
			return b
		}
		b = b[:start]
	}
	return it.appendWay(b, nil)
}

// nameLacking lists the fields that are left out, then those that are shown in part;
// false when they are many, or not all have a name. A relation is no field that fetch
// could be asked for.
func (it *item) nameLacking() bool {
	it.names = it.names[:0]
	for i := range it.parts {
		if p := &it.parts[i]; p.fate == isLeftOut && (p.lacks == lacksRelation || !it.name(p)) {
			return false
		}
	}
	for _, what := range []lack{lacksNested, lacksText} {
		for i := range it.parts {
			if p := &it.parts[i]; p.fate == isShown && p.lacks == what && !it.name(p) {
				return false
			}
		}
	}
	return true
}

// name adds the field of a part to the list, if it can.
func (it *item) name(p *part) bool {
	const most = 8
	if p.field == "" || len(it.names) == most {
		return false
	}
	it.names = append(it.names, p.field)
	return true
}
