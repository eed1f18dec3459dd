package mcp

import (
	"strconv"

	"pdpp/internal/evidence"
	"pdpp/internal/rsclient"
)

// card is the short text beside the document (MS-146): what it is, where it is from,
// how much of it there is and how to read on.
func (d *document) card() string {
	head := "document " + quoteID(d.id)
	if d.title.Text != d.id {
		head += " " + quote(d.title.Text)
	}
	if d.at.Value != "" {
		head += " " + timed(d.at)
	}
	ways := append([]string{d.extent()}, d.ways()...)
	source := d.sourceLine()
	room := CardMax - len(head) - len(source) - len("\n\n")
	for i, line := range ways {
		if i > 1 && len(line)+1 > room {
			ways = ways[:i] // the first call is never left out
			break
		}
		room -= len(line) + 1
	}
	text := head
	if room >= 0 {
		text += "\n" + source
	}
	for _, line := range ways {
		text += "\n" + line
	}
	return text
}

// sourceLine names the source by the handles that calls take.
func (d *document) sourceLine() string {
	line := "source"
	if d.Connection != "" {
		line += " connection_id=" + quoteID(d.Connection)
	}
	if d.ConnectorKey != "" {
		line += " connector_key=" + quote(firstChars(rsclient.ShortKey(d.ConnectorKey), LabelChars))
	}
	line += " stream=" + quoteID(d.Stream)
	if label := d.Label(); label != "" {
		line += " display_name=" + quote(firstChars(label, LabelChars))
	}
	return line
}

// extent says how much of the record's text stands above.
func (d *document) extent() string {
	of := func(shown, total int) string { return strconv.Itoa(shown) + " of " + strconv.Itoa(total) }
	switch {
	case !d.isCut():
		return "the record's text above is whole"
	case d.field != "":
		return "the record's text above is chars 0.." + of(d.cuts[0].shown, d.cuts[0].total)
	}
	return "the record's text above has " + of(charCount(d.text), d.total) + " chars"
}

// ways are the lines that say how to read on, and what there is of files.
func (d *document) ways() []string {
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
		lines = append(lines, "more: "+d.ref.fetchFields(nested[:min(len(nested), LadderFields)]...).line())
	}
	for _, n := range d.lists {
		lines = append(lines, "more: "+n.line())
	}
	for _, f := range d.binaries {
		lines = append(lines, "binary "+quoteID(f.Name)+" "+string(appendShortFacts(nil, f.File.Binary, f.File.BlobID)))
	}
	return lines
}

// line is the call as a text shows it.
func (n *Next) line() string { return n.Tool + " " + string(n.Args) }
