package evidence

import "pdpp/internal/rawjson"

// Shape is how a value may be shown.
type Shape uint8

// The shapes.
const (
	ShapeScalar Shape = iota // a number, true, false, null: as it is
	ShapeText                // a string
	ShapeNested              // an object or array
	ShapeBinary              // only the facts about it (EX-8)
)

// Field is a top-level value of a record and what may be shown of it.
type Field struct {
	Name  string
	Shape Shape
	Value []byte      // as stored, or its preview
	Cut   *Truncation // nil: the value is whole

	Binary Binary // of ShapeBinary
	BlobID string // the blob that a binary value refers to; "" when it refers to none
}

// AppendFields appends the values of a record in their order. A list of blob
// references is nested: each of its elements is binary.
func (r *Record) AppendFields(dst []Field) []Field {
	for i, f := range r.fields {
		dst = append(dst, r.field(f, r.name(i)))
	}
	return dst
}

// name is the name of the nth field. Records that follow each other mostly have the
// same ones.
func (r *Record) name(n int) string {
	if n == len(r.names) {
		r.names = append(r.names, string(r.fields[n].Name))
	}
	if r.names[n] != string(r.fields[n].Name) {
		r.names[n] = string(r.fields[n].Name)
	}
	return r.names[n]
}

func (r *Record) field(f rawjson.Member, name string) Field {
	out := Field{Name: name, Value: f.Value, Cut: r.Truncated[name], Shape: shapeOf(f.Value)}
	if cut := out.Cut; cut != nil { // judged when it was cut
		switch {
		case cut.Binary != nil:
			out.Shape, out.Binary = ShapeBinary, *cut.Binary
		case cut.AsJSON:
			out.Shape = ShapeNested
		}
		return out
	}
	if rawjson.KindOf(f.Value) == rawjson.KindArray {
		return out
	}
	if b, ok := DetectBinary(f.Value, r.presentation().isBlob(f.Name)); ok {
		out.Shape, out.Binary, out.BlobID = ShapeBinary, b, blobID(b, f.Value)
	}
	return out
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

// BlobIDOf is the blob that a compact JSON object refers to; "" when it refers to
// none. It is for a reader without a manifest (MS-64).
func BlobIDOf(object []byte) string {
	b, _ := DetectBinary(object, true)
	return blobID(b, object)
}
