package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// minShown is the least of a text that is worth showing (MS-65), in characters.
const minShown = 40

// minBody is the least that is shown of the text of a record in a list: a record for
// which there is less space is left for the next page (MS-65), in characters.
const minBody = 80

// appendBinary appends a binary value as its facts (MS-64, MS-66): its bytes are
// nowhere in a text.
func appendBinary(b []byte, f evidence.Field) []byte {
	return appendShortFacts(append(b, "binary"...), *f.File, f.Value)
}

// appendShortFacts appends what a reader needs of a binary value: what it is, how
// large, where it can be had, and what else the object says that it is. A digest is not
// repeated that is in the id.
func appendShortFacts(b []byte, f evidence.File, value []byte) []byte {
	facts, blobID := f.Binary, f.BlobID
	b = append(b, '{')
	start := len(b)
	if blobID == "" {
		b = appendMember(b, "kind", facts.Kind)
	}
	b = appendMember(b, "mime_type", evidence.Clean(facts.MimeType))
	if facts.SizeBytes >= 0 {
		b = strconv.AppendInt(append(b, `,"size_bytes":`...), facts.SizeBytes, 10)
	}
	if !strings.Contains(blobID, facts.SHA256) {
		b = appendMember(b, "sha256", facts.SHA256)
	}
	if blobID != "" {
		b = appendID(append(b, `,"export":`...), "GET "+string(evidence.AppendBlobURL(nil, blobID, "")))
	}
	b = appendOther(b, value)
	return append(slices.Delete(b, start, min(start+1, len(b))), '}') // the first comma
}

// appendOther appends, as the member other, what a binary object says beside the facts
// about its bytes: the name of a file, for example.
func appendOther(b, object []byte) []byte {
	const most = 2 * LabelChars // of each value
	n := 0
	for name, value := range rawjson.Members(object) {
		switch string(name) {
		case "blob_id", "mime_type", "mimeType", "content_type", "size_bytes", "size", "sha256", "digest", "fetch_url":
			continue
		}
		sep := ","
		if n == 0 {
			sep = `,"other":{`
		}
		b = append(appendID(append(b, sep...), string(name)), ':')
		if text, ok := rawjson.String(value); ok {
			b = appendQuote(b, shortText(text, most))
		} else if shown, whole := appendNested(b, value, most); whole {
			b = shown
		} else {
			b = append(append(b, `"json`...), cutMark(len(value))+`"`...)
		}
		n++
	}
	if n > 0 {
		b = append(b, '}')
	}
	return b
}

// hidesBytes reports a nested value with binary content in it that is shown as its
// facts, and that no blob has.
func hidesBytes(value []byte) bool {
	switch rawjson.KindOf(value) {
	case rawjson.KindString:
		_, ok := evidence.DetectBinary(value, false)
		return ok
	case rawjson.KindObject:
		if _, ok := evidence.DetectBinary(value, true); ok {
			return evidence.BlobIDOf(value) == ""
		}
		for _, member := range rawjson.Members(value) {
			if hidesBytes(member) {
				return true
			}
		}
	case rawjson.KindArray:
		for item := range rawjson.Elements(value) {
			if hidesBytes(item) {
				return true
			}
		}
	}
	return false
}

// isReadFile reports a binary value that read_record_field is offered for: a file that
// may be text, or bytes that stand in the record itself.
func isReadFile(f *evidence.File) bool { return f.BlobID == "" || mayBeText(f.MimeType) }

func appendFacts(b []byte, f evidence.File, value []byte) []byte {
	facts, blobID := f.Binary, f.BlobID
	b = append(b, '{')
	facts.MimeType = evidence.Clean(facts.MimeType)
	b = facts.AppendMembers(b)
	if blobID != "" {
		b = appendID(append(b, `,"blob_id":`...), blobID)
		export := "GET " + string(evidence.AppendBlobURL(nil, blobID, ""))
		b = appendID(append(b, `,"export":`...), export)
	}
	return append(appendOther(b, value), '}')
}

// appendNested appends an object or array as compact JSON, quoted like everything
// from data and with binaries inside as their facts. It gives up when that takes more
// than most bytes.
func appendNested(b, value []byte, most int) ([]byte, bool) {
	w := nestedWriter{b: b, end: len(b) + most}
	w.value(value)
	return w.b, len(w.b) <= w.end
}

type nestedWriter struct {
	b   []byte
	end int
}

// value writes one value. Every level of nesting writes a byte first, so that the
// end of the room is also that of the depth.
func (w *nestedWriter) value(v []byte) {
	if len(w.b) > w.end {
		return
	}
	if facts, ok := evidence.DetectBinary(v, true); ok && rawjson.KindOf(v) != rawjson.KindArray {
		w.b = appendShortFacts(w.b, evidence.File{Binary: facts, BlobID: evidence.BlobIDOf(v)}, v)
		return
	}
	switch rawjson.KindOf(v) {
	case rawjson.KindString:
		s, _ := rawjson.String(v)
		w.b = appendQuote(w.b, s)
	case rawjson.KindObject:
		w.b = append(w.b, '{')
		n := 0
		for name, member := range rawjson.Members(v) {
			if w.comma(&n); len(w.b) > w.end {
				return
			}
			w.b = append(appendID(w.b, string(name)), ':')
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

// cutMark says how long a shortened text is; total is -1 where that is not known.
func cutMark(total int) string { return string(appendCutMark(nil, total)) }

func appendCutMark(b []byte, total int) []byte {
	if total < 0 {
		return append(b, "(cut)"...)
	}
	return append(strconv.AppendInt(append(b, "(cut:"...), int64(total), 10), ')')
}

// each maps a list.
func each(list []string, f func(string) string) []string {
	out := make([]string, len(list))
	for i, s := range list {
		out[i] = f(s)
	}
	return out
}

// quoteList is a list of identifiers as a JSON array.
func quoteList(list []string) string { return "[" + strings.Join(each(list, quoteID), ",") + "]" }
