package evidence

import "pdpp/internal/rawjson"

// binaryField is a binary value of a record and the way to its content.
type binaryField struct {
	Binary
	field  string
	blobID string // "" when it is not known or there is none
	asJSON bool   // the value is an object or array
}

// eachBinary visits the binary values among the top-level values of a record
// (EX-8), in their order. A list of blob references is visited one by one.
func eachBinary(r *Record, visit func(binaryField)) {
	for _, f := range r.fields {
		if t := r.Truncated[string(f.Name)]; t != nil { // judged when it was cut
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
			if b, ok := DetectBinary(item, true); ok { // all but nulls
				visit(binaryField{b, field, blobID(b, item), true})
			}
		}
	}
}

// blobID gives the blob that a reference names. What merely looks like one was
// not declared, and is read like any other object.
func blobID(b Binary, object []byte) string {
	if b.Kind != KindBlobReference {
		return ""
	}
	raw, _ := rawjson.Get(object, "blob_id")
	id, _ := rawjson.String(raw)
	return id
}

// append writes the binary_field of a card. The content is read from this server
// only: a URL that the record holds is never offered (EX-8).
func (f binaryField) append(w *writer, r *Record) {
	w.raw(`{"object":"binary_field","field_path":`)
	w.id(f.field)
	w.raw(`,`)
	w.buf = f.AppendMembers(w.buf)
	w.raw(`,"read":`)
	if f.blobID != "" {
		appendBlobRead(w, f.blobID, r.ConnectionID)
	} else {
		FieldWindow{Field: f.field, AsJSON: f.asJSON}.append(w, r)
	}
	w.raw(`}`)
}
