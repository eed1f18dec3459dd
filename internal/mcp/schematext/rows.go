package schematext

import (
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rsclient"
	"pdpp/internal/schemadoc"
)

// block is one block of scoped text: rows of one connector with equal capabilities.
type block struct {
	rows   []*row
	fields []field
	offers []string // all lines
	terse  []string // all lines, without the names that flags imply
	kept   []string // the lines that every row keeps, with short lists
}

// layout decides how much of the blocks is shown. The zero value shows all.
type layout struct {
	terse   bool // names that flags imply are not repeated
	short   bool // without flags that only describe
	crowded bool // only the lines that every row keeps, with the first names of lists
}

// The crowded layout shows at most these numbers of names in a list and of connections in a
// row.
const (
	crowdedNames       = 4
	crowdedConnections = 8
)

// scoped returns the text for one stream (MS-89, MS-91).
func (t *text) scoped() string {
	blocks := t.blocks()
	head := []string{
		t.header("stream=" + quote.ID(t.scope.Stream) + " rows=" + strconv.Itoa(len(t.Document.inScope()))),
	}
	if line := legendLine(blocks); line != "" {
		head = append(head, "legend: "+line)
	}
	notes, tail := t.Notes, []string{t.rowsNext(blocks)}
	if t.Detail == "full" {
		tail = []string{"full JSON Schema in structured output (" + strconv.Itoa(t.Bytes) + " bytes)", tail[0]}
	}
	if t.Offset >= 0 {
		return t.page(blocks, head, tail)
	}
	for _, layout := range []layout{{}, {terse: true}, {short: true, terse: true}} {
		if lines, fits := whole(blocks, layout, fieldSpace(nil, layout, head, notes, tail)); fits {
			return strings.Join(slices.Concat(head, lines, notes, tail), "\n")
		}
	}
	if fieldSpace(nil, layout{}, head, notes, tail) < limits.ScopedTextMax/2 {
		notes = nil // structured output has them
	}
	return t.cut(blocks, head, slices.Concat(notes, tail))
}

// legendLine explains the flags of the blocks.
func legendLine(blocks []*block) string {
	var flags []string
	for _, b := range blocks {
		for _, f := range b.fields {
			flags = append(flags, f.flags)
		}
	}
	return schemadoc.LegendLine(flags...)
}

// whole returns the lines of blocks with all their fields, if they fit.
func whole(blocks []*block, layout layout, space int) (lines []string, fits bool) {
	for _, b := range blocks {
		for _, l := range b.lines(len(b.fields), layout) {
			lines = append(lines, l)
			space -= len(l) + 1
		}
		if space < 0 {
			return nil, false
		}
	}
	return lines, true
}

// lines returns the lines of a block with its first n fields.
func (b *block) lines(n int, layout layout) []string {
	offers := b.offers
	switch {
	case layout.crowded:
		offers = b.kept
	case layout.terse:
		offers = b.terse
	}
	return append([]string{b.row(layout), b.fieldLine(0, n, layout)}, offers...)
}

// blocks groups the rows by connector and by the text of their capabilities.
func (t *text) blocks() []*block {
	var out []*block
	known := map[string]*block{}
	for _, r := range t.Document.inScope() {
		b := &block{rows: []*row{r}, fields: r.fields()}
		if t.Detail != "full" {
			for i := range b.fields {
				b.fields[i].enum = nil
			}
		}
		r.markSorted(b.fields)
		b.offers, b.terse, b.kept = r.offers(b.fields, namesList{}), r.offers(b.fields, namesList{flagged: true}), r.keptOffers(b.fields)
		key := quote.ID(r.ConnectorKey) + quote.ID(r.Label) + strings.Join(b.lines(len(b.fields), layout{})[1:], "\n")
		if same := known[key]; same != nil {
			same.rows = append(same.rows, r)
			continue
		}
		known[key] = b
		out = append(out, b)
	}
	return out
}

// cut returns the text with as many fields as fit, from the first block on. When even the
// lines that every row keeps do not fit, it lists the connections of the last rows only.
func (t *text) cut(blocks []*block, head, tail []string) string {
	layout := layout{short: true, terse: true}
	if fieldSpace(blocks, layout, head, tail) < 0 {
		layout.crowded = true
	}
	left := fieldSpace(blocks, layout, head, tail) - len(t.continueLine(MaxOffset)) - 1
	shown := len(blocks)
	for left < 0 && shown > 0 {
		shown--
		left += blocks[shown].size(layout)
	}
	rest := moreRows(blocks[shown:], left)
	for _, l := range rest { // cutReserve covers its words
		left -= max(0, len(l)+1-cutReserve)
	}
	lines, first := head, -1
	for _, b := range blocks[:shown] {
		n, size := b.fit(0, left, layout)
		if left -= size; n < len(b.fields) && first < 0 {
			first = b.place(n)
		}
		lines = append(lines, b.lines(n, layout)...)
	}
	if shown < len(blocks) && first < 0 {
		first = blocks[shown].rows[0].at
	}
	if left < 0 { // the names in the call fill the text
		return head[0]
	}
	lines = append(lines, rest...)
	if layout.crowded || t.Detail == "full" {
		first = 0 // whole rows are missing, not only the last fields
	}
	if first >= 0 {
		lines = append(lines, t.continueLine(first))
	}
	return strings.Join(append(lines, tail...), "\n")
}

// moreRows returns the line that counts the rows that are not shown, with as many of their
// connections as fit.
func moreRows(blocks []*block, space int) []string {
	if len(blocks) == 0 {
		return nil
	}
	var rows []*row
	for _, b := range blocks {
		rows = append(rows, b.rows...)
	}
	line := "more_rows=" + strconv.Itoa(len(rows))
	var ids []string
	conns := connectionsOf(rows)
	for _, c := range conns[:min(len(conns), crowdedConnections)] {
		id := quote.ID(c.ID)
		if space -= len(id) + 1; space < 0 {
			break
		}
		ids = append(ids, id)
	}
	if ids != nil {
		line += " connections=" + strings.Join(ids, ",")
	}
	if space := len(conns) - len(ids); space > 0 {
		line += " more_connections=" + strconv.Itoa(space)
	}
	return []string{line}
}

// cutReserve is the space for the words about what is cut.
const cutReserve = 80

// fieldSpace returns the bytes that are left for fields when everything else is shown.
func fieldSpace(blocks []*block, layout layout, around ...[]string) int {
	left := limits.ScopedTextMax - cutReserve
	for _, lines := range around {
		for _, l := range lines {
			left -= len(l) + 1
		}
	}
	for _, b := range blocks {
		left -= b.size(layout)
	}
	return left
}

// size returns the length of a block without fields.
func (b *block) size(layout layout) int {
	n := 0
	for _, l := range b.lines(0, layout) {
		n += len(l) + 1
	}
	return n
}

// fit returns how many fields, starting at from, a block can show in space bytes, and their
// size.
func (b *block) fit(from, space int, layout layout) (n, size int) {
	for from+n < len(b.fields) {
		next := len(b.fields[from+n].text(layout)) + 1
		if size+next > space {
			break
		}
		size += next
		n++
	}
	return n, size
}

// row returns the line with the connector, the connections and the names of a block.
func (b *block) row(layout layout) string {
	r := b.rows[0]
	line := "row connector_key=" + quote.ID(rsclient.ShortKey(r.ConnectorKey))
	conns := connectionsOf(b.rows)
	name := r.Source.Label()
	if len(conns) == 1 && conns[0].DisplayName != "" {
		name = conns[0].DisplayName
	}
	if name != "" && len(conns) < 2 {
		line += " display_name=" + quote.Text(quote.First(name, limits.LabelChars))
	}
	if len(conns) == 1 {
		line += " connection_id=" + quote.ID(conns[0].ID)
	}
	line += " stream=" + quote.ID(r.Name)
	if r.Label != "" {
		line += " label=" + quote.Text(quote.First(r.Label, limits.LabelChars))
	}
	switch {
	case len(conns) > 1:
		limit := len(conns)
		if layout.crowded {
			limit = crowdedConnections
		}
		line += ": " + connectionList(conns, limit)
	case len(conns) == 0 && r.stated:
		line += " connections=none"
	}
	return line
}

// fieldLine returns the line with n fields, from one on.
func (b *block) fieldLine(from, n int, layout layout) string {
	parts := []string{" fields:"}
	for _, f := range b.fields[from : from+n] {
		parts = append(parts, f.text(layout))
	}
	if left := len(b.fields) - from - n; left > 0 {
		parts = append(parts, "more_fields="+strconv.Itoa(left))
	}
	if len(b.fields) == 0 {
		parts = append(parts, unstated)
	}
	return strings.Join(parts, " ")
}

// rowsNext returns the line with the first read of the stream.
func (t *text) rowsNext(blocks []*block) string {
	conn := t.firstConnection(blocks[:1])
	args := Scope{t.scope.Stream, conn}.args()
	args.Number("limit", 10)
	line := "next: query_records " + quote.EscapeHidden(string(append(args, '}')))
	if conn != t.scope.Connection && len(connectionsOf(blocks[0].rows)) > 1 {
		line += "\nin several connections, choose with connection_id; this call reads the first"
	}
	return line
}

// firstConnection returns a connection to read the blocks on: the one of the call, else
// the first that an argument can name (MS-56).
func (t *text) firstConnection(blocks []*block) string {
	if c := t.scope.Connection; c != "" {
		return c
	}
	for _, b := range blocks {
		for _, c := range connectionsOf(b.rows) {
			if !strings.ContainsRune(c.ID, 0) {
				return c.ID
			}
		}
	}
	return ""
}
