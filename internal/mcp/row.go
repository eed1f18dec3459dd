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
	rsclient.Record
	ref      ref
	evidence evidence.Record
	all      []evidence.Field // its fields
	title    evidence.Title   // its text is never empty where there is a handle
	at       evidence.EventTime
}

// newRow reads a record.
func newRow(rec rsclient.Record, all rsclient.Presentations, fields []string) *row {
	r := new(row)
	r.read(rec, all, fields)
	return r
}

// read makes r another record. fields, when they were asked for, are all that is looked
// at (MS-102, PROJ-2).
func (r *row) read(rec rsclient.Record, all rsclient.Presentations, fields []string) {
	if fields != nil {
		rec.Project(fields)
	}
	r.Record, r.ref = rec, refer(Handle{rec.Connection, rec.Stream, rec.Identity.Record})
	if rec.Describe(&r.evidence, all); fields != nil {
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
	roles := r.evidence.Presentation.Roles
	hasRole := func(name string) bool {
		return slices.ContainsFunc(shownRoles, func(role pdpp.Role) bool { return slices.Contains(roles[role], name) })
	}
	return func(yield func(*evidence.Field) bool) {
		visit := func(name string, isRole bool) bool {
			for i := range r.all {
				f := &r.all[i]
				if (isRole && f.Name == name || !isRole && !hasRole(f.Name)) && !r.isSaid(f) && !isEmpty(f) && !yield(f) {
					return false
				}
			}
			return true
		}
		for _, role := range shownRoles {
			for _, name := range roles[role] {
				if !visit(name, true) {
					return
				}
			}
		}
		visit("", false)
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
		it.add(fieldPart(f))
	}
	for _, rel := range r.Expanded {
		it.add(relationPart(rel))
	}
	if r.title.Truncated && r.title.Field != "" {
		p := newPart(r.title.Field)
		p.lacks = lacksText
		it.add(p)
	}
}

// fieldPart is a field of a record as a text shows it.
func fieldPart(f *evidence.Field) part {
	p := newPart(f.Name)
	switch f.Shape {
	case evidence.ShapeScalar:
		p.text = p.label + "=" + string(f.Value)
	case evidence.ShapeBinary:
		p.text = string(appendBinary([]byte(p.label+"="), *f))
	case evidence.ShapeNested:
		shown, whole := appendNested([]byte(p.label+"="), f.Value, JSONPreviewBytes)
		if p.text = string(shown); f.Cut != nil || !whole {
			p.text, p.lacks = p.label+"=json"+cutMark(nestedSize(*f)), lacksNested
		}
	default:
		p.source, p.total = headOf(f), totalChars(f)
		p.shorten(PreviewChars)
	}
	return p
}

// headOf is the beginning of a text, as much as a card shows.
func headOf(f *evidence.Field) string {
	content, _ := rawjson.Content(f.Value)
	var room [1024]byte
	return string(rawjson.AppendText(room[:0], rawjson.Prefix(content, PreviewChars)))
}

// totalChars is the length of a whole text.
func totalChars(f *evidence.Field) int {
	content, _ := rawjson.Content(f.Value)
	total := rawjson.CharCount(content)
	if f.Cut != nil {
		total = max(f.Cut.TotalChars, total)
	}
	return total
}

// nestedSize is the length of a nested value: of a preview that of the whole.
func nestedSize(f evidence.Field) int {
	if f.Cut != nil {
		return f.Cut.TotalChars
	}
	return len(f.Value)
}

func relationPart(rel rsclient.Relation) part {
	p := newPart(rel.Name)
	p.text = p.label + "=expanded(" + strconv.Itoa(len(rel.Records))
	if rel.HasMore {
		p.text += ", has_more"
	}
	p.text += ")"
	if len(rel.Records) > 0 {
		p.lacks = lacksRelation
	}
	return p
}
