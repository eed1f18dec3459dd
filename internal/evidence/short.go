package evidence

import "pdpp/internal/rawjson"

// AppendShortFacts appends the content of a card except title and time as members of a
// short hit (REC-42): the fields with a declared role, by name, and the facts about
// binary values. It omits empty members. Strings are cut as on a card, and cut_fields
// names their fields.
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

// shortValue returns the value of a field as on a card, or nil when a card omits it.
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

// shortBinary writes the facts about binary values and the number of omitted ones.
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
