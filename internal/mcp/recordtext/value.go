package recordtext

import (
	"strconv"
	"strings"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// AppendBinary appends the facts of a binary value (MS-64, MS-66). Its bytes are never in
// a text.
func AppendBinary(b []byte, f evidence.Field) []byte {
	return AppendShortFacts(append(b, "binary"...), *f.File, f.Value)
}

// AppendShortFacts appends what a reader needs of a binary value: its type, its size, its
// URL, and the other members of its object. A digest that is in the id is not repeated.
func AppendShortFacts(b []byte, f evidence.File, value []byte) []byte {
	facts, blobID := f.Binary, f.BlobID
	w := rawjson.Writer(append(b, '{'))
	if blobID == "" {
		w.Optional("kind", facts.Kind)
	}
	w.Optional("mime_type", evidence.Clean(facts.MimeType))
	if facts.SizeBytes >= 0 {
		w.Key("size_bytes")
		w.Int(facts.SizeBytes)
	}
	if !strings.Contains(blobID, facts.SHA256) {
		w.Optional("sha256", facts.SHA256)
	}
	if blobID != "" {
		writeExport(&w, blobID)
	}
	writeOther(&w, value)
	return append(w, '}')
}

// writeOther writes, as the member other, the members of a binary object that are not
// facts about its bytes: the name of a file, for example.
func writeOther(w *rawjson.Writer, object []byte) {
	const maxValue = 2 * limits.LabelChars // characters of a string, bytes of another value
	start := len(*w)
	for name, value := range rawjson.Members(object) {
		switch string(name) {
		case "blob_id", "mime_type", "mimeType", "content_type", "size_bytes", "size", "sha256", "digest", "fetch_url":
			continue
		}
		if len(*w) == start {
			w.OpenObject("other")
		}
		quote.WriteKey(w, string(name))
		if text, ok := rawjson.String(value); ok {
			*w = quote.AppendText(*w, quote.Short(text, maxValue))
		} else if shown, whole := AppendNested(*w, value, maxValue); whole {
			*w = shown
		} else {
			w.Literal(`"json` + quote.CutMark(len(value)) + `"`)
		}
	}
	if len(*w) > start {
		w.End("}")
	}
}

// HidesBytes reports whether a nested value has binary content that is not in a blob. Texts
// show the facts of that content only.
func HidesBytes(value []byte) bool {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		_, ok := evidence.DetectBinary(value, false)
		return ok
	case rawjson.KindObject:
		if _, ok := evidence.DetectBinary(value, true); ok {
			return evidence.BlobIDOf(value) == ""
		}
		for _, member := range rawjson.Members(value) {
			if HidesBytes(member) {
				return true
			}
		}
	case rawjson.KindArray:
		for item := range rawjson.Elements(value) {
			if HidesBytes(item) {
				return true
			}
		}
	}
	return false
}

// IsReadableFile reports whether a binary value can be read in windows: a file that may be
// text, or bytes in the record itself.
func IsReadableFile(f *evidence.File) bool { return f.BlobID == "" || evidence.MayBeText(f.MimeType) }

// WriteFacts writes all facts of a binary value as members.
func WriteFacts(w *rawjson.Writer, f evidence.File, value []byte) {
	facts, blobID := f.Binary, f.BlobID
	facts.MimeType = evidence.Clean(facts.MimeType)
	*w = facts.AppendMembers(*w)
	if blobID != "" {
		quote.WriteID(w, "blob_id", blobID)
		writeExport(w, blobID)
	}
	writeOther(w, value)
}

func writeExport(w *rawjson.Writer, blobID string) {
	quote.WriteID(w, "export", "GET "+string(evidence.AppendBlobURL(nil, blobID, "")))
}

// AppendNested appends an object or array as compact JSON, with its strings quoted like all
// data and its binary values as facts. It stops and returns false after limit bytes.
func AppendNested(b, value []byte, limit int) ([]byte, bool) {
	w := nestedWriter{b: b, end: len(b) + limit}
	w.value(value)
	return w.b, len(w.b) <= w.end
}

type nestedWriter struct {
	b   []byte
	end int
}

// value writes one value. Every level of nesting writes at least one byte, so the limit on
// bytes also limits the depth.
func (w *nestedWriter) value(v []byte) {
	if len(w.b) > w.end {
		return
	}
	if facts, ok := evidence.DetectBinary(v, true); ok && rawjson.KindOf(v) != rawjson.KindArray {
		w.b = AppendShortFacts(w.b, evidence.File{Binary: facts, BlobID: evidence.BlobIDOf(v)}, v)
		return
	}
	switch rawjson.KindOf(v) {
	case rawjson.KindString:
		s, _ := rawjson.String(v)
		w.b = quote.AppendText(w.b, s)
	case rawjson.KindObject:
		w.b = append(w.b, '{')
		n := 0
		for name, member := range rawjson.Members(v) {
			if w.comma(&n); len(w.b) > w.end {
				return
			}
			w.b = append(quote.AppendID(w.b, string(name)), ':')
			w.value(member)
		}
		w.b = append(w.b, '}')
	case rawjson.KindArray:
		w.b = append(w.b, '[')
		n := 0
		for item := range rawjson.Elements(v) {
			if w.comma(&n); len(w.b) > w.end {
				return
			}
			w.value(item)
		}
		w.b = append(w.b, ']')
	default:
		w.b = append(w.b, v...)
	}
}

func (w *nestedWriter) comma(n *int) {
	if *n > 0 {
		w.b = append(w.b, ',')
	}
	*n++
}

// NestedSize returns the length of a nested value; if it is a preview, the length of the
// whole value.
func NestedSize(f *evidence.Field) int {
	if f.Cut != nil {
		return f.Cut.TotalChars
	}
	return len(f.Value)
}

// Files returns the blobs of a list as fields of their own, named field.n as
// read_record_field accepts them.
func Files(list *evidence.Field) []evidence.Field {
	var all []evidence.Field
	n := 0
	for item := range rawjson.Elements(list.Value) {
		if id := evidence.BlobIDOf(item); id != "" {
			facts, _ := evidence.DetectBinary(item, true)
			name := list.Name + "." + strconv.Itoa(n)
			all = append(all, evidence.Field{Name: name, Shape: evidence.ShapeBinary, Value: item, File: &evidence.File{Binary: facts, BlobID: id}})
		}
		n++
	}
	return all
}
