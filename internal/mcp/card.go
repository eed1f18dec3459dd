package mcp

import (
	"strconv"
	"strings"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rsclient"
)

// card returns the short text beside the document (MS-146): its title, its source, how much
// of it is shown, and the calls that read on.
func (d *document) card() string {
	var first, second [512]byte
	head := quote.AppendID(append(first[:0], "document "...), d.id)
	if d.title.Field != "" || d.title.Text != d.id {
		head = quote.AppendText(append(head, ' '), d.title.Text)
	}
	if d.at.Value != "" {
		head = recordtext.AppendTime(append(head, ' '), d.at)
	}
	source := d.appendSource(append(second[:0], '\n'))
	lines := append([]string{d.extent()}, d.moreLines()...)
	left := limits.CardMax - len(head) - len(source) - len("\n")
	for i, line := range lines {
		if i > 1 && len(line)+1 > left {
			lines = lines[:i] // the first call is always shown
			break
		}
		left -= len(line) + 1
	}
	var text strings.Builder
	text.Grow(limits.CardMax - left)
	text.Write(head)
	if left >= 0 {
		text.Write(source)
	}
	for _, line := range lines {
		text.WriteByte('\n')
		text.WriteString(line)
	}
	return text.String()
}

// appendSource appends the source, as arguments name it.
func (d *document) appendSource(b []byte) []byte {
	b = append(b, "source"...)
	if d.Connection != "" {
		b = quote.AppendID(append(b, " connection_id="...), d.Connection)
	}
	if d.ConnectorKey != "" {
		b = quote.AppendText(append(b, " connector_key="...), quote.First(rsclient.ShortKey(d.ConnectorKey), limits.LabelChars))
	}
	b = quote.AppendID(append(b, " stream="...), d.Stream)
	if label := d.Label(); label != "" {
		b = quote.AppendText(append(b, " display_name="...), quote.First(label, limits.LabelChars))
	}
	return b
}

// extent returns the line about how much of the record's text is shown.
func (d *document) extent() string {
	of := func(shown, total int) string { return strconv.Itoa(shown) + " of " + strconv.Itoa(total) }
	switch {
	case !d.isCut():
		return "the text above is the complete text of the record"
	case d.field != "":
		return "the record's text above is chars 0.." + of(d.cuts[0].shown, d.cuts[0].total)
	}
	return "the record's text above has " + of(quote.Count(d.text), d.total) + " chars"
}

// moreLines returns the lines with the calls that read on, and with the facts of files.
func (d *document) moreLines() []string {
	if !d.isCut() && len(d.long)+len(d.omitted)+len(d.lists)+len(d.binaries) == 0 {
		return nil
	}
	var texts, nested []string
	offset := map[string]int{}
	note := func(f evidence.Field, shown int) {
		if d.isWindowed(f) {
			texts = append(texts, f.Name)
			offset[f.Name] = shown
		} else {
			nested = append(nested, f.Name)
		}
	}
	for _, c := range d.cuts {
		note(c.Field, c.shown)
	}
	for _, f := range d.long {
		note(f, 0)
	}
	var lines []string
	for _, name := range texts {
		lines = append(lines, "more: "+d.ref.from(name, offset[name]).next().line())
	}
	if nested = append(nested, d.omitted...); len(nested) > 0 {
		lines = append(lines, "more: "+d.ref.fetchFields(nested[:min(len(nested), limits.LadderFields)]...).line())
	}
	for _, n := range d.lists {
		lines = append(lines, "more: "+n.line())
	}
	for _, f := range d.binaries {
		lines = append(lines, "binary "+quote.ID(f.Name)+" "+string(recordtext.AppendShortFacts(nil, *f.File, f.Value)))
		if recordtext.IsReadableFile(f.File) && recordtext.IsReadable(f.Name) {
			lines = append(lines, "more: "+d.ref.from(f.Name, 0).next().line())
		}
	}
	return lines
}

// line returns the call as a text shows it.
func (n *nextCall) line() string { return n.Tool + " " + string(n.Args) }

// AppendCall appends the call as a text shows it.
func (n *nextCall) AppendCall(b []byte) []byte {
	return append(append(append(b, n.Tool...), ' '), n.Args...)
}
