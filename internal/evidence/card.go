package evidence

import (
	"pdpp"
	"pdpp/internal/rawjson"
)

// The bounds of a card (EX-2, EX-5, EX-8).
const (
	maxCardBytes   = 2 << 10 // without ids and hrefs
	maxCardFields  = 4
	maxCardValue   = 160 // characters of a string
	maxCardBinary  = 3
	minCardValue   = 16 // bytes of a string below which it is left out for space
	maxNumberBytes = 64 // longer numbers are nobody's amount
)

// cardRoles are the roles whose fields are on a card, in the order in which they
// get a place (MS-66).
var cardRoles = []pdpp.Role{pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleSecondary}

// AppendCard appends the evidence_card of a record (EX-2): its title, its time,
// the fields whose role was declared, the facts about what is binary, and how to
// read the whole. No other field is promoted (EVID-1). When the room is short,
// field values give way to binary facts, which nothing else tells. at is what
// EventTimeOf says of the record.
func AppendCard(dst []byte, r *Record, at EventTime) []byte {
	const (
		beforeFields  = `,"fields":[`
		beforeBinary  = `],"binary":[`
		beforeOmitted = `],"binary_omitted_count":`
		beforeRead    = `,"read":`
		maxDigits     = 10 // of the count
		frame         = len(beforeFields+beforeBinary+beforeOmitted+beforeRead+`}`) + maxDigits
	)
	card := writer{buf: dst, free: len(dst)}
	card.raw(`{"object":"evidence_card","title":`)
	TitleAt(r, at).append(&card)
	at.append(&card)

	read := writer{buf: r.scratch[:0]}
	appendRecordRead(&read, r)
	r.scratch = read.buf
	binary := writer{buf: read.buf[len(read.buf):]}

	room := maxCardBytes - card.counted() - read.counted() - frame
	room, omitted := cardBinary(&binary, r, room)
	card.raw(beforeFields)
	cardFields(&card, r, room)
	card.raw(beforeBinary)
	card.join(&binary)
	card.raw(beforeOmitted)
	card.int(omitted)
	card.raw(beforeRead)
	card.join(&read)
	card.raw(`}`)
	return card.buf
}

func (t Title) append(w *writer) {
	w.raw(`{"text":`)
	w.str(t.Text)
	w.raw(`,"source":`)
	w.str(string(t.Source))
	w.field(t.Field)
	w.raw(`,"truncated":`)
	w.bool(t.Truncated)
	w.raw(`}`)
}

// append writes the member event_time, if there is one.
func (t EventTime) append(w *writer) {
	if t.Value == "" {
		return
	}
	w.raw(`,"event_time":{"value":`)
	w.str(t.Value)
	w.raw(`,"source":`)
	w.str(string(t.Source))
	w.field(t.Field)
	w.raw(`}`)
}

// cardFields writes the scalar values with the roles of EX-5 while they fit.
func cardFields(w *writer, r *Record, room int) {
	n := 0
	for _, role := range cardRoles {
		for _, field := range r.presentation().Roles[role] {
			if n == maxCardFields {
				return
			}
			before := *w
			if n > 0 {
				w.raw(",")
			}
			size, ok := cardField(w, r, role, field, room)
			if !ok || size+1 > room {
				*w = before
				continue
			}
			room -= size + 1
			n++
		}
	}
}

// cardField writes one field; a string is cut to the room there is. It reports
// how much of the room it took, and false when there is nothing to show.
func cardField(w *writer, r *Record, role pdpp.Role, field string, room int) (size int, ok bool) {
	value, ok := r.value(field)
	if !ok {
		return 0, false
	}
	start := w.counted()
	w.raw(`{"role":`)
	w.str(string(role))
	w.field(field)
	w.raw(`,"value":`)
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		const end = `"","truncated":true},`
		s, cut := cardText(r, field, room-(w.counted()-start)-len(end))
		if s == "" {
			return 0, false
		}
		w.str(s)
		if cut {
			w.raw(`,"truncated":true`)
		}
	case rawjson.KindNumber, rawjson.KindBool:
		if len(value) > maxNumberBytes {
			return 0, false
		}
		w.buf = append(w.buf, value...) // the digits as stored (D15)
	default:
		return 0, false
	}
	w.raw(`}`)
	return w.counted() - start, true
}

// cardText gives a string value for a card, "" when there is nothing to show or
// hardly room for it.
func cardText(r *Record, field string, room int) (s string, cut bool) {
	t, ok := r.text(field)
	if !ok {
		return "", false
	}
	s, more := r.head(t)
	s, cut = cutChars(Clean(s), maxCardValue)
	short := cutBytes(s, room)
	if len(short) < len(s) && len(short) < minCardValue {
		return "", false
	}
	return short, cut || more || len(short) < len(s)
}

// cardBinary writes the facts about binary values, at most three, and counts the
// others. It gives the room that is left.
func cardBinary(w *writer, r *Record, room int) (left, omitted int) {
	n := 0
	eachBinary(r, func(f binaryField) {
		if n == maxCardBinary {
			omitted++
			return
		}
		before := *w
		if n > 0 {
			w.raw(",")
		}
		start := w.counted()
		f.append(w, r)
		size := w.counted() - start + 1
		if size > room {
			*w = before
			omitted++
			return
		}
		room -= size
		n++
	})
	return room, omitted
}
