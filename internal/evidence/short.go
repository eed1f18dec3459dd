package evidence

import "pdpp/internal/rawjson"

// AppendShortFacts appends the content of a card except title and time as members of a
// short hit (REC-42): the fields with a declared role, by name, and the facts about
// binary values. It omits empty members. Strings are cut as on a card, and cut_fields
// names their fields.
func AppendShortFacts(dst []byte, r *Record) []byte {
	w := writer{Writer: dst}
	var cut []string
	n := 0
	for _, role := range cardRoles {
		for _, field := range r.presentation().Roles[role] {
			value, isCut := r.shortValue(field)
			if n == maxCardFields || value == nil {
				continue
			}
			if n++; n == 1 {
				w.OpenObject("fields")
			}
			w.Member(field, value)
			if isCut {
				cut = append(cut, field)
			}
		}
	}
	if n > 0 {
		w.End("}")
	}
	if len(cut) > 0 {
		rawjson.List(&w.Writer, "cut_fields", cut)
	}
	shortBinary(&w, r)
	return w.Writer
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
	list := writer{Writer: r.scratch[:0]}
	_, omitted := cardBinary(&list, r, maxCardBytes)
	if r.scratch = list.Writer; len(list.Writer) > 0 {
		w.OpenArray("binary")
		w.join(&list)
		w.End("]")
	}
	if omitted > 0 {
		w.Number("binary_omitted_count", omitted)
	}
}
