package mcp

import (
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
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

	columns recordtext.Columns
	empty   []string // labels of the fields without a value
	partly  []ranked // the fields that an answer shows in part

	again func(fields []string) *Next // the call for a record without a handle; nil: none
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

// item fills an item with the record, without its source.
func (r *row) item(it *recordtext.Item, n int) {
	it.Start(n, r.subject())
	if r.ref.id == "" { // reachable through query_records only (MS-52)
		it.Say("no handle, query_records only: record_id=" + quote.ID(r.Identity.Record))
	}
	if r.Deleted {
		it.Say("deleted=true")
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
	r.columns.Follow(&r.evidence, r.all)
	r.empty = r.empty[:0]
	for _, i := range r.columns.Order {
		f, name := &r.all[i], r.columns.Names[i]
		switch {
		case r.isSaid(f):
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
	s := recordtext.Subject{ID: r.ref.id, Beside: r.ref.beside}
	switch {
	case r.ref.id != "":
		s.Calls = &r.ref
	case r.again != nil:
		s.Calls = pageCalls{&r.ref, r.again}
	}
	return s
}
