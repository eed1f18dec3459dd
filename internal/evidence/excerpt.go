package evidence

import (
	"slices"
	"unicode/utf8"

	"pdpp/internal/rawjson"
)

// The bounds of excerpts (EX-6).
const (
	maxExcerpts = 3
	maxExcerpt  = 320 // characters of the source
)

// Provenance says why a text is shown.
type Provenance string

// The provenances (EX-6).
const (
	LexicalMatch  Provenance = "lexical_match"
	SemanticMatch Provenance = "semantic_match"
	DeclaredRole  Provenance = "declared_role"
)

// Excerpt is a part of a field, cleaned and with its matches marked. Positions
// are characters of the field as stored, so what was removed counts (EX-7).
type Excerpt struct {
	Field       string
	Provenance  Provenance
	Preview     string // … on each cut side, <mark> around matches
	Highlighted bool   // something is marked
	Start, End  int
	Total       int
	Searched    int // characters after which the field matches, when none of them does; else 0
}

// IsTruncated reports whether a part of the field is not shown.
func (e Excerpt) IsTruncated() bool { return e.Start > 0 || e.End < e.Total }

// Excerpts shows the best matches of a record and then the beginning of its text,
// if that is not among them: three at most (EX-6). Binary values are never shown.
func Excerpts(r *Record, m Matches) []Excerpt {
	out := make([]Excerpt, 0, maxExcerpts)
	for _, found := range m.found {
		if len(out) == maxExcerpts {
			return out
		}
		if found.Content != "" && !found.isBinary() {
			out = append(out, found.excerpt(m.provenance, maxExcerpt))
		}
	}
	field := TextField(r)
	shown := slices.ContainsFunc(out, func(e Excerpt) bool { return e.Field == field })
	if field == "" || shown || len(out) == maxExcerpts {
		return out
	}
	return append(out, beginning(r, field, maxExcerpt))
}

// BestExcerpt is the first of the excerpts, of at most that many characters; false
// when there is none. Nothing else of the record is rendered.
func BestExcerpt(r *Record, m Matches, most int) (Excerpt, bool) {
	most = min(most, maxExcerpt)
	for _, found := range m.found {
		if found.Content != "" && !found.isBinary() {
			return found.excerpt(m.provenance, most), true
		}
	}
	field := TextField(r)
	if field == "" {
		return Excerpt{}, false
	}
	return beginning(r, field, most), true
}

// Snippet is the text of a hit and its field; false when there is none.
func Snippet(excerpts []Excerpt) (field, preview string, ok bool) {
	if len(excerpts) == 0 {
		return "", "", false
	}
	return excerpts[0].Field, excerpts[0].Preview, true
}

func (m match) excerpt(why Provenance, most int) Excerpt {
	part := around(m.Content, m.best, m.total, most)
	e := Excerpt{Field: m.Field, Provenance: why, Start: part.from, End: part.to, Total: m.total, Searched: m.searched}
	e.Preview, e.Highlighted = render(m.Content, part, m.best.places, m.total)
	return e
}

// beginning shows the first characters of a text field.
func beginning(r *Record, field string, most int) Excerpt {
	t, _ := r.text(field)
	total := t.total
	if t.isWhole() {
		total = rawjson.CharCount(t.content)
	}
	head, _ := r.head(t)
	part := leading(head, total, most)
	e := Excerpt{Field: field, Provenance: DeclaredRole, End: part.to, Total: total}
	e.Preview, _ = render(head, part, nil, total)
	return e
}

// AppendShort appends the excerpt as the snippet of a short hit (REC-42): with its place
// in the field, or that it is the whole field.
func (e Excerpt) AppendShort(dst []byte) []byte {
	w := writer{buf: dst}
	w.raw(`{"field":`)
	w.str(e.Field)
	w.raw(`,"text":`)
	w.str(e.Preview)
	if e.IsTruncated() {
		w.raw(`,"start_chars":`)
		w.int(e.Start)
		w.raw(`,"total_chars":`)
		w.int(e.Total)
	} else {
		w.raw(`,"truncated":false`)
	}
	if e.Searched > 0 {
		w.raw(`,"match_after_chars":`)
		w.int(e.Searched)
	}
	w.raw(`}`)
	return w.buf
}

// isBinary is DetectBinary for a decoded string, or the beginning of one.
func (t Text) isBinary() bool {
	s := t.Content
	if len(s) < minBinaryChars {
		return false
	}
	p := probe{isCut: t.Chars > 0}
	var buf [64 * utf8.UTFMax]byte
	for len(s) > 0 {
		chunk, _ := cutChars(s, len(buf)/utf8.UTFMax)
		if !p.text(append(buf[:0], chunk...)) {
			return false
		}
		s = s[len(chunk):]
	}
	_, ok := p.result()
	return ok
}

// AppendExcerpts appends the list evidence_excerpts.
func AppendExcerpts(dst []byte, r *Record, excerpts []Excerpt) []byte {
	w := writer{buf: append(dst, '[')}
	for i, e := range excerpts {
		if i > 0 {
			w.raw(",")
		}
		e.append(&w, r)
	}
	w.raw("]")
	return w.buf
}

// append writes one excerpt. Its continuation starts at the first character that
// is shown, so that a reader who follows it sees the excerpt in its place; or where the
// part begins that holds the match.
func (e Excerpt) append(w *writer, r *Record) {
	w.raw(`{"object":"evidence_excerpt","field_path":`)
	w.str(e.Field)
	w.raw(`,"provenance":`)
	w.str(string(e.Provenance))
	w.raw(`,"preview_text":`)
	w.str(e.Preview)
	w.raw(`,"highlighted":`)
	w.bool(e.Highlighted)
	w.raw(`,"start_chars":`)
	w.int(e.Start)
	w.raw(`,"end_chars":`)
	w.int(e.End)
	w.raw(`,"total_chars":`)
	w.int(e.Total)
	w.raw(`,"truncated":`)
	w.bool(e.IsTruncated())
	if e.Searched > 0 {
		w.raw(`,"match_after_chars":`)
		w.int(e.Searched)
	}
	w.raw(`,"read":`)
	FieldWindow{Field: e.Field, Offset: max(e.Start, e.Searched)}.append(w, r)
	w.raw(`}`)
}
