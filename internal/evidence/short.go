package evidence

import "pdpp/internal/rawjson"

// AppendShortFacts appends what a card says beyond title and time, as members of a
// short hit (REC-42): the fields whose role was declared, by their names, and the facts
// about binary values. Members without content are left out. A string is cut like that
// of a card, and its field is then named in cut_fields.
func AppendShortFacts(dst []byte, r *Record) []byte {
	w := writer{buf: dst}
	var cut []string
	n := 0
	for _, role := range cardRoles {
		for _, field := range r.presentation().Roles[role] {
			value, isCut := r.shortValue(field)
			if n == maxCardFields || value == nil {
				continue
			}
			if n++; n == 1 {
				w.raw(`,"fields":{`)
			} else {
				w.raw(`,`)
			}
			w.str(field)
			w.raw(`:`)
			w.buf = append(w.buf, value...)
			if isCut {
				cut = append(cut, field)
			}
		}
	}
	if n > 0 {
		w.raw(`}`)
	}
	for i, field := range cut {
		if i == 0 {
			w.raw(`,"cut_fields":[`)
		} else {
			w.raw(`,`)
		}
		w.str(field)
	}
	if len(cut) > 0 {
		w.raw(`]`)
	}
	shortBinary(&w, r)
	return w.buf
}

// shortValue is the value of a field as a card shows it; nil when it shows none.
func (r *Record) shortValue(field string) (value []byte, cut bool) {
	value, _ = r.value(field)
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		s, cut := cardText(r, field, maxCardBytes)
		if s == "" {
			return nil, false
		}
		return rawjson.AppendString(nil, s), cut
	case rawjson.KindNumber, rawjson.KindBool:
		if len(value) <= maxNumberBytes {
			return value, false
		}
	}
	return nil, false
}

// shortBinary writes the facts about binary values, and how many more there are.
func shortBinary(w *writer, r *Record) {
	list := writer{buf: r.scratch[:0]}
	_, omitted := cardBinary(&list, r, maxCardBytes)
	r.scratch = list.buf
	if len(list.buf) > 0 {
		w.raw(`,"binary":[`)
		w.join(&list)
		w.raw(`]`)
	}
	if omitted > 0 {
		w.raw(`,"binary_omitted_count":`)
		w.int(omitted)
	}
}
