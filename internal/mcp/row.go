package mcp

import (
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// row is a record of an answer with its title, time and fields (MS-60, MS-61). One row
// serves all records of an answer, one after the other.
type row struct {
	rsclient.RecordReader
	ref      ref
	evidence evidence.Record
	all      []evidence.Field // its fields
	title    evidence.Title   // never empty for a record with a handle
	at       evidence.EventTime

	columns recordtext.Columns
	empty   []string // labels of the fields without a value
	partly  []ranked // the fields that an answer shows in part

	rerunWith func(fields []string) *nextCall // the call for a record without a handle; nil if there is none
}

// describe fills in everything about the record that was read. When fields were requested,
// it considers only those (MS-102, PROJ-2).
func (r *row) describe(fields []string) {
	if fields != nil {
		r.Project(fields)
	}
	r.ref = referBy(Handle(r.Identity), r.Texts)
	if r.Describe(&r.evidence); fields != nil {
		r.evidence.Envelope = nil // not requested either
	}
	r.all = r.evidence.AppendFields(r.all[:0])
	r.at = evidence.EventTimeOf(&r.evidence)
	r.title = evidence.TitleAt(&r.evidence, r.at)
	if r.title.Text == "" {
		r.title.Text = r.ref.id
	}
}

// isInHead reports whether the title, the time or the id shows a field. Only declarations
// count: another field with an equal value is still shown.
func (r *row) isInHead(f *evidence.Field) bool {
	return f.Name == r.title.Field || f.Name == r.at.Field || r.isKey(f)
}

// isKey reports whether a field is the declared primary key, whose value is the id.
func (r *row) isKey(f *evidence.Field) bool {
	key := r.evidence.Presentation.PrimaryKey
	if len(key) != 1 || key[0] != f.Name {
		return false
	}
	return rawjson.Is(f.Value, r.Identity.Record) || string(f.Value) == r.Identity.Record
}

// isEmpty reports whether a field has no value.
func isEmpty(f *evidence.Field) bool {
	switch string(f.Value) {
	case `""`:
		return f.Cut == nil // else it replaces a binary value
	case `null`, `{}`, `[]`:
		return true
	}
	return false
}

// sources returns the sources of the rows of a page.
func (r *row) sources(rows [][]byte) (all sources) {
	for _, raw := range rows {
		r.Origin(raw)
		all.add(r.Connection, r.Source)
	}
	return all
}

// item fills an item with the record, without its source.
func (r *row) item(it *recordtext.Item, n int) {
	it.Start(n, r.subject())
	if r.ref.id == "" { // reachable through query_records only (MS-52)
		it.AddWords("no handle, query_records only: record_id=" + quote.ID(r.Identity.Record))
	}
	if r.Deleted {
		it.AddWords("deleted=true")
		it.Label("deleted_at", r.DeletedAt)
		it.Label("removed_reason", r.RemovedReason)
		return
	}
	it.Title(r.title, r.at)
	r.addFields(it)
	for _, rel := range r.Expanded {
		it.AddRelation(rel.Name, len(rel.Records), rel.HasMore)
	}
	if r.title.Truncated && r.title.Field != "" {
		it.AddValue(recordtext.Named(r.title.Field), nil, recordtext.OmitsText)
	}
}

// addFields adds the fields that the head of the item does not show, in the order of texts.
func (r *row) addFields(it *recordtext.Item) {
	r.columns.Update(&r.evidence, r.all)
	r.empty = r.empty[:0]
	for _, i := range r.columns.Order {
		f, name := &r.all[i], r.columns.Names[i]
		switch {
		case r.isInHead(f):
		case isEmpty(f):
			r.empty = append(r.empty, name.Label)
		case i == r.columns.Body && f.Shape == evidence.ShapeText:
			it.AddBody(name, f, r.Texts)
		default:
			it.AddField(name, f, r.Texts)
		}
	}
	it.AddEmpty(r.empty)
}

// subject returns the record as an item names it.
func (r *row) subject() recordtext.Subject {
	s := recordtext.Subject{ID: r.ref.id, ConnectionArg: r.ref.connectionArg}
	switch {
	case r.ref.id != "":
		s.Calls = &r.ref
	case r.rerunWith != nil:
		s.Calls = pageCalls{&r.ref, r.rerunWith}
	}
	return s
}
