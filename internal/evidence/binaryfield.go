package evidence

import "pdpp/internal/rawjson"

// binaryField is a binary value of a record, with what is needed to read its content.
type binaryField struct {
	Binary
	field  string
	blobID string // "" when it is unknown
	asJSON bool   // the value is an object or array
}

// eachBinary visits the binary top-level values of a record in their order (EX-8), and
// each item of a list of blob references.
func eachBinary(r *Record, visit func(binaryField)) {
	for _, f := range r.fields {
		if t := r.Truncated[string(f.Name)]; t != nil { // detected when it was cut
			if t.Binary != nil {
				visit(binaryField{Binary: *t.Binary, field: string(f.Name), asJSON: t.AsJSON})
			}
			continue
		}
		b, ok := DetectBinary(f.Value, r.presentation().isBlob(string(f.Name)))
		if !ok {
			continue
		}
		field := string(f.Name)
		kind := rawjson.KindOf(f.Value)
		if kind != rawjson.KindArray {
			visit(binaryField{b, field, blobID(b, f.Value), kind == rawjson.KindObject})
			continue
		}
		for item := range rawjson.Elements(f.Value) {
			if b, ok := DetectBinary(item, true); ok { // skips nulls
				visit(binaryField{b, field, blobID(b, item), true})
			}
		}
	}
}

// blobID returns the blob that a reference names. An undeclared object with a blob_id is
// read like any other object.
func blobID(b Binary, object []byte) string {
	if b.Kind != KindBlobReference {
		return ""
	}
	raw, _ := rawjson.Get(object, "blob_id")
	id, _ := rawjson.String(raw)
	return id
}

// append writes the binary_field of a card. The content is read from this server only: a
// URL in the record is never offered (EX-8).
func (f binaryField) append(w *writer, r *Record) {
	w.Literal(`{"object":"binary_field"`)
	w.id("field_path", f.field)
	w.Writer = f.AppendMembers(w.Writer)
	w.Literal(`"read":`)
	if f.blobID != "" {
		appendBlobRead(w, f.blobID, r.ConnectionID)
	} else {
		fieldWindow{field: f.field, asJSON: f.asJSON}.append(w, r)
	}
	w.End("}")
}
