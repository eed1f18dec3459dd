package mcp

import (
	"cmp"
	"slices"
	"strconv"

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
	b        []byte // the rungs
	n        int
	omitted  int
}

const (
	ladderHead = `,"content_ladder":{"kind":"record_set","read_tool":"read_record_field","resource_template":"` + recordURI + `{id}","records":[`
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
	rung := len(l.b)
	if l.n > 0 {
		l.b = append(l.b, ',')
	}
	l.b = append(r.appendRung(append(l.b, '{'), fields, l.provider), '}')
	if len(ladderHead)+len(l.b)+len(ladderTail) > limits.LadderMax+len(`,"content_ladder":`) {
		l.b = l.b[:rung]
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

// append appends the ladder as a member; nothing when it has no rungs.
func (l *ladder) append(b []byte) []byte {
	if l.n+l.omitted == 0 {
		return b
	}
	b = append(append(append(b, ladderHead...), l.b...), ']')
	if l.omitted > 0 {
		b = append(b, `,"records_omitted":`...)
		b = strconv.AppendInt(b, int64(l.omitted), 10)
	}
	return append(b, '}')
}

// appendRung appends the members of one record in the ladder of a page (MS-191), with at
// most limits.LadderFields fields, text first.
func (r *row) appendRung(b []byte, fields []ranked, provider string) []byte {
	b = quote.AppendID(append(b, `"id":`...), r.ref.id)
	if r.ref.connectionArg != "" {
		b = quote.AppendID(append(b, `,"connection_id":`...), r.ref.connectionArg)
	}
	b = append(b, `,"fields":[`...)
	for i := range fields[:min(len(fields), limits.LadderFields)] {
		if i > 0 {
			b = append(b, ',')
		}
		b = r.appendEntry(b, fields[i].Field, provider)
	}
	return append(b, ']')
}

// appendEntries appends the members of the record in the ladder of a document.
func (r ref) appendEntries(b []byte, entries [][]byte) []byte {
	b = quote.AppendID(append(b, `"id":`...), r.id)
	b = append(b, `,"connection_id":`...)
	if r.Connection == "" {
		b = append(b, "null"...)
	} else {
		b = quote.AppendID(b, r.Connection)
	}
	b = quote.AppendID(append(b, `,"stream":`...), r.Stream)
	b = quote.AppendID(append(b, `,"record_id":`...), r.Record)
	b = append(r.appendURI(append(b, `,"resource_uri":"`...)), '"')
	return appendList(append(b, `,"fields":`...), entries)
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

// appendEntry appends the entry of a field in the ladder of a page. For a text it has the
// arguments of read_tool, without those that name the record.
func (r *row) appendEntry(b []byte, f *evidence.Field, provider string) []byte {
	switch f.Shape {
	case evidence.ShapeText:
		if recordtext.IsReadable(f.Name) {
			b = appendSize(appendEntryHead(b, f, "text"), f.TotalChars())
			b = append(b, `,"offset_chars":`...)
			return append(strconv.AppendInt(b, int64(f.Cut.ShownChars), 10), '}')
		}
		return r.textEntry(b, f)
	case evidence.ShapeBinary:
		return r.binaryEntry(b, f, provider)
	}
	return r.nestedEntry(b, f)
}

func appendEntryHead(b []byte, f *evidence.Field, kind string) []byte {
	b = quote.AppendID(append(b, `{"field_path":`...), f.Name)
	return appendMember(b, "kind", kind)
}

func appendSize(b []byte, chars int) []byte {
	return strconv.AppendInt(append(b, `,"size_chars":`...), int64(chars), 10)
}

// appendRead appends the call that reads on.
func appendRead(b []byte, n *nextCall) []byte {
	w := rawjson.Writer(b)
	n.write(&w, "read")
	return w
}

func (r *row) textEntry(b []byte, f *evidence.Field) []byte {
	offset := 0
	if f.Cut != nil {
		offset = f.Cut.ShownChars
	}
	return r.windowEntry(appendSize(appendEntryHead(b, f, "text"), f.TotalChars()), f.Name, offset)
}

// windowEntry ends an entry with the call for a window of its field.
func (r *row) windowEntry(b []byte, field string, offset int) []byte {
	if !recordtext.IsReadable(field) {
		return append(appendRead(b, r.ref.fetch()), '}')
	}
	w := r.ref.from(field, 0).at(offset, limits.WindowDefault)
	return append(w.appendRead(b), '}')
}

// appendRead appends the call and the resource that read the window.
func (w window) appendRead(b []byte) []byte {
	b = w.appendArgs(append(b, `,"read":{"tool":"read_record_field","args":`...))
	return append(w.appendURI(append(b, `},"resource_uri":"`...)), '"')
}

func (r *row) nestedEntry(b []byte, f *evidence.Field) []byte {
	b = appendSize(appendEntryHead(b, f, "json"), recordtext.NestedSize(f))
	if recordtext.NestedSize(f) > limits.DocTextMax || !recordtext.IsReadable(f.Name) || recordtext.HidesBytes(f.Value) {
		return r.windowEntry(b, f.Name, 0)
	}
	return append(appendRead(b, r.ref.fetch(member{"fields", []byte(quote.List([]string{f.Name}))})), '}')
}

// binaryEntry appends the entry of a binary value: its facts, and the blob or the field
// window that has its bytes.
func (r *row) binaryEntry(b []byte, f *evidence.Field, provider string) []byte {
	facts := f.File.Binary
	facts.MimeType = evidence.Clean(facts.MimeType)
	b = append(appendEntryHead(b, f, "binary"), `,"binary":{`...)
	b = append(facts.AppendMembers(b), '}')
	if f.File.BlobID == "" {
		return r.windowEntry(b, f.Name, 0)
	}
	blob := blobHandle{r.ref.Connection, f.File.BlobID}
	b = quote.AppendID(append(b, `,"blob_id":`...), f.File.BlobID)
	b = append(b, `,"export":{"method":"GET"`...)
	b = append(appendMember(b, "url", blob.URL(provider)), '}')
	if recordtext.IsReadableFile(f.File) && recordtext.IsReadable(f.Name) {
		b = appendRead(b, r.ref.from(f.Name, 0).next())
	}
	return append(appendMember(b, "resource_uri", blob.URI()), '}')
}
