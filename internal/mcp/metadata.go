package mcp

import (
	"strconv"

	"pdpp/internal/evidence"
)

const (
	metadataFields = 64 // of the record, beside its text
	metadataFiles  = 16
)

// structured is the document: exactly id, title, text, url, metadata (MS-143). What
// could hide in a terminal is escaped, so that the text block can repeat it.
func (d *document) structured() []byte {
	b := appendID(append(make([]byte, 0, len(d.text)+2048), `{"id":`...), d.id)
	b = appendID(append(b, `,"title":`...), d.title.Text)
	b = append(b, `,"text":`...)
	start := len(b)
	b = appendID(b, d.text)
	escapes := len(b) - start - len(d.text)
	b = appendID(append(b, `,"url":`...), d.url)
	b = append(b, `,"metadata":`...)
	return append(d.appendMetadata(b, FetchMax-len(b)+escapes-1), '}')
}

// appendMetadata appends the metadata (MS-144) in at most that many bytes. When they
// are short, fields give way first, then files, then the last rungs of the ladder.
func (d *document) appendMetadata(b []byte, room int) []byte {
	m := d.facts()
	room -= len(m) + d.notesRoom()
	rungs, room := fill(d.rungs(), LadderFields, min(room, LadderMax), room)
	if n := len(rungs) - len(d.cuts); n < len(d.long) {
		d.omit(d.long[max(0, n):])
	}
	files, room := fill(d.files(), metadataFiles, room, room)
	d.omit(d.binaries[len(files):])
	fields := d.take(room)
	b = append(b, m...)
	if len(fields) > 0 {
		b = appendList(append(b, `,"fields":`...), fields, "{}")
	}
	if len(d.omitted) > 0 {
		b = append(append(b, `,"more_fields":`...), quoteList(d.omitted[:d.named])...)
		b = append(b, `,"more_fields_total":`...)
		b = strconv.AppendInt(b, int64(len(d.omitted)), 10)
	}
	if d.isCut() {
		b = append(b, `,"text_truncated":true,"text_total_chars":`...)
		b = strconv.AppendInt(b, int64(d.total), 10)
	}
	if d.projected {
		b = append(b, `,"projected":"adapter"`...)
	}
	if len(files) > 0 {
		b = appendList(append(b, `,"binary":`...), files, "[]")
	}
	if len(rungs) > 0 {
		b = append(b, `,"content_ladder":{"kind":"record","read_tool":"read_record_field",`...)
		b = append(d.ref.appendEntries(b, rungs), '}')
	}
	return append(b, '}')
}

// facts are the members of metadata that are always there.
func (d *document) facts() []byte {
	eventTime := d.at.Value
	if d.at.Source == evidence.SourceEnvelope { // emitted_at says it
		eventTime = ""
	}
	b := appendID([]byte(`{"stream":`), d.Stream)
	b = appendID(append(b, `,"record_id":`...), d.ref.Record)
	for _, m := range []struct{ name, value string }{
		{"connection_id", d.Connection},
		{"connector_key", d.ConnectorKey},
		{"display_name", d.Label()},
		{"event_time", eventTime},
		{"emitted_at", d.EmittedAt},
		{"text_source", d.source},
	} {
		if m.value != "" {
			b = appendID(append(append(append(b, `,"`...), m.name...), `":`...), m.value)
		}
	}
	return b
}

// notesRoom is what the members take that come with what is left out.
func (d *document) notesRoom() int {
	const notes = len(`,"fields":{},"text_truncated":true,"text_total_chars":1000000000,"projected":"adapter","binary":[],"more_fields":[],"more_fields_total":100000}`)
	return notes + len(d.ref.appendEntries([]byte(`,"content_ladder":{"kind":"record","read_tool":"read_record_field",}`), nil))
}

// rungs are the ways to read on: the text first, where it goes on at the cut, then
// what is only here, then files (MS-145, MS-192).
func (d *document) rungs() [][]byte {
	var all [][]byte
	for _, c := range d.cuts {
		f := c.Field
		if f.Shape == evidence.ShapeText {
			f.Cut = &evidence.Truncation{TotalChars: c.total, ShownChars: c.shown}
		}
		all = append(all, d.entry(f))
	}
	for _, f := range d.long {
		all = append(all, d.entry(f))
	}
	for _, f := range d.binaries {
		all = append(all, d.binaryEntry(nil, &f, d.provider))
	}
	return all
}

// entry is the rung of a text or a nested value.
func (d *document) entry(f evidence.Field) []byte {
	switch {
	case f.Shape == evidence.ShapeText:
		return d.textEntry(nil, &f)
	case d.isWindowed(f):
		return d.windowEntry(appendSize(appendEntryHead(nil, &f, "json"), nestedSize(f)), f.Name, 0)
	}
	return d.nestedEntry(nil, &f)
}

// files are the entries of binary.
func (d *document) files() [][]byte {
	var all [][]byte
	for _, f := range d.binaries {
		b := appendID([]byte(`{"field_path":`), f.Name)
		all = append(all, append(append(b, ','), appendFacts(nil, f.File.Binary, f.File.BlobID)[1:]...))
	}
	return all
}

// omit notes fields that found no place.
func (d *document) omit(fields []evidence.Field) {
	for _, f := range fields {
		d.omitted = append(d.omitted, f.Name)
	}
}

// take gives the fields that metadata has room for, as members. Room is kept for the
// names of the others, as many of them as fit.
func (d *document) take(room int) [][]byte {
	for _, f := range d.small {
		room -= idLen(f.Name) + 1
	}
	for _, name := range d.omitted {
		room -= idLen(name) + 1
	}
	var all [][]byte
	for i, f := range d.small {
		value, _ := smallValue(f)
		if room -= len(value) + 1; len(all) == metadataFields || room < 0 {
			room += len(value) + 1
			d.omit(d.small[i:])
			break
		}
		all = append(all, append(append(appendID(make([]byte, 0, len(f.Name)+len(value)+3), f.Name), ':'), value...))
	}
	d.named = len(d.omitted)
	for ; d.named > 0 && room < 0; d.named-- {
		room += idLen(d.omitted[d.named-1]) + 1
	}
	return all
}

// fill takes entries while there is room for them: at most n, and most bytes. It
// gives the room that is left.
func fill(entries [][]byte, n, most, room int) ([][]byte, int) {
	for i, e := range entries {
		if most -= len(e) + 1; i == n || most < 0 {
			return entries[:i], room
		}
		room -= len(e) + 1
	}
	return entries, room
}

// appendList appends entries within braces or brackets.
func appendList(b []byte, entries [][]byte, ends string) []byte {
	b = append(b, ends[0])
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, ends[1])
}
