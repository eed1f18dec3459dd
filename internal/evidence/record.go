package evidence

import (
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// Record is one projected record. The caller has already applied the grant (EX-1).
// Unknown identity is empty. A Record is not safe for concurrent use.
type Record struct {
	Stream       string
	ID           pdpp.RecordID
	ConnectionID pdpp.ConnectionID

	// The labels of the source, best first (EX-3).
	DisplayName          string
	ConnectorDisplayName string
	ConnectorKey         pdpp.ConnectorKey

	EmittedAt time.Time // zero: unknown
	// EmittedText is EmittedAt as received. It is parsed only when the record has no
	// other time.
	EmittedText string

	// Truncated has the facts of the fields whose values are previews (REC-39).
	Truncated map[string]*Truncation

	// Envelope is the compact JSON object that contains the record, or nil. Documented
	// names that the record does not have are looked up there (MS-61).
	Envelope []byte

	Presentation *Presentation // nil: nothing was declared

	// Texts allocates the strings of titles and times; nil: each separately.
	Texts *rawjson.Texts

	fields  rawjson.Object // the data
	indexed rawjson.Object // reused for fields
	names   []string       // of the fields of this or the previous record
	layout  int            // how often names changed
	scratch []byte         // for parts that are written before their position is known
}

// SetData replaces the projected fields by those of a compact JSON object, in which long
// values may be previews (REC-39). The object is not copied and must not change while
// the record is used. SetData indexes the members once. Callers that render many records
// should reuse one Record.
func (r *Record) SetData(data []byte) {
	r.indexed = rawjson.Index(r.indexed[:0], data)
	r.fields = r.indexed
}

// SetFields is like SetData, for members that are already indexed. The list is not
// copied.
func (r *Record) SetFields(members rawjson.Object) { r.fields = members }

// value returns the value of a field as stored.
func (r *Record) value(field string) ([]byte, bool) {
	value := r.fields.Get(field)
	return value, value != nil
}

// Presentation holds the declarations about the fields of a stream. It may name fields
// that a record does not have. Rendering does not change it, so it may be shared.
type Presentation struct {
	// TimeFields are the time fields of the stream, best first: consent_time_field and
	// cursor_field, or the time_field of meta.presentation (REC-5).
	TimeFields []string
	// PrimaryKey are the fields of the record id; nil: unknown.
	PrimaryKey []string
	// Roles are the fields with a declared role, in declared order.
	Roles map[pdpp.Role][]string
	// BlobFields are the declared blob references (M-9).
	BlobFields map[string]bool
	// BlobsByID treats every object with a blob_id as a blob reference, for a reader
	// without a manifest (MS-64).
	BlobsByID bool
}

// Declared returns the presentation of a declared stream.
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

// isBlob reports whether a field may contain blob references.
func (p *Presentation) isBlob(field string) bool { return p.BlobsByID || p.BlobFields[field] }

// text is the value of a string field.
type text struct {
	content []byte // the inside of the JSON string
	total   int    // characters of the stored value; -1: those of content
}

// isWhole reports whether content is the whole value.
func (t text) isWhole() bool { return t.total < 0 }

// text returns a string field that may be shown. Binary values (EX-8) and previews of
// other types may not.
func (r *Record) text(field string) (text, bool) {
	value, _ := r.value(field)
	return textIn(value, r.Truncated[field])
}

// textIn is like text, for a value and its truncation, which may be nil.
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

// named is like text, for a name of the document contract (D7), which may be in the
// envelope instead of the record.
func (r *Record) named(name string) (text, bool) {
	if _, ok := r.value(name); ok || r.Envelope == nil {
		return r.text(name)
	}
	value, _ := rawjson.Get(r.Envelope, name)
	return textIn(value, nil)
}

// TextField returns the name of the field with the text of the record: the one with the
// role primary-text, else the one named text (D7). It returns "" when neither has a text
// that may be shown.
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
