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
	minCardValue   = 16 // bytes; a string that must be shorter for space is omitted
	maxNumberBytes = 64 // longer numbers are omitted
)

// cardRoles are the roles of the fields on a card, by priority (MS-66).
var cardRoles = []pdpp.Role{pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleSecondary}

// AppendCard appends the evidence_card of a record (EX-2): its title, its time, the
// fields with a declared role, the facts about binary values, and how to read the whole
// record. It promotes no other field (EVID-1). When space is short, binary facts have
// priority over field values, because nothing else contains them. at is the result of
// EventTimeOf.
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

	space := maxCardBytes - card.counted() - read.counted() - frame
	space, omitted := cardBinary(&binary, r, space)
	card.raw(beforeFields)
	cardFields(&card, r, space)
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

// append writes the member event_time, if the time is known.
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

// cardFields writes the scalar values with the roles of EX-5 that fit.
func cardFields(w *writer, r *Record, space int) {
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
			size, ok := cardField(w, r, role, field, space)
			if !ok || size+1 > space {
				*w = before
				continue
			}
			space -= size + 1
			n++
		}
	}
}

// cardField writes one field and truncates a string to the available space. It returns
// the number of bytes that count, and false when there is nothing to show.
func cardField(w *writer, r *Record, role pdpp.Role, field string, space int) (size int, ok bool) {
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
		s, cut := cardText(r, field, space-(w.counted()-start)-len(end))
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

// cardText returns a string value for a card, or "" when it is empty or there is too
// little space.
func cardText(r *Record, field string, space int) (s string, cut bool) {
	t, ok := r.text(field)
	if !ok {
		return "", false
	}
	s, more := r.head(t)
	s, cut = cutChars(Clean(s), maxCardValue)
	short := cutBytes(s, space)
	if len(short) < len(s) && len(short) < minCardValue {
		return "", false
	}
	return short, cut || more || len(short) < len(s)
}

// cardBinary writes the facts about up to three binary values and counts the others. It
// returns the remaining space.
func cardBinary(w *writer, r *Record, space int) (left, omitted int) {
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
		if size > space {
			*w = before
			omitted++
			return
		}
		space -= size
		n++
	})
	return space, omitted
}
