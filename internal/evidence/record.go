package evidence

import (
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// Record is what all rendering is about: one projected record. Whoever fills it
// has applied the grant; nothing here looks for more (EX-1). Identity that is not
// known is left empty.
type Record struct {
	Stream       string
	ID           pdpp.RecordID
	ConnectionID pdpp.ConnectionID

	// The labels of the source, best first (EX-3).
	DisplayName          string
	ConnectorDisplayName string
	ConnectorKey         pdpp.ConnectorKey

	EmittedAt time.Time // zero: unknown

	// Data is a compact JSON object of the projected fields. Long values may
	// stand there as the previews of REC-39; Truncated then has their facts.
	Data      []byte
	Truncated map[string]*Truncation

	// Envelope is a compact JSON object around the record, or nil. A reader of
	// hits looks there for a documented name that Data lacks (MS-61).
	Envelope []byte

	Presentation *Presentation // nil: nothing was declared
}

// Presentation is what was declared about the fields of a stream. Names of fields
// that a record's Data lacks do no harm. It is not changed by rendering, and may
// be shared.
type Presentation struct {
	// TimeFields are the stream's time fields, best first: consent_time_field and
	// cursor_field, or the time_field of meta.presentation (REC-5).
	TimeFields []string
	// Roles are the fields with a declared role, in declared order.
	Roles map[pdpp.Role][]string
	// BlobFields are the declared blob references (M-9).
	BlobFields map[string]bool
	// BlobsByID says that every object with a blob_id is a blob reference: for a
	// reader that has no manifest (MS-64).
	BlobsByID bool
}

// Declared is the presentation of a stream whose manifest is known.
func Declared(s *pdpp.Stream) *Presentation {
	p := &Presentation{Roles: make(map[pdpp.Role][]string), BlobFields: make(map[string]bool)}
	for _, name := range []string{s.ConsentTimeField, s.CursorField} {
		if name != "" {
			p.TimeFields = append(p.TimeFields, name)
		}
	}
	for _, f := range s.Fields {
		if f.Role != "" {
			p.Roles[f.Role] = append(p.Roles[f.Role], f.Name)
		}
		if f.Blob != pdpp.BlobNone {
			p.BlobFields[f.Name] = true
		}
	}
	return p
}

var undeclared Presentation

func (r *Record) presentation() *Presentation {
	if r.Presentation == nil {
		return &undeclared
	}
	return r.Presentation
}

// isBlob reports whether a field may be taken for a blob reference.
func (p *Presentation) isBlob(field string) bool { return p.BlobsByID || p.BlobFields[field] }

// text is the value of a string field.
type text struct {
	content []byte // the inside of the JSON string
	total   int    // characters of the stored value; -1: those of content
}

// isWhole reports that content is all of the value.
func (t text) isWhole() bool { return t.total < 0 }

// text gives a string field of Data that may be shown: not binary (EX-8), and no
// preview of something that is not a string.
func (r *Record) text(field string) (text, bool) {
	value, ok := rawjson.Get(r.Data, field)
	if !ok || rawjson.KindOf(value) != rawjson.KindString {
		return text{}, false
	}
	content, _ := rawjson.Content(value)
	if t := r.Truncated[field]; t != nil {
		return text{content, t.TotalChars}, t.Binary == nil && !t.AsJSON
	}
	if _, isBinary := DetectBinary(value, false); isBinary {
		return text{}, false
	}
	return text{content, -1}, true
}

// named is text for one of the names that the document contract knows (D7): the
// envelope has it when Data does not.
func (r *Record) named(name string) (text, bool) {
	if _, ok := rawjson.Get(r.Data, name); ok || r.Envelope == nil {
		return r.text(name)
	}
	around := Record{Data: r.Envelope}
	return around.text(name)
}

// TextField names the field that holds the record's text: that of the role
// primary-text, else one literally named text (D7). A field without text that
// may be shown does not count; "" when there is none.
func TextField(r *Record) string {
	declared := r.presentation().Roles[pdpp.RolePrimaryText]
	for _, name := range slices.Concat(declared, []string{"text"}) {
		if t, ok := r.text(name); ok && len(t.content) > 0 {
			return name
		}
	}
	return ""
}
