package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// document is a record as fetch returns it (MS-143 to MS-145).
type document struct {
	row
	id        string
	url       string
	provider  string
	projected bool              // the adapter selected the fields (MS-71)
	keys      map[string]string // by relation: the field with the id of the parent (MS-67)

	source      string // what the text is from: role, text or rendered
	field       string // the field that has the text; "" if the text is rendered
	textMax     int    // maximum bytes of the text
	text        string
	total       int        // characters of the whole text
	cuts        []cutField // fields that the text shows in part
	left        []docLine  // fields that it does not show
	hasOneField bool

	// Fields that are not in the text:
	small      []smallField     // whole, in metadata
	long       []evidence.Field // in the ladder only
	binaries   []evidence.Field // as facts
	omitted    []string         // only in more_fields
	named      int              // number of omitted fields that metadata names
	lists      []*nextCall      // calls for the records of relations that the text omits
	childRungs [][]byte         // rungs of expanded records that the text shows in part
}

// cutField is a field of which the text shows the beginning.
type cutField struct {
	evidence.Field
	shown int // characters from its start
	total int // characters of the whole
}

// composeWithin composes the text so that it also fits where it is repeated as a JSON
// string inside a JSON string. Escapes make it longer there.
func (d *document) composeWithin(relations func(limit int) string) {
	const minText = 1024
	for d.textMax = limits.DocTextMax; ; {
		d.compose(relations)
		sent := rawjson.StringLen(string(quote.AppendText(nil, d.text)))
		if sent <= limits.SentTextMax || d.textMax <= minText {
			return
		}
		d.textMax = max(minText, min(d.textMax, len(d.text))*limits.SentTextMax/sent)
		d.cuts, d.left, d.lists, d.omitted, d.childRungs = nil, nil, nil, nil, nil
	}
}

// compose composes the text: the field that has the record's text, else all fields, then
// the expanded relations. Over d.textMax bytes the longest fields are shortened, so that each
// is at least named; a quarter is left for relations (MS-145).
func (d *document) compose(relations func(limit int) string) {
	lines := d.lines()
	need := len(lines) // line breaks
	for i := range lines {
		need += lines[i].need()
	}
	rest := ""
	if len(d.Expanded) > 0 {
		rest = relations(max(d.textMax/4, d.textMax-need-len("\n\n")))
	}
	space := d.textMax
	if rest != "" {
		space -= len(rest) + len("\n\n")
	}
	b := make([]byte, 0, min(need, space)+len(rest)+len("\n\n"))
	lineMax := share(lines, space-max(0, len(lines)-1))
	for i := range lines {
		if i > 0 && len(b)+len(lines[i].label)+len("\n") > space { // not even the names fit
			d.left = lines[i:]
			break
		}
		if i > 0 {
			b = append(b, '\n')
		}
		b = d.appendShown(b, &lines[i], lineMax)
	}
	if rest != "" {
		if len(lines) > 0 {
			b = append(b, "\n\n"...)
		}
		b = append(b, rest...)
	}
	d.text = string(b)
	d.total = quote.Count(d.text)
	for _, c := range d.cuts {
		d.total += c.total - c.shown
	}
	for _, l := range d.left {
		d.total += quote.Count(l.label) + l.total + 1
		d.omit([]evidence.Field{l.Field})
	}
}

// isCut reports whether the text is incomplete.
func (d *document) isCut() bool { return len(d.cuts)+len(d.left) > 0 }

// docLine is a field in the text of a document.
type docLine struct {
	evidence.Field
	label string // before the value; "" when the field is the whole text
	value []byte
	total int  // characters of the whole value
	whole bool // value is complete
}

// lines returns the fields of the text (MS-61, MS-67).
func (d *document) lines() []docLine {
	text := evidence.TextField(&d.evidence)
	d.field, d.source = text, "text"
	switch {
	case text == "":
		d.source = "rendered"
	case slices.Contains(d.evidence.Presentation.Roles[pdpp.RolePrimaryText], text):
		d.source = "role"
	}
	if text != "" {
		for _, f := range d.all {
			if f.Name == text {
				return []docLine{newLine(f, "")}
			}
		}
	}
	lines := make([]docLine, 0, len(d.all))
	for _, f := range d.all {
		lines = append(lines, newLine(f, quote.Name(f.Name)+": "))
	}
	d.hasOneField = len(lines) == 1
	return lines
}

func newLine(f evidence.Field, label string) docLine {
	l := docLine{Field: f, label: label, value: f.Value, total: recordtext.NestedSize(&f), whole: f.Cut == nil}
	switch f.Shape {
	case evidence.ShapeText:
		l.value, _ = rawjson.Text(f.Value)
		l.total = f.TotalChars()
	case evidence.ShapeBinary:
		l.value, l.whole = recordtext.AppendBinary(nil, f), true
	case evidence.ShapeNested:
		shown, fits := recordtext.AppendNested(nil, f.Value, limits.DocTextMax)
		if l.value, l.whole = shown, l.whole && fits; !l.whole {
			l.value = quote.AppendCutMark([]byte("json"), l.total)
		}
	}
	return l
}

// need returns the bytes of the whole line.
func (l *docLine) need() int { return len(l.label) + len(l.value) }

// share returns the maximum size of a line so that all lines fit into space bytes. Long
// lines share the space that short ones do not need.
func share(lines []docLine, space int) int {
	needs := make([]int, len(lines))
	for i := range lines {
		needs[i] = lines[i].need()
	}
	slices.Sort(needs)
	for i, n := range needs {
		if each := space / (len(needs) - i); n > each {
			return each
		}
		space -= n
	}
	return limits.DocTextMax
}

// appendShown appends a line within its share. A text that is the whole document is cut
// without a mark, so that its continuation can be joined to it.
func (d *document) appendShown(b []byte, l *docLine, limit int) []byte {
	b = append(b, l.label...)
	if l.whole && l.need() <= limit || l.Shape != evidence.ShapeText && l.Shape != evidence.ShapeNested {
		return append(b, l.value...)
	}
	if l.Shape == evidence.ShapeNested {
		mark := "json" + quote.CutMark(l.total)
		if l.whole && len(l.value) <= len(mark) {
			return append(b, l.value...)
		}
		d.cuts = append(d.cuts, cutField{l.Field, 0, l.total})
		return append(b, mark...)
	}
	mark := ""
	if l.label != "" {
		mark = "…" + quote.CutMark(l.total)
	}
	head := quote.HeadBytes(string(l.value), max(0, limit-len(l.label)-len(mark)))
	d.cuts = append(d.cuts, cutField{l.Field, quote.Count(head), l.total})
	return append(append(b, head...), mark...)
}

// collect distributes the fields that are not in the text over metadata and ladder, so that
// every value of the record is shown, or has a call that reads it (CONT-1).
func (d *document) collect() {
	d.small = make([]smallField, 0, len(d.all))
	for _, f := range d.all {
		switch {
		case f.Shape == evidence.ShapeBinary:
			d.binaries = append(d.binaries, f)
			continue
		case f.Shape == evidence.ShapeNested:
			d.binaries = append(d.binaries, recordtext.Files(&f)...)
		}
		isShown := d.source == "rendered" || f.Name == d.field || d.isWholeInHead(f)
		if !isShown {
			var value []byte
			if value, isShown = smallValue(&f); isShown {
				d.small = append(d.small, smallField{f.Name, value})
			}
		}
		if !isShown || f.Shape == evidence.ShapeNested && recordtext.HidesBytes(f.Value) && !d.isCutField(f.Name) {
			d.long = append(d.long, f)
		}
	}
}

// isCutField reports whether the text shows a field only in part.
func (d *document) isCutField(name string) bool {
	return slices.ContainsFunc(d.cuts, func(c cutField) bool { return c.Name == name })
}

// isWholeInHead reports whether the title, the time or the id shows a field completely.
func (d *document) isWholeInHead(f evidence.Field) bool {
	isShortened := f.Name == d.title.Field && d.title.Truncated
	return d.isInHead(&f) && !isShortened
}

// smallField is a field that metadata shows whole.
type smallField struct {
	name  string
	value []byte
}

// smallValue returns the value of a field for metadata; false when it is too long. Numbers
// and texts are unchanged; binary values in lists and objects are replaced by their facts.
func smallValue(f *evidence.Field) ([]byte, bool) {
	if f.Cut != nil {
		return nil, false
	}
	switch f.Shape {
	case evidence.ShapeScalar:
		return f.Value, len(f.Value) <= limits.PreviewChars
	case evidence.ShapeText:
		if f.TotalChars() > limits.PreviewChars {
			return nil, false
		}
		if content, _ := rawjson.Content(f.Value); !quote.IsPrintable(content) {
			text, _ := rawjson.String(f.Value)
			return quote.AppendText(nil, text), true
		}
		return f.Value, true
	case evidence.ShapeNested:
		return recordtext.AppendNested(nil, f.Value, limits.JSONPreviewBytes)
	}
	return nil, false
}

// isWindowed reports whether a field is read in windows: a text, or a nested value that is
// too large for a document.
func (d *document) isWindowed(f evidence.Field) bool {
	return f.Shape == evidence.ShapeText || d.hasOneField || recordtext.NestedSize(&f) > limits.DocTextMax || recordtext.HidesBytes(f.Value)
}

// relations returns the expanded records as lines (MS-67), in at most limit bytes, which
// the relations share equally. Records that do not fit can be read from their stream.
func (d *document) relations(limit int) string {
	var b strings.Builder
	for i, rel := range d.Expanded {
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(d.relation(rel, (limit-b.Len())/(len(d.Expanded)-i)))
	}
	return b.String()
}

// relation returns the records of one relation, each as an item, in at most limit bytes. It
// adds the rungs of the records that are shown in part, and the call that lists the others.
func (d *document) relation(rel rsclient.Relation, limit int) string {
	head := quote.Name(rel.Name) + " (" + strconv.Itoa(len(rel.Records)) + " records"
	if len(rel.Records) == 1 {
		head = strings.TrimSuffix(head, "s")
	}
	if rel.HasMore {
		head += ", has_more"
	}
	head += ")\n"
	const rest = 256 // bytes for the line about the other records
	items := recordtext.NewItemWriter(limit-len(head)-rest, len(rel.Records), limits.RowMin)
	var all *nextCall
	var child row
	child.Asked.Connection, child.Declared, child.Texts = d.Connection, d.Declared, d.Texts
	var it recordtext.Item
	for i, raw := range rel.Records {
		child.Row(raw)
		child.describe(nil)
		if all == nil && child.Stream != "" {
			all = d.children(&child, d.keys[rel.Name])
		}
		child.item(&it, i+1)
		if !items.Add(&it) {
			break
		}
		if cut := child.cutIn(&it); len(cut) > 0 {
			rung := newRung()
			child.writeRung(&rung, cut, d.provider)
			d.childRungs = append(d.childRungs, rung)
		}
	}
	out := head + items.String()
	left := len(rel.Records) - items.Shown()
	if left == 0 && !rel.HasMore || all == nil {
		return strings.TrimSuffix(out, "\n")
	}
	d.lists = append(d.lists, all)
	if left > 0 {
		out += "not shown: " + strconv.Itoa(left) + "; "
	}
	return out + "more: " + all.line()
}

// children returns the call that lists all records of a relation, if the schema names the
// field that refers to the parent; else the call that lists their stream.
func (d *document) children(child *row, key string) *nextCall {
	args := schemaArgs(child.Stream, child.Connection)
	if key != "" {
		w := rawjson.Reopen(args)
		w.OpenObject("filter")
		quote.WriteKey(&w, key)
		args = append(quote.AppendID(w, d.Identity.Record), "}}"...)
	}
	return &nextCall{"query_records", args}
}
