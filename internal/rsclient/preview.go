package rsclient

import (
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// PreviewRow returns a row of a page with its long values cut to previews of at most n
// characters, as a server that supports the preference sends it (REC-39, REC-41,
// MS-71). If no value is longer, it returns the row unchanged and cut is false.
func PreviewRow(raw []byte, n int) (row []byte, cut bool) { return preview(raw, n, envelopeNames) }

// PreviewDetail does the same as PreviewRow for the answer of the record route.
func PreviewDetail(body []byte, n int) (detail []byte, cut bool) {
	return preview(body, n, detailNames)
}

// preview copies a record and cuts its values. A record without the member data has its
// payload beside the names in envelope (MS-60).
func preview(raw []byte, n int, envelope map[string]bool) ([]byte, bool) {
	if rawjson.KindOf(raw) != rawjson.KindObject {
		return raw, false
	}
	p := previewer{chars: n, before: truncationsOf(get(raw, "truncated_fields")), out: rawjson.Writer("{")}
	wrapped := object(raw, "data") != nil
	s := rawjson.Scan(raw)
	for name := range s.Members() {
		if string(name) == "truncated_fields" {
			continue // truncations writes it at the end, with the new entries
		}
		p.out.Raw(s.Key())
		value := s.Value()
		switch {
		case string(name) == "expanded":
			p.relations(value)
		case wrapped && string(name) == "data":
			p.payload(value)
		case !wrapped && !envelope[string(name)]:
			p.value(string(name), value)
		default:
			p.out = append(p.out, value...)
		}
	}
	if !p.cut {
		return raw, false
	}
	p.truncations(get(raw, "truncated_fields"))
	return append(p.out, '}'), true
}

// previewer copies a record and shortens its values.
type previewer struct {
	chars  int
	before map[string]*evidence.Truncation // what the server itself had cut
	out    rawjson.Writer
	names  []string // of the fields that are cut here
	facts  []evidence.Truncation
	cut    bool // also in a record of a relation
}

func (p *previewer) payload(obj []byte) {
	p.out.Object()
	s := rawjson.Scan(obj)
	for name := range s.Members() {
		p.out.Raw(s.Key())
		p.value(string(name), s.Value())
	}
	p.out.End("}")
}

func (p *previewer) value(name string, value []byte) {
	var t *evidence.Truncation
	p.out, t = evidence.AppendPreview(p.out, value, p.chars, true)
	if t == nil {
		return
	}
	if old := p.before[name]; old != nil { // already a preview: its total comes from the server
		whole := *old
		whole.ShownChars = t.ShownChars
		t = &whole
	}
	p.names, p.facts, p.cut = append(p.names, name), append(p.facts, *t), true
}

// relations copies expanded, whose records are previewed like any other.
func (p *previewer) relations(v []byte) {
	if rawjson.KindOf(v) != rawjson.KindObject {
		p.out = append(p.out, v...)
		return
	}
	p.out.Object()
	s := rawjson.Scan(v)
	for range s.Members() {
		p.out.Raw(s.Key())
		p.relation(s.Value())
	}
	p.out.End("}")
}

// relation copies a list of records, or one record (REC-26).
func (p *previewer) relation(v []byte) {
	list := span{0, len(v)}
	if rawjson.KindOf(v) == rawjson.KindObject {
		list, _ = locate(v, []string{"data"})
	}
	records := v[list.start:list.end]
	if rawjson.KindOf(records) != rawjson.KindArray {
		p.child(v)
		return
	}
	p.out = append(append(p.out, v[:list.start]...), '[')
	for item := range rawjson.Elements(records) {
		p.child(item)
	}
	p.out.End("]")
	p.out = append(p.out, v[list.end:]...)
}

func (p *previewer) child(raw []byte) {
	record, cut := PreviewRow(raw, p.chars)
	p.out.Raw(record)
	p.cut = p.cut || cut
}

// truncations writes truncated_fields: the server's own entries, where they still hold,
// and then those of this preview.
func (p *previewer) truncations(old []byte) {
	start := len(p.out)
	p.out.OpenObject("truncated_fields")
	empty := len(p.out)
	here := make(map[string]bool)
	for _, name := range p.names {
		here[name] = true
	}
	s := rawjson.Scan(old)
	for name := range s.Members() {
		if !here[string(name)] {
			p.out.Raw(s.Member())
		}
	}
	for i, name := range p.names {
		p.out.Key(name)
		p.out = p.facts[i].AppendJSON(p.out)
	}
	if len(p.out) == empty { // only records of a relation are cut
		p.out = p.out[:start]
		return
	}
	p.out.End("}")
}
