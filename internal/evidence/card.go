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
		maxDigits = 10 // of the count
		frame     = len(`,"fields":[],"binary":[],"binary_omitted_count":,"read":}`) + maxDigits
	)
	card := writer{append(dst, `{"object":"evidence_card"`...), len(dst)}
	TitleAt(r, at).append(&card)
	at.append(&card)

	read := writer{Writer: r.scratch[:0]}
	appendRecordRead(&read, r)
	r.scratch = read.Writer
	binary := writer{Writer: read.Writer[len(read.Writer):]}

	space := maxCardBytes - card.counted() - read.counted() - frame
	space, omitted := cardBinary(&binary, r, space)
	card.Literal(`"fields":[`)
	cardFields(&card, r, space)
	card.End("]")
	card.Literal(`"binary":[`)
	card.join(&binary)
	card.End("]")
	card.Number("binary_omitted_count", omitted)
	card.Literal(`"read":`)
	card.join(&read)
	card.End("}")
	return card.Writer
}

// append writes the member title.
func (t Title) append(w *writer) {
	w.Literal(`"title":{`)
	w.Text("text", t.Text)
	w.Text("source", string(t.Source))
	w.optionalID("field", t.Field)
	w.Flag("truncated", t.Truncated)
	w.End("}")
}

// append writes the member event_time, if the time is known.
func (t EventTime) append(w *writer) {
	if t.Value == "" {
		return
	}
	w.Literal(`"event_time":{`)
	w.Text("value", t.Value)
	w.Text("source", string(t.Source))
	w.optionalID("field", t.Field)
	w.End("}")
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
	w.Object()
	start := w.counted() - len("{")
	w.Text("role", string(role))
	w.optionalID("field", field)
	w.Literal(`"value":`)
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		const end = `"","truncated":true},`
		s, cut := cardText(r, field, space-(w.counted()-start)-len(end))
		if s == "" {
			return 0, false
		}
		w.String(s)
		if cut {
			w.Flag("truncated", true)
		}
	case rawjson.KindNumber, rawjson.KindBool:
		if len(value) > maxNumberBytes {
			return 0, false
		}
		w.Raw(value) // the digits as stored (D15)
	default:
		return 0, false
	}
	w.End("}")
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
		f.append(w, r)
		size := w.counted() - before.counted()
		if n == 0 {
			size++ // the comma of the others
		}
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
