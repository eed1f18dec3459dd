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

// Provenance is the reason why a text is shown.
type Provenance string

// The provenances (EX-6).
const (
	LexicalMatch Provenance = "lexical_match"
	DeclaredRole Provenance = "declared_role"
)

// Excerpt is a part of a field, cleaned and with its matches marked. Positions are
// characters of the field as stored, including removed ones (EX-7).
type Excerpt struct {
	Field       string
	Provenance  Provenance
	Preview     string // … on each cut side, <mark> around matches
	Highlighted bool   // Preview contains a mark
	Start, End  int
	Total       int
	Searched    int // if the field matches only after this many characters; else 0
}

// isTruncated reports whether a part of the field is not shown.
func (e Excerpt) isTruncated() bool { return e.Start > 0 || e.End < e.Total }

// Excerpts returns at most three excerpts: the best matches of a record, then the
// beginning of its text if that field is not among them (EX-6). Binary values are never
// shown.
func Excerpts(r *Record, m Matches) []Excerpt {
	out := make([]Excerpt, 0, maxExcerpts)
	for _, found := range m.found {
		if len(out) == maxExcerpts {
			return out
		}
		if found.Content != "" && !found.isBinary() {
			out = append(out, found.excerpt(maxExcerpt))
		}
	}
	field := TextField(r)
	shown := slices.ContainsFunc(out, func(e Excerpt) bool { return e.Field == field })
	if field == "" || shown || len(out) == maxExcerpts {
		return out
	}
	return append(out, beginning(r, field, maxExcerpt))
}

// BestExcerpt returns the first of the excerpts with at most that many characters, or
// false when there is none. It renders nothing else.
func BestExcerpt(r *Record, m Matches, most int) (Excerpt, bool) {
	most = min(most, maxExcerpt)
	for _, found := range m.found {
		if found.Content != "" && !found.isBinary() {
			return found.excerpt(most), true
		}
	}
	field := TextField(r)
	if field == "" {
		return Excerpt{}, false
	}
	return beginning(r, field, most), true
}

// Snippet returns the text of a hit and its field, or false when there is none.
func Snippet(excerpts []Excerpt) (field, preview string, ok bool) {
	if len(excerpts) == 0 {
		return "", "", false
	}
	return excerpts[0].Field, excerpts[0].Preview, true
}

func (m match) excerpt(most int) Excerpt {
	part := around(m.Content, m.best, m.total, most)
	e := Excerpt{Field: m.Field, Provenance: LexicalMatch, Start: part.from, End: part.to, Total: m.total, Searched: m.searched}
	e.Preview, e.Highlighted = render(m.Content, part, m.best.places, m.total)
	return e
}

// beginning returns an excerpt with the first characters of a text field.
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

// AppendShort appends the excerpt as the snippet of a short hit (REC-42), with its place
// in the field unless it is the whole field.
func (e Excerpt) AppendShort(dst []byte) []byte {
	w := rawjson.Writer(append(dst, '{'))
	w.Text("field", e.Field)
	w.Text("text", e.Preview)
	if e.isTruncated() {
		w.Number("start_chars", e.Start)
		w.Number("total_chars", e.Total)
	} else {
		w.Flag("truncated", false)
	}
	if e.Searched > 0 {
		w.Number("match_after_chars", e.Searched)
	}
	w.End("}")
	return w
}

// isBinary is like DetectBinary, for a decoded string or the beginning of one.
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
	w := writer{Writer: append(dst, '[')}
	for _, e := range excerpts {
		e.append(&w, r)
	}
	w.End("]")
	return w.Writer
}

// append writes one excerpt. Its link starts at the first shown character, so that a
// reader sees the excerpt in its context, or at the part that contains the match.
func (e Excerpt) append(w *writer, r *Record) {
	w.Literal(`{"object":"evidence_excerpt"`)
	w.Text("field_path", e.Field)
	w.Text("provenance", string(e.Provenance))
	w.Text("preview_text", e.Preview)
	w.Flag("highlighted", e.Highlighted)
	w.Number("start_chars", e.Start)
	w.Number("end_chars", e.End)
	w.Number("total_chars", e.Total)
	w.Flag("truncated", e.isTruncated())
	if e.Searched > 0 {
		w.Number("match_after_chars", e.Searched)
	}
	w.Literal(`"read":`)
	fieldWindow{field: e.Field, offset: max(e.Start, e.Searched)}.append(w, r)
	w.End("}")
}
