package mcp

import (
	"slices"
	"strings"
)

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
	short := *p
	lo, hi := minShown, p.chars
	for lo < hi { // the most characters that fit
		n := (lo + hi) / 2
		if short.shorten(n); short.size <= room {
			lo = n + 1
		} else {
			hi = n
		}
	}
	for n := min(lo, p.chars); n >= minShown; n-- {
		if short.shorten(n); short.size <= room {
			*p = short
			return
		}
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
	more := f.more(f.room - (len(b) - start))
	b = append(b, more...)
	led = more != "" || !f.isCut() || f.item.way == nil
	expand := f.item.expand()
	switch {
	case expand == "" || expand == more:
	case len(b)-start+len(expand) <= f.room:
		b = append(b, expand...)
	default:
		led = false
	}
	return b, led
}

// more is the line that says how to read what the item does not show (MS-68); ""
// when it shows all, or there is no room for a line.
func (f *fitting) more(room int) string {
	if f.item.way == nil || !f.isCut() {
		return ""
	}
	lacking := func(what lack) (fields []part) {
		for _, p := range f.shown {
			if p.lacks == what {
				fields = append(fields, p)
			}
		}
		return fields
	}
	texts, nested := lacking(lacksText), lacking(lacksNested)
	hasHandle := f.item.ref.id != ""
	var line string
	switch {
	case len(texts) > 0 && texts[0].field != "" && hasHandle:
		line = f.readOn(texts, room)
	case hasHandle && len(texts)+len(nested)+len(f.left) == 0:
		line = f.item.expand()
	default:
		line = f.fields(slices.Concat(f.left, nested, texts), room)
	}
	if len(line) > room {
		return ""
	}
	return line
}

// readOn is the call that goes on in the first of some texts.
func (f *fitting) readOn(texts []part, room int) string {
	line := string(f.item.window(&texts[0]).appendMore(nil))
	if len(texts) == 1 {
		return line
	}
	longer := strings.TrimSuffix(line, "\n") + " other_fields=" + quoteList(fieldNames(texts[1:])) + "\n"
	if len(longer) > room {
		return line
	}
	return longer
}

// fields is the call that shows some fields: the whole record when they are many, or
// not all have a name.
func (f *fitting) fields(parts []part, room int) string {
	const most = 8
	list := fieldNames(parts)
	if len(list) <= most && !slices.Contains(list, "") {
		if line := moreLine(f.item.way(list)); len(line) <= room {
			return line
		}
	}
	return moreLine(f.item.way(nil))
}

func fieldNames(parts []part) []string {
	list := make([]string, len(parts))
	for i, p := range parts {
		list[i] = p.field
	}
	return list
}
