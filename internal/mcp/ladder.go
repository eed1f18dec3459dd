package mcp

import (
	"cmp"
	"slices"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rawjson"
)

// ladder is the content ladder of a page (MS-190 …): for each record that is shown in part,
// the calls that read the rest. It is for programs, as the lines that begin with "more:"
// are for readers of the text. It has entries (rungs) for at most maxRungs records, within
// limits.LadderMax bytes; further records are only counted.
type ladder struct {
	provider string
	maxRungs int
	w        rawjson.Writer // the rungs
	n        int
	omitted  int
}

const (
	ladderHead = `"content_ladder":{"kind":"record_set","read_tool":"read_record_field","resource_template":"` + recordURI + `{id}","records":[`
	ladderTail = `],"records_omitted":100}`
)

// add adds the rung of a record that is shown in part.
func (l *ladder) add(r *row) {
	if r.ref.id == "" {
		return
	}
	fields := r.continued()
	if len(fields) == 0 {
		return
	}
	if l.n == l.maxRungs || l.omitted > 0 {
		l.omitted++
		return
	}
	rung := len(l.w)
	r.writeRung(&l.w, fields, l.provider)
	if len(ladderHead)+len(l.w)+len(ladderTail) > limits.LadderMax+len(`"content_ladder":`) {
		l.w = l.w[:rung]
		l.omitted++
		return
	}
	l.n++
}

// addChildren adds the rungs of expanded records after those of the page. reader is the row
// that was used for the page; it is reused.
func (l *ladder) addChildren(rows [][]byte, reader *row) {
	var child row
	child.Declared, child.Texts = reader.Declared, reader.Texts
	for _, raw := range rows {
		reader.Row(raw)
		child.Asked.Connection = reader.Connection
		for _, rel := range reader.Expanded {
			for _, record := range rel.Records {
				child.Row(record)
				child.describe(nil)
				l.add(&child)
			}
		}
	}
}

// write writes the ladder as a member; nothing when it has no rungs.
func (l *ladder) write(w *rawjson.Writer) {
	if l.n+l.omitted == 0 {
		return
	}
	w.Literal(ladderHead)
	w.Raw(l.w)
	w.End("]")
	if l.omitted > 0 {
		w.Number("records_omitted", l.omitted)
	}
	w.End("}")
}

// writeRung writes one record in the ladder of a page (MS-191), with at most
// limits.LadderFields fields, text first.
func (r *row) writeRung(w *rawjson.Writer, fields []ranked, provider string) {
	w.Object()
	r.ref.writeName(w)
	w.OpenArray("fields")
	for i := range fields[:min(len(fields), limits.LadderFields)] {
		r.writeEntry(w, fields[i].Field, provider)
	}
	w.End("]}")
}

// openLadder writes the ladder of a single record as a member, without the closing brace.
func (r ref) openLadder(w *rawjson.Writer, entries [][]byte) {
	w.OpenObject("content_ladder")
	w.Text("kind", "record")
	w.Text("read_tool", "read_record_field")
	quote.WriteID(w, "id", r.id)
	if r.Connection == "" {
		w.Null("connection_id")
	} else {
		quote.WriteID(w, "connection_id", r.Connection)
	}
	quote.WriteID(w, "stream", r.Stream)
	quote.WriteID(w, "record_id", r.Record)
	w.Key("resource_uri")
	*w = append(r.appendURI(append(*w, '"')), '"')
	w.Values("fields", entries)
}

// rank is the order of the fields that a page shows only in part (MS-192).
type rank uint8

const (
	cutText rank = iota
	nested       // cut, or a list of blobs
	binary       // a binary value of any size
	shownFull
)

// rankOf returns the rank of a field.
func rankOf(f *evidence.Field) rank {
	switch f.Shape {
	case evidence.ShapeText:
		if f.Cut != nil {
			return cutText
		}
	case evidence.ShapeNested:
		if f.Cut != nil || hasBinary(f.Value) || recordtext.HidesBytes(f.Value) {
			return nested
		}
	case evidence.ShapeBinary:
		return binary
	}
	return shownFull
}

// ranked is a field with its rank.
type ranked struct {
	rank rank
	*evidence.Field
}

// continued returns the fields of a record that the data does not contain whole, by rank. A
// list of blobs is one field for each.
func (r *row) continued() []ranked {
	r.partly = r.partly[:0]
	for i := range r.all {
		f := &r.all[i]
		k := rankOf(f)
		if k == shownFull {
			continue
		}
		if k != nested || f.Cut != nil || recordtext.HidesBytes(f.Value) {
			r.partly = append(r.partly, ranked{k, f})
		}
		if k == nested {
			for _, blob := range recordtext.Files(f) {
				r.partly = append(r.partly, ranked{k, &blob})
			}
		}
	}
	if len(r.partly) > 1 {
		slices.SortStableFunc(r.partly, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	}
	return r.partly
}

// cutIn returns the fields of an expanded record that its item shows in part or leaves out,
// text first. A text continues where the item ends. Short values are not part of a ladder.
func (r *row) cutIn(it *recordtext.Item) []ranked {
	if r.ref.id == "" {
		return nil
	}
	var cut []ranked
	for _, part := range it.CutFields() {
		at := slices.IndexFunc(r.all, func(f evidence.Field) bool { return f.Name == part.Name })
		if at < 0 {
			continue
		}
		switch f := r.all[at]; f.Shape {
		case evidence.ShapeText:
			f.Cut = &evidence.Truncation{TotalChars: f.TotalChars(), ShownChars: part.Chars}
			cut = append(cut, ranked{cutText, &f})
		case evidence.ShapeNested:
			cut = append(cut, ranked{nested, &f})
		case evidence.ShapeBinary:
			cut = append(cut, ranked{binary, &f})
		}
	}
	slices.SortStableFunc(cut, func(a, b ranked) int { return cmp.Compare(a.rank, b.rank) })
	return cut
}

// hasBinary reports whether a value is a list with blob references.
func hasBinary(value []byte) bool {
	for item := range rawjson.Elements(value) {
		if evidence.BlobIDOf(item) != "" {
			return true
		}
	}
	return false
}

// writeEntry writes the entry of a field in the ladder of a page. For a text it has the
// arguments of read_tool, without those that name the record.
func (r *row) writeEntry(w *rawjson.Writer, f *evidence.Field, provider string) {
	switch f.Shape {
	case evidence.ShapeText:
		if !recordtext.IsReadable(f.Name) {
			r.writeTextEntry(w, f)
			return
		}
		openEntry(w, f, "text")
		w.Number("size_chars", f.TotalChars())
		w.Number("offset_chars", f.Cut.ShownChars)
		w.End("}")
	case evidence.ShapeBinary:
		r.writeBinaryEntry(w, f, provider)
	default:
		r.writeNestedEntry(w, f)
	}
}

// openEntry begins an entry.
func openEntry(w *rawjson.Writer, f *evidence.Field, kind string) {
	w.Object()
	quote.WriteID(w, "field_path", f.Name)
	w.Text("kind", kind)
}

func (r *row) writeTextEntry(w *rawjson.Writer, f *evidence.Field) {
	offset := 0
	if f.Cut != nil {
		offset = f.Cut.ShownChars
	}
	openEntry(w, f, "text")
	w.Number("size_chars", f.TotalChars())
	r.writeRead(w, f.Name, offset)
	w.End("}")
}

// writeRead writes the call, and the resource if there is one, that read a field from a
// character on.
func (r *row) writeRead(w *rawjson.Writer, field string, offset int) {
	if !recordtext.IsReadable(field) {
		r.ref.fetch().write(w, "read")
		return
	}
	rest := r.ref.from(field, 0).at(offset, limits.WindowDefault)
	rest.writeCall(w, "read")
	rest.writeURI(w, "resource_uri")
}

func (r *row) writeNestedEntry(w *rawjson.Writer, f *evidence.Field) {
	if recordtext.NestedSize(f) > limits.DocTextMax || !recordtext.IsReadable(f.Name) || recordtext.HidesBytes(f.Value) {
		r.writeWindowEntry(w, f)
		return
	}
	openEntry(w, f, "json")
	w.Number("size_chars", recordtext.NestedSize(f))
	r.ref.fetchFields(f.Name).write(w, "read")
	w.End("}")
}

// writeWindowEntry writes the entry of a nested value that is read in windows.
func (r *row) writeWindowEntry(w *rawjson.Writer, f *evidence.Field) {
	openEntry(w, f, "json")
	w.Number("size_chars", recordtext.NestedSize(f))
	r.writeRead(w, f.Name, 0)
	w.End("}")
}

// writeBinaryEntry writes the entry of a binary value: its facts, and the blob or the field
// window that has its bytes.
func (r *row) writeBinaryEntry(w *rawjson.Writer, f *evidence.Field, provider string) {
	facts := f.File.Binary
	facts.MimeType = evidence.Clean(facts.MimeType)
	openEntry(w, f, "binary")
	w.OpenObject("binary")
	*w = append(facts.AppendMembers(*w), '}')
	if f.File.BlobID == "" {
		r.writeRead(w, f.Name, 0)
		w.End("}")
		return
	}
	blob := blobHandle{r.ref.Connection, f.File.BlobID}
	quote.WriteID(w, "blob_id", f.File.BlobID)
	blob.writeExport(w, provider)
	if recordtext.IsReadableFile(f.File) && recordtext.IsReadable(f.Name) {
		start := r.ref.from(f.Name, 0)
		start.writeCall(w, "read")
	}
	w.Text("resource_uri", blob.URI())
	w.End("}")
}
