package evidence

import (
	"slices"

	"pdpp/internal/rawjson"
)

// Shape is the way in which a value is shown.
type Shape uint8

// The shapes.
const (
	ShapeScalar Shape = iota // a number, true, false, null: unchanged
	ShapeText                // a string
	ShapeNested              // an object or array
	ShapeBinary              // only the facts about it (EX-8)
)

// Field is a top-level value of a record and its shape.
type Field struct {
	Name  string
	Shape Shape
	Value []byte      // as stored, or its preview
	Cut   *Truncation // nil: the value is complete

	File *File // of ShapeBinary, else nil

	chars int // of the value; 0: not counted yet
}

// File holds the facts about a binary value.
type File struct {
	Binary
	BlobID string // the blob that it refers to, or ""
}

// Chars returns the length of a text in characters and caches it.
func (f *Field) Chars() int {
	if f.chars == 0 {
		content, _ := rawjson.Content(f.Value)
		f.chars = rawjson.CharCount(content)
	}
	return f.chars
}

// TotalChars returns the length of the whole text, also for a preview.
func (f *Field) TotalChars() int {
	if f.Cut != nil {
		return max(f.Cut.TotalChars, f.Chars())
	}
	return f.Chars()
}

// AppendFields appends the fields of a record in their order. A list of blob references
// is nested, and each of its elements is binary.
func (r *Record) AppendFields(dst []Field) []Field {
	if len(r.names) > len(r.fields) {
		r.names = r.names[:len(r.fields)]
		r.layout++
	}
	dst = slices.Grow(dst, len(r.fields))
	r.names = slices.Grow(r.names, max(0, len(r.fields)-len(r.names)))
	for i := range r.fields {
		dst = append(dst, Field{Name: r.name(i), Value: r.fields[i].Value})
		r.setShape(&dst[len(dst)-1])
	}
	return dst
}

// name returns the name of the nth field. It reuses the strings of the previous record,
// which usually has the same names.
func (r *Record) name(n int) string {
	if n < len(r.names) && r.names[n] == string(r.fields[n].Name) {
		return r.names[n]
	}
	if r.layout++; n == len(r.names) {
		r.names = append(r.names, "")
	}
	r.names[n] = r.Texts.Copy(r.fields[n].Name)
	return r.names[n]
}

// Layout returns a number that changes when AppendFields finds other field names than in
// the previous record.
func (r *Record) Layout() int { return r.layout }

// setShape sets the shape of a field and its facts.
func (r *Record) setShape(f *Field) {
	f.Shape = shapeOf(f.Value)
	if len(r.Truncated) > 0 {
		f.Cut = r.Truncated[f.Name]
	}
	switch cut := f.Cut; {
	case cut == nil:
		f.detect(r.presentation())
	case cut.Binary != nil: // detected when it was cut
		f.Shape, f.File = ShapeBinary, &File{Binary: *cut.Binary}
	case cut.AsJSON:
		f.Shape = ShapeNested
	}
}

// detect sets the facts of a complete value that is binary.
func (f *Field) detect(p *Presentation) {
	switch rawjson.KindOf(f.Value) {
	case rawjson.KindString:
		if len(f.Value) < minBinaryChars {
			return
		}
	case rawjson.KindObject:
	default:
		return
	}
	if b, ok := DetectBinary(f.Value, p.isBlob(f.Name)); ok {
		f.Shape, f.File = ShapeBinary, &File{b, blobID(b, f.Value)}
	}
}

func shapeOf(value []byte) Shape {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		return ShapeText
	case rawjson.KindObject, rawjson.KindArray:
		return ShapeNested
	}
	return ShapeScalar
}

// BlobIDOf returns the blob that a compact JSON object refers to, or "". It is for a
// reader without a manifest (MS-64).
func BlobIDOf(object []byte) string {
	b, _ := DetectBinary(object, true)
	return blobID(b, object)
}
