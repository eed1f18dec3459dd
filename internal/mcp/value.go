package mcp

import (
	"strconv"
	"strings"

	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
)

// minShown is the least of a text that is worth showing (MS-65), in characters.
const minShown = 40

// appendBinary appends a binary value as its facts (MS-64, MS-66): its bytes are
// nowhere in a text.
func appendBinary(b []byte, f evidence.Field) []byte {
	return appendFacts(append(b, "binary"...), f.Binary, f.BlobID)
}

func appendFacts(b []byte, facts evidence.Binary, blobID string) []byte {
	b = append(b, '{')
	facts.MimeType = clean(facts.MimeType)
	b = facts.AppendMembers(b)
	if blobID != "" {
		b = append(append(b, `,"blob_id":`...), quoteID(blobID)...)
		export := "GET " + string(evidence.AppendBlobURL(nil, blobID, ""))
		b = append(append(b, `,"export":`...), quoteID(export)...)
	}
	return append(b, '}')
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
		w.b = appendFacts(w.b, facts, evidence.BlobIDOf(v))
		return
	}
	switch rawjson.KindOf(v) {
	case rawjson.KindString:
		s, _ := rawjson.String(v)
		w.b = append(w.b, quote(s)...)
	case rawjson.KindObject:
		w.b = append(w.b, '{')
		n := 0
		for name, member := range rawjson.Members(v) {
			if w.comma(&n); len(w.b) > w.end {
				return
			}
			w.b = append(append(w.b, quoteID(string(name))...), ':')
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
func cutMark(total int) string {
	if total < 0 {
		return "(cut)"
	}
	return "(cut:" + strconv.Itoa(total) + ")"
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
