package mcp

import (
	"strconv"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// writeFiles writes the member files of read_record_field (MS-178): the facts of each file
// and where to read it.
func (p *piece) writeFiles(w *rawjson.Writer, provider string) {
	w.OpenArray("files")
	for i := range p.files {
		p.writeFile(w, &p.files[i], provider)
	}
	w.End("]")
}

func (p *piece) writeFile(w *rawjson.Writer, f *file, provider string) {
	blob := blobHandle{p.asked.record.Connection, f.id}
	facts := f.facts
	facts.MimeType = evidence.Clean(facts.MimeType)
	w.Object()
	quote.WriteID(w, "field_path", f.path)
	*w = facts.AppendMembers(*w)
	quote.WriteID(w, "blob_id", f.id)
	blob.writeExport(w, provider)
	w.Text("resource_uri", blob.URI())
	if !p.isWindow() && f.isReadable() {
		first := p.asked.file(f)
		first.writeCall(w, "read")
	}
	w.Optional("note", f.note)
	w.End("}")
}

// isReadable reports whether a file may be text.
func (f *file) isReadable() bool { return f.note == "" && evidence.MayBeText(f.facts.MimeType) }

// file returns the first window of one of several files.
func (w window) file(f *file) window {
	return window{record: w.record, field: f.path, place: selector{offset: given{0, true}}}
}

// renderFiles returns the text about files without a window.
func (p *piece) renderFiles(provider string) string {
	b := p.appendRecord([]byte("files "))
	b = strconv.AppendInt(append(b, " count="...), int64(len(p.files)), 10)
	for i := range p.files {
		f := &p.files[i]
		b = append(strconv.AppendInt(append(b, '\n'), int64(i+1), 10), ". field_path="...)
		b = quote.AppendID(b, f.path)
		b = appendFileFacts(b, f)
		b = quote.AppendID(append(b, " export="...), "GET "+blobHandle{p.asked.record.Connection, f.id}.URL(provider))
		switch {
		case f.isReadable():
			b = append(append(b, "\n   more: read_record_field "...), p.asked.file(f).args()...)
		case f.note != "":
			b = append(append(b, "\n   not shown as text: "...), f.note...)
		default:
			b = append(b, "\n   not text; a program that has the token can download it from the URL in export"...)
		}
	}
	return string(b)
}

// appendFileFacts appends the known facts of a file.
func appendFileFacts(b []byte, f *file) []byte {
	b = quote.AppendText(append(b, " mime_type="...), f.facts.MimeType)
	if f.facts.SizeBytes >= 0 {
		b = strconv.AppendInt(append(b, " size_bytes="...), f.facts.SizeBytes, 10)
	}
	if f.facts.SHA256 != "" {
		b = quote.AppendText(append(b, " sha256="...), f.facts.SHA256)
	}
	return b
}

// fileLinks returns links to the files as resources.
func (p *piece) fileLinks() []Block {
	const maxLinks = 3
	var list []Block
	for _, f := range p.files[:min(maxLinks, len(p.files))] {
		uri := blobHandle{p.asked.record.Connection, f.id}.URI()
		list = append(list, Block{Link: &Link{URI: uri, Name: quote.Visible(f.path), MimeType: evidence.Clean(f.facts.MimeType), Size: max(0, f.facts.SizeBytes)}})
	}
	return list
}
