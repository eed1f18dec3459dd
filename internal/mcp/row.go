package mcp

import (
	"slices"
	"strconv"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// row is a record of an answer and what is said of it (MS-60, MS-61).
type row struct {
	rsclient.RecordReader
	ref      ref
	evidence evidence.Record
	all      []evidence.Field // its fields
	title    evidence.Title   // its text is never empty where there is a handle
	at       evidence.EventTime

	columns columns

	partly []ranked // the fields that an answer shows in part
}

// describe says what there is to say of the record that was read. fields, when they were
// asked for, are all that is looked at (MS-102, PROJ-2).
func (r *row) describe(fields []string) {
	if fields != nil {
		r.Project(fields)
	}
	r.ref = referBy(Handle(r.Identity), r.Texts)
	if r.Describe(&r.evidence); fields != nil {
		r.evidence.Envelope = nil // it was not asked for either
	}
	r.all = r.evidence.AppendFields(r.all[:0])
	r.at = evidence.EventTimeOf(&r.evidence)
	r.title = evidence.TitleAt(&r.evidence, r.at)
	if r.title.Text == "" {
		r.title.Text = r.ref.id
	}
}

// isSaid reports a field that the title, the time or the id shows. A field is left out
// because of what it was declared to be; one that merely has an equal value is shown.
func (r *row) isSaid(f *evidence.Field) bool {
	return f.Name == r.title.Field || f.Name == r.at.Field || r.isKey(f)
}

// isKey reports the declared primary key, whose value is the id.
func (r *row) isKey(f *evidence.Field) bool {
	key := r.evidence.Presentation.PrimaryKey
	if len(key) != 1 || key[0] != f.Name {
		return false
	}
	return rawjson.Is(f.Value, r.Identity.Record) || string(f.Value) == r.Identity.Record
}

// isEmpty reports a value that says nothing.
func isEmpty(f *evidence.Field) bool {
	switch string(f.Value) {
	case `""`:
		return f.Cut == nil // else it stands for something binary
	case `null`, `{}`, `[]`:
		return true
	}
	return false
}

// sources are those of the rows of a page.
func (r *row) sources(rows [][]byte) (all sources) {
	for _, raw := range rows {
		r.Origin(raw)
		all.add(r.Connection, r.Source)
	}
	return all
}

// item is the record as a text shows it, without its source.
func (r *row) item(it *item, n int) {
	it.start(n, r.ref)
	if r.ref.id == "" { // reachable through query_records only (MS-52)
		it.say("no handle, query_records only: record_id=" + quoteID(r.Identity.Record))
	}
	if r.Deleted {
		it.say("deleted=true")
		it.label("deleted_at", r.DeletedAt)
		it.label("removed_reason", r.RemovedReason)
		return
	}
	it.titled(r.title, r.at)
	r.columns.follow(r)
	it.parts = slices.Grow(it.parts, len(r.columns.order)+len(r.Expanded)+1)
	empty := it.empty[:0]
	for _, i := range r.columns.order {
		switch f := &r.all[i]; {
		case r.isSaid(f):
		case isEmpty(f):
			empty = append(empty, r.columns.names[i].label)
		default:
			if i == r.columns.text && f.Shape == evidence.ShapeText {
				it.body = len(it.parts)
			}
			r.addField(it, f, r.columns.names[i])
		}
	}
	it.addEmpty(empty)
	for i := range r.Expanded {
		it.relation(&r.Expanded[i])
	}
	if r.title.Truncated && r.title.Field != "" {
		it.add(named(r.title.Field)).lacks = lacksText
	}
}

// addField adds a field.
func (r *row) addField(it *item, f *evidence.Field, n naming) {
	p := it.add(n)
	switch f.Shape {
	case evidence.ShapeScalar:
		p.print(f.Value)
	case evidence.ShapeBinary:
		p.print(it.written(appendBinary(it.values, *f)))
		if isReadFile(f.File) {
			p.lacks = lacksText
		}
	case evidence.ShapeNested:
		shown, whole := appendNested(it.values, f.Value, JSONPreviewBytes)
		if f.Cut != nil || !whole {
			shown = appendCutMark(append(it.values, "json"...), nestedSize(*f))
			p.lacks = lacksNested
		} else if len(blobsOf(*f)) > 0 || hidesBytes(f.Value) {
			p.lacks = lacksText
		}
		p.print(it.written(shown))
	default:
		content, _ := rawjson.Content(f.Value)
		content = rawjson.Prefix(content, PreviewChars)
		if len(content) > 0 && isPrintable(content) {
			p.printRaw(content, min(f.Chars(), PreviewChars), f.TotalChars())
			return
		}
		p.source, p.total = r.Texts.Decoded(content), f.TotalChars()
		p.shorten(PreviewChars)
	}
}

// addEmpty adds the names of the fields without a value.
func (it *item) addEmpty(names []string) {
	if it.empty = names; len(names) == 0 {
		return
	}
	b := it.values
	for i, name := range names {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, name...)
	}
	p := it.add(naming{label: "empty_fields"})
	p.print(it.written(b))
	p.fields = len(names)
}

// relation adds an expanded relation.
func (it *item) relation(rel *rsclient.Relation) {
	p := it.add(named(rel.Name))
	b := strconv.AppendInt(append(it.values, "expanded("...), int64(len(rel.Records)), 10)
	if rel.HasMore {
		b = append(b, ", has_more"...)
	}
	p.print(it.written(append(b, ')')))
	if len(rel.Records) > 0 {
		p.lacks = lacksRelation
	} else {
		p.field, p.width = "", 0 // no field to ask for, and no records either
	}
}

// written takes the room for values with one appended, which it gives.
func (it *item) written(values []byte) []byte {
	value := values[len(it.values):]
	it.values = values
	return value
}

// nestedSize is the length of a nested value: of a preview that of the whole.
func nestedSize(f evidence.Field) int {
	if f.Cut != nil {
		return f.Cut.TotalChars
	}
	return len(f.Value)
}
