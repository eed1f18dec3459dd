package mcp

import "slices"

// separator stands before every part.
const separator = " | "

// fitting is an item as it fits into its share.
type fitting struct {
	item   *item
	room   int // bytes of the share
	labels []string
	shown  []part
	left   []part // what is left out
	partly bool   // there is room to say how to read on
}

// place takes a part if there is room for it, whole or shortened. It gives the bytes
// that it took.
func (f *fitting) place(p part, room int) int {
	if p.size == 0 {
		if f.partly {
			f.shown = append(f.shown, p)
		}
		return 0
	}
	if len(separator)+p.size > room && f.partly {
		p.shrink(room - len(separator))
	}
	if len(separator)+p.size > room || p.lacks != lacksNothing && !f.partly {
		if p.lacks == lacksRelation {
			p.field = "" // it is no field that fetch could be asked for
		}
		f.left = append(f.left, p)
		return 0
	}
	f.shown = append(f.shown, p)
	return len(separator) + p.size
}

// shrink shortens a text until it fits; it stays as it is when too little would be
// left.
func (p *part) shrink(room int) {
	if p.source == "" || room < minShown {
		return
	}
	if !p.marked {
		var mark [32]byte
		around := len(p.label) + len(`=""`) + len(ellipsis) + len(appendCutMark(mark[:0], p.total))
		p.shortenTo(min(charsWithin(p.source, room-around), p.chars), room)
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
func (f *fitting) isCut() bool {
	return len(f.left) > 0 || slices.ContainsFunc(f.shown, func(p part) bool { return p.lacks != lacksNothing })
}

// size is the length of the item's first line, without what is left out.
func (f *fitting) size() int {
	n := len(f.item.head) + len("\n")
	for _, l := range f.labels {
		n += len(l)
	}
	for i := range f.shown {
		if f.shown[i].size > 0 {
			n += len(separator) + f.shown[i].size
		}
	}
	return n
}

// append appends the item with its lines. led reports that it says how to read what
// it does not show.
func (f *fitting) append(b []byte) (text []byte, led bool) {
	start := len(b)
	b = append(b, f.item.head...)
	for _, l := range f.labels {
		b = append(b, l...)
	}
	for i := range f.shown {
		if f.shown[i].size > 0 {
			b = f.shown[i].append(append(b, separator...))
		}
	}
	if len(f.left) > 0 {
		b = append(b, moreFields(len(f.left))...)
	}
	b = append(b, '\n')
	line := len(b)
	b = f.appendMore(b, f.room-(len(b)-start))
	more := b[line:]
	led = len(more) > 0 || !f.isCut() || !f.item.hasWay()
	expand := f.item.expand()
	switch {
	case expand == "" || expand == string(more):
	case len(b)-start+len(expand) <= f.room:
		b = append(b, expand...)
	default:
		led = false
	}
	return b, led
}

// appendMore appends the line that says how to read what the item does not show
// (MS-68); nothing when it shows all, or there is no room for a line.
func (f *fitting) appendMore(b []byte, room int) []byte {
	if !f.item.hasWay() || !f.isCut() {
		return b
	}
	text := f.lacking(lacksText) // the first
	start := len(b)
	switch hasHandle := f.item.ref.id != ""; {
	case text != nil && text.field != "" && hasHandle:
		b = f.appendReadOn(b, text, room)
	case hasHandle && text == nil && f.lacking(lacksNested) == nil && len(f.left) == 0:
		b = append(b, f.item.expand()...)
	default:
		b = f.appendFields(b, room)
	}
	if len(b)-start > room {
		return b[:start]
	}
	return b
}

// lacking is the first part that is shown without something; nil when there is none.
func (f *fitting) lacking(what lack) *part {
	for i := range f.shown {
		if f.shown[i].lacks == what {
			return &f.shown[i]
		}
	}
	return nil
}

// appendReadOn appends the call that goes on in a text, and the names of others that
// are shortened, too.
func (f *fitting) appendReadOn(b []byte, text *part, room int) []byte {
	start := len(b)
	b = f.item.window(text).appendMore(b)
	end, others := len(b), 0
	for i := range f.shown {
		if p := &f.shown[i]; p.lacks == lacksText && p != text {
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
func (f *fitting) appendFields(b []byte, room int) []byte {
	const most = 8
	var names [most]string
	list := names[:0]
	hasAll := true
	note := func(p *part) {
		if hasAll = hasAll && len(list) < most && p.field != ""; hasAll {
			list = append(list, p.field)
		}
	}
	for i := range f.left {
		note(&f.left[i])
	}
	for _, what := range []lack{lacksNested, lacksText} {
		for i := range f.shown {
			if f.shown[i].lacks == what {
				note(&f.shown[i])
			}
		}
	}
	if hasAll {
		start := len(b)
		if b = f.item.appendWay(b, list); len(b)-start <= room {
			return b
		}
		b = b[:start]
	}
	return f.item.appendWay(b, nil)
}
