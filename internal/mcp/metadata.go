package mcp

import (
	"strconv"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
)

const (
	metadataFields = 64 // fields of the record, without its text
	metadataFiles  = 16
)

// structured returns the document: exactly id, title, text, url, metadata (MS-143). It has
// no invisible characters, which could carry hidden instructions (D14).
func (d *document) structured() []byte {
	b := make([]byte, 0, len(d.text)+4096)
	b = quote.AppendID(append(b, `{"id":`...), d.id)
	b = quote.AppendText(append(b, `,"title":`...), d.title.Text)
	b = append(b, `,"text":`...)
	b = quote.AppendText(b, d.text)
	b = quote.AppendID(append(b, `,"url":`...), d.url)
	b = append(b, `,"metadata":`...)
	return append(d.appendMetadata(b, limits.FetchMax-len(b)-1), '}')
}

// appendMetadata appends the metadata (MS-144) in at most space bytes. If that is not
// enough, it drops parts in this order: the rungs of expanded records (their calls are also
// in the text), fields, files, the last rungs of the record.
func (d *document) appendMetadata(b []byte, space int) []byte {
	start := len(b)
	b = d.appendFacts(b)
	space -= len(b) - start + d.notesSize()
	whole := space
	rungs, space := fill(d.rungs(), limits.LadderFields, min(space, limits.LadderMax), space)
	ladderLeft := limits.LadderMax - (whole - space) - d.notesSize()
	if n := len(rungs) - len(d.cuts); n < len(d.long) {
		d.omit(d.long[max(0, n):])
	}
	files, space := fill(d.files(), metadataFiles, space, space)
	d.omit(d.binaries[len(files):])
	children := d.appendChildren(nil, min(d.take(space), ladderLeft))
	for i, f := range d.small {
		sep := ","
		if i == 0 {
			sep = `,"fields":{`
		}
		b = append(append(quote.AppendID(append(b, sep...), f.name), ':'), f.value...)
	}
	if len(d.small) > 0 {
		b = append(b, '}')
	}
	if len(d.omitted) > 0 {
		b = append(append(b, `,"more_fields":`...), quote.List(d.omitted[:d.named])...)
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
		b = appendList(append(b, `,"binary":`...), files)
	}
	if len(rungs)+len(children) > 0 {
		b = append(b, `,"content_ladder":{"kind":"record","read_tool":"read_record_field",`...)
		b = append(append(d.ref.appendEntries(b, rungs), children...), '}')
	}
	return append(b, '}')
}

// appendChildren appends the rungs of expanded records to the ladder, in at most space
// bytes; the others are only counted.
func (d *document) appendChildren(b []byte, space int) []byte {
	const members = len(`,"records":[],"records_omitted":100000`)
	if space -= members; len(d.childRungs) == 0 || space < 0 {
		return b
	}
	shown, _ := fill(d.childRungs, limits.LadderRecords, space, space)
	b = appendList(append(b, `,"records":`...), shown)
	if n := len(d.childRungs) - len(shown); n > 0 {
		b = strconv.AppendInt(append(b, `,"records_omitted":`...), int64(n), 10)
	}
	return b
}

// appendFacts appends the members of metadata that are never dropped.
func (d *document) appendFacts(b []byte) []byte {
	eventTime := d.at.Value
	if d.at.Source == evidence.SourceEnvelope { // which emitted_at has
		eventTime = ""
	}
	b = quote.AppendID(append(b, `{"stream":`...), d.Stream)
	b = quote.AppendID(append(b, `,"record_id":`...), d.ref.Record)
	for _, m := range [...]struct{ name, value string }{
		{"connection_id", d.Connection},
		{"connector_key", d.ConnectorKey},
		{"display_name", d.Label()},
		{"event_time", eventTime},
		{"emitted_at", d.EmittedAt},
		{"text_source", d.source},
	} {
		if m.value != "" {
			b = quote.AppendID(append(append(append(b, `,"`...), m.name...), `":`...), m.value)
		}
	}
	return b
}

// notesSize returns the maximum size of the members that describe what is left out.
func (d *document) notesSize() int {
	const notes = len(`,"fields":{},"text_truncated":true,"text_total_chars":1000000000,"projected":"adapter","binary":[],"more_fields":[],"more_fields_total":100000}`)
	const ladder = `,"content_ladder":{"kind":"record","read_tool":"read_record_field",}`
	var counted [1024]byte
	return notes + len(ladder) + len(d.ref.appendEntries(counted[:0], nil))
}

// rungs returns the rungs of the record: the text first, which continues at the cut, then
// fields that are nowhere else, then files (MS-145, MS-192).
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

// entry returns the rung of a text or a nested value.
func (d *document) entry(f evidence.Field) []byte {
	switch {
	case f.Shape == evidence.ShapeText:
		return d.textEntry(nil, &f)
	case d.isWindowed(f):
		return d.windowEntry(appendSize(appendEntryHead(nil, &f, "json"), recordtext.NestedSize(&f)), f.Name, 0)
	}
	return d.nestedEntry(nil, &f)
}

// files returns the entries of the member binary.
func (d *document) files() [][]byte {
	var all [][]byte
	for _, f := range d.binaries {
		b := quote.AppendID([]byte(`{"field_path":`), f.Name)
		all = append(all, append(append(b, ','), recordtext.AppendFacts(nil, *f.File, f.Value)[1:]...))
	}
	return all
}

// omit adds fields to those that only more_fields names.
func (d *document) omit(fields []evidence.Field) {
	for _, f := range fields {
		d.omitted = append(d.omitted, f.Name)
	}
}

// take keeps the small fields that fit into space bytes, and reserves space for the names
// of the others. It returns the bytes that remain.
func (d *document) take(space int) int {
	for _, f := range d.small {
		space -= quote.IDLen(f.name) + 1
	}
	for _, name := range d.omitted {
		space -= quote.IDLen(name) + 1
	}
	for i, f := range d.small {
		if space -= len(f.value) + 1; i == metadataFields || space < 0 {
			space += len(f.value) + 1
			for _, other := range d.small[i:] {
				d.omitted = append(d.omitted, other.name)
			}
			d.small = d.small[:i]
			break
		}
	}
	d.named = len(d.omitted)
	for ; d.named > 0 && space < 0; d.named-- {
		space += quote.IDLen(d.omitted[d.named-1]) + 1
	}
	return space
}

// fill returns the first entries that fit: at most n entries, of together at most limit
// bytes. It also returns how much of space remains.
func fill(entries [][]byte, n, limit, space int) ([][]byte, int) {
	for i, e := range entries {
		if limit -= len(e) + 1; i == n || limit < 0 {
			return entries[:i], space
		}
		space -= len(e) + 1
	}
	return entries, space
}

// appendList appends entries as a JSON array.
func appendList(b []byte, entries [][]byte) []byte {
	b = append(b, '[')
	for i, e := range entries {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return append(b, ']')
}
