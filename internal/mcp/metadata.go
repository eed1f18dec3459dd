package mcp

import (
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rawjson"
)

const (
	metadataFields = 64 // fields of the record, without its text
	metadataFiles  = 16
)

// structured returns the document: exactly id, title, text, url, metadata (MS-143). It has
// no invisible characters, which could carry hidden instructions (D14).
func (d *document) structured() []byte {
	w := append(make(rawjson.Writer, 0, len(d.text)+4096), '{')
	quote.WriteID(&w, "id", d.id)
	quote.WriteText(&w, "title", d.title.Text)
	quote.WriteText(&w, "text", d.text)
	quote.WriteID(&w, "url", d.url)
	w.Key("metadata")
	d.writeMetadata(&w, limits.FetchMax-len(w)-1)
	return append(w, '}')
}

// writeMetadata writes the metadata (MS-144) in at most space bytes. If that is not
// enough, it drops parts in this order: the rungs of expanded records (their calls are also
// in the text), fields, files, the last rungs of the record.
func (d *document) writeMetadata(w *rawjson.Writer, space int) {
	start := len(*w)
	w.Object()
	d.writeFacts(w)
	notes := d.notesSize(*w)
	space -= len(*w) - start + notes
	whole := space
	rungs, space := fill(d.rungs(), limits.LadderFields, min(space, limits.LadderMax), space)
	ladderLeft := limits.LadderMax - (whole - space) - notes
	if n := len(rungs) - len(d.cuts); n < len(d.long) {
		d.omit(d.long[max(0, n):])
	}
	files, space := fill(d.files(), metadataFiles, space, space)
	d.omit(d.binaries[len(files):])
	children := d.childMembers(min(d.take(space), ladderLeft))
	d.writeFields(w)
	if d.isCut() {
		w.Flag("text_truncated", true)
		w.Number("text_total_chars", d.total)
	}
	if d.projected {
		w.Text("projected", "adapter")
	}
	if len(files) > 0 {
		w.Values("binary", files)
	}
	if len(rungs)+len(children) > 0 {
		d.ref.openLadder(w, rungs)
		w.Raw(children)
		w.End("}")
	}
	w.End("}")
}

// writeFields writes the small fields, and the names of those that are left out.
func (d *document) writeFields(w *rawjson.Writer) {
	if len(d.small) > 0 {
		w.OpenObject("fields")
		for _, f := range d.small {
			quote.WriteKey(w, f.name)
			w.Raw(f.value)
		}
		w.End("}")
	}
	if len(d.omitted) > 0 {
		quote.WriteList(w, "more_fields", d.omitted[:d.named])
		w.Number("more_fields_total", len(d.omitted))
	}
}

// childMembers returns the members of the ladder with the rungs of expanded records, in at
// most space bytes; the others are only counted.
func (d *document) childMembers(space int) []byte {
	const members = len(`,"records":[],"records_omitted":100000`)
	if space -= members; len(d.childRungs) == 0 || space < 0 {
		return nil
	}
	shown, _ := fill(d.childRungs, limits.LadderRecords, space, space)
	var w rawjson.Writer
	w.Values("records", shown)
	if n := len(d.childRungs) - len(shown); n > 0 {
		w.Number("records_omitted", n)
	}
	return w
}

// writeFacts writes the members of metadata that are never dropped.
func (d *document) writeFacts(w *rawjson.Writer) {
	eventTime := d.at.Value
	if d.at.Source == evidence.SourceEnvelope { // which emitted_at has
		eventTime = ""
	}
	quote.WriteID(w, "stream", d.Stream)
	quote.WriteID(w, "record_id", d.ref.Record)
	for _, m := range [...]struct{ name, value string }{
		{"connection_id", d.Connection},
		{"connector_key", d.ConnectorKey},
		{"display_name", d.Label()},
		{"event_time", eventTime},
		{"emitted_at", d.EmittedAt},
		{"text_source", d.source},
	} {
		if m.value != "" {
			quote.WriteID(w, m.name, m.value)
		}
	}
}

// notesSize returns the maximum size of the members that describe what is left out. It
// writes the ladder after w to measure it: w has the space.
func (d *document) notesSize(w rawjson.Writer) int {
	const notes = len(`,"fields":{},"text_truncated":true,"text_total_chars":1000000000,"projected":"adapter","binary":[],"more_fields":[],"more_fields_total":100000}`)
	start := len(w)
	d.ref.openLadder(&w, nil)
	w.End("}")
	return notes + len(w) - start
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
		all = append(all, d.entry(f))
	}
	return all
}

// newRung returns an empty rung, in a buffer for a usual one.
func newRung() rawjson.Writer { return make(rawjson.Writer, 0, 512) }

// entry returns the rung of a field.
func (d *document) entry(f evidence.Field) []byte {
	w := newRung()
	switch {
	case f.Shape == evidence.ShapeBinary:
		d.writeBinaryEntry(&w, &f, d.provider)
	case f.Shape == evidence.ShapeText:
		d.writeTextEntry(&w, &f)
	case d.isWindowed(f):
		d.writeWindowEntry(&w, &f)
	default:
		d.writeNestedEntry(&w, &f)
	}
	return w
}

// files returns the entries of the member binary.
func (d *document) files() [][]byte {
	var all [][]byte
	for _, f := range d.binaries {
		w := append(newRung(), '{')
		quote.WriteID(&w, "field_path", f.Name)
		recordtext.WriteFacts(&w, *f.File, f.Value)
		all = append(all, append(w, '}'))
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
