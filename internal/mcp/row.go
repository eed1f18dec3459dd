package mcp

import (
	"iter"
	"slices"
	"strconv"

	"pdpp"
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

	first   []string               // the fields that are shown first, by their roles
	ordered *evidence.Presentation // that says so
}

// describe says what there is to say of the record that was read. fields, when they were
// asked for, are all that is looked at (MS-102, PROJ-2).
func (r *row) describe(fields []string) {
	if fields != nil {
		r.Project(fields)
	}
	r.ref = refer(Handle(r.Identity))
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

// shownRoles are the roles whose fields come first, in this order (MS-66).
var shownRoles = []pdpp.Role{pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleSecondary, pdpp.RolePrimaryText, pdpp.RoleMedia}

// shown are the values of the record in the order of MS-66, without those that its
// line says already and those that say nothing.
func (r *row) shown() iter.Seq[*evidence.Field] {
	if p := r.evidence.Presentation; r.ordered != p { // mostly that of the record before
		r.ordered, r.first = p, r.first[:0]
		for _, role := range shownRoles {
			r.first = append(r.first, p.Roles[role]...)
		}
	}
	return func(yield func(*evidence.Field) bool) {
		for _, name := range r.first {
			for i := range r.all {
				if f := &r.all[i]; f.Name == name && !r.isSaid(f) && !isEmpty(f) && !yield(f) {
					return
				}
			}
		}
		for i := range r.all {
			if f := &r.all[i]; !slices.Contains(r.first, f.Name) && !r.isSaid(f) && !isEmpty(f) && !yield(f) {
				return
			}
		}
	}
}

// isSaid reports a field that the title, the time or the id shows.
func (r *row) isSaid(f *evidence.Field) bool {
	if f.Name == r.title.Field || f.Name == r.at.Field {
		return true
	}
	switch f.Shape {
	case evidence.ShapeText:
		return rawjson.Is(f.Value, r.Identity.Record)
	case evidence.ShapeScalar:
		return string(f.Value) == r.Identity.Record
	}
	return false
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

// item is the record as a text shows it.
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
	it.titled(r.title.Text, r.at)
	for f := range r.shown() {
		it.field(f)
	}
	for i := range r.Expanded {
		it.relation(&r.Expanded[i])
	}
	if r.title.Truncated && r.title.Field != "" {
		it.add(named(r.title.Field)).lacks = lacksText
	}
}

// field adds a field of a record.
func (it *item) field(f *evidence.Field) {
	p := it.add(named(f.Name))
	switch f.Shape {
	case evidence.ShapeScalar:
		p.print(f.Value)
	case evidence.ShapeBinary:
		p.print(it.written(appendBinary(it.values, *f)))
	case evidence.ShapeNested:
		shown, whole := appendNested(it.values, f.Value, JSONPreviewBytes)
		if f.Cut != nil || !whole {
			shown = appendCutMark(append(it.values, "json"...), nestedSize(*f))
			p.lacks = lacksNested
		}
		p.print(it.written(shown))
	default:
		p.source, p.total = headOf(f), f.TotalChars()
		p.shorten(PreviewChars)
	}
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
	}
}

// written takes the room for values with one appended, which it gives.
func (it *item) written(values []byte) []byte {
	value := values[len(it.values):]
	it.values = values
	return value
}

// headOf is the beginning of a text, as much as a card shows.
func headOf(f *evidence.Field) string {
	content, _ := rawjson.Content(f.Value)
	var room [1024]byte
	return string(rawjson.AppendText(room[:0], rawjson.Prefix(content, PreviewChars)))
}

// nestedSize is the length of a nested value: of a preview that of the whole.
func nestedSize(f evidence.Field) int {
	if f.Cut != nil {
		return f.Cut.TotalChars
	}
	return len(f.Value)
}
