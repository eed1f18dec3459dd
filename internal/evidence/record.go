package evidence

import (
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// Record is what all rendering is about: one projected record. Whoever fills it
// has applied the grant; nothing here looks for more (EX-1). Identity that is not
// known is left empty. It is rendered by one goroutine at a time.
type Record struct {
	Stream       string
	ID           pdpp.RecordID
	ConnectionID pdpp.ConnectionID

	// The labels of the source, best first (EX-3).
	DisplayName          string
	ConnectorDisplayName string
	ConnectorKey         pdpp.ConnectorKey

	EmittedAt time.Time // zero: unknown
	// EmittedText is the same where it was received as a text, which is read only when
	// nothing else tells the time.
	EmittedText string

	// Truncated has the facts of the fields whose values are previews (REC-39).
	Truncated map[string]*Truncation

	// Envelope is a compact JSON object around the record, or nil. A reader of
	// hits looks there for a documented name that the record lacks (MS-61).
	Envelope []byte

	Presentation *Presentation // nil: nothing was declared

	// Texts makes the strings of titles and times; nil: each on its own.
	Texts *rawjson.Texts

	fields  rawjson.Object // the data
	indexed rawjson.Object // room for them
	names   []string       // of the fields of this record or the one before
	layout  int            // how often they changed
	scratch []byte         // for what is written before its place is reached
}

// SetData gives the record its projected fields, in place of those it had: a
// compact JSON object, in which long values may stand as the previews of REC-39.
// It is not copied, and must not change while the record is used. The members are
// looked up here, once for everything that is asked about them later; who renders
// one record after the other uses one Record for all.
func (r *Record) SetData(data []byte) {
	r.indexed = rawjson.Index(r.indexed[:0], data)
	r.fields = r.indexed
}

// SetFields is SetData for who has found the members already. The list is not copied
// either.
func (r *Record) SetFields(members rawjson.Object) { r.fields = members }

// value gives the value of a field as stored.
func (r *Record) value(field string) ([]byte, bool) {
	value := r.fields.Get(field)
	return value, value != nil
}

// Presentation is what was declared about the fields of a stream. Names of fields
// that a record lacks do no harm. It is not changed by rendering, and may be shared.
type Presentation struct {
	// TimeFields are the stream's time fields, best first: consent_time_field and
	// cursor_field, or the time_field of meta.presentation (REC-5).
	TimeFields []string
	// PrimaryKey are the fields that make up the record's id; nil: not known.
	PrimaryKey []string
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
	p := &Presentation{PrimaryKey: s.PrimaryKey, Roles: make(map[pdpp.Role][]string), BlobFields: make(map[string]bool)}
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

// text gives a string field that may be shown: not binary (EX-8), and no preview
// of something that is not a string.
func (r *Record) text(field string) (text, bool) {
	value, _ := r.value(field)
	return textIn(value, r.Truncated[field])
}

// textIn is text for a value and what was cut from it, if something was.
func textIn(value []byte, cut *Truncation) (text, bool) {
	content, ok := rawjson.Content(value)
	if !ok {
		return text{}, false
	}
	if cut != nil {
		return text{content, cut.TotalChars}, cut.Binary == nil && !cut.AsJSON
	}
	if _, isBinary := DetectBinary(value, false); isBinary {
		return text{}, false
	}
	return text{content, -1}, true
}

// named is text for one of the names that the document contract knows (D7): the
// envelope has it when the record does not.
func (r *Record) named(name string) (text, bool) {
	if _, ok := r.value(name); ok || r.Envelope == nil {
		return r.text(name)
	}
	value, _ := rawjson.Get(r.Envelope, name)
	return textIn(value, nil)
}

// TextField names the field that holds the record's text: that of the role
// primary-text, else one literally named text (D7). A field without text that
// may be shown does not count; "" when there is none.
func TextField(r *Record) string {
	for _, name := range r.presentation().Roles[pdpp.RolePrimaryText] {
		if r.hasText(name) {
			return name
		}
	}
	if r.hasText("text") {
		return "text"
	}
	return ""
}

func (r *Record) hasText(field string) bool {
	t, ok := r.text(field)
	return ok && len(t.content) > 0
}
