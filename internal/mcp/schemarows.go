package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
	"pdpp/internal/schemadoc"
)

// schemaBlock is one block of scoped text: rows of one connector that offer the same.
type schemaBlock struct {
	rows   []*schemaRow
	fields []schemaField
	offers []string // all lines
	terse  []string // the same, without the names that flags say
	kept   []string // the lines that every row keeps, with short lists
}

// schemaLayout is how much of the blocks is shown. The zero value shows all.
type schemaLayout struct {
	terse   bool // names that the flags say stand there only
	short   bool // flags without what only describes
	crowded bool // only the lines that every row keeps, with the first names of lists
}

// Most names of a list, and connections of a row, in the crowded layout.
const (
	crowdedNames       = 4
	crowdedConnections = 8
)

// scoped is the text for one stream (MS-89, MS-91).
func (t *schemaText) scoped() string {
	blocks := t.blocks()
	head := []string{
		t.header("stream=" + quoteID(t.doc.scope.stream) + " rows=" + strconv.Itoa(len(t.doc.inScope()))),
	}
	if line := legendLine(blocks); line != "" {
		head = append(head, "legend: "+line)
	}
	notes, tail := t.notes(), []string{t.rowsNext(blocks)}
	if t.detail == "full" {
		tail = []string{"full JSON Schema in structured output (" + strconv.Itoa(t.bytes) + " bytes)", tail[0]}
	}
	if t.offset.ok {
		return t.page(blocks, head, tail)
	}
	for _, layout := range []schemaLayout{{}, {terse: true}, {short: true, terse: true}} {
		if lines, fits := whole(blocks, layout, room(nil, layout, head, notes, tail)); fits {
			return strings.Join(slices.Concat(head, lines, notes, tail), "\n")
		}
	}
	if room(nil, schemaLayout{}, head, notes, tail) < ScopedTextMax/2 {
		notes = nil // they are in structured output
	}
	return t.cut(blocks, head, append(notes, tail...))
}

// legendLine explains the flags of the blocks.
func legendLine(blocks []*schemaBlock) string {
	var flags []string
	for _, b := range blocks {
		for _, f := range b.fields {
			flags = append(flags, f.flags)
		}
	}
	return schemadoc.LegendLine(flags...)
}

// whole are the lines of blocks with all their fields, if they fit.
func whole(blocks []*schemaBlock, layout schemaLayout, left int) (lines []string, fits bool) {
	for _, b := range blocks {
		for _, l := range b.lines(len(b.fields), layout) {
			lines = append(lines, l)
			left -= len(l) + 1
		}
		if left < 0 {
			return nil, false
		}
	}
	return lines, true
}

// lines are a block with its first n fields.
func (b *schemaBlock) lines(n int, layout schemaLayout) []string {
	offers := b.offers
	switch {
	case layout.crowded:
		offers = b.kept
	case layout.terse:
		offers = b.terse
	}
	return append([]string{b.row(layout), b.fieldLine(0, n, layout)}, offers...)
}

// blocks gathers the rows. What a row offers is compared by its text.
func (t *schemaText) blocks() []*schemaBlock {
	var out []*schemaBlock
	known := map[string]*schemaBlock{}
	for _, r := range t.doc.inScope() {
		b := &schemaBlock{rows: []*schemaRow{r}, fields: r.fields()}
		if t.detail != "full" {
			for i := range b.fields {
				b.fields[i].enum = nil
			}
		}
		r.markSorted(b.fields)
		b.offers, b.terse, b.kept = r.offers(b.fields, namesList{}), r.offers(b.fields, namesList{flagged: true}), r.keptOffers(b.fields)
		key := quoteID(r.ConnectorKey) + quoteID(r.Label) + strings.Join(b.lines(len(b.fields), schemaLayout{})[1:], "\n")
		if same := known[key]; same != nil {
			same.rows = append(same.rows, r)
			continue
		}
		known[key] = b
		out = append(out, b)
	}
	return out
}

// cut shows fields while they fit, from the first block on. When even the lines that
// every row keeps do not fit, the last rows are only named by their connections.
func (t *schemaText) cut(blocks []*schemaBlock, head, tail []string) string {
	layout := schemaLayout{short: true, terse: true}
	if room(blocks, layout, head, tail) < 0 {
		layout.crowded = true
	}
	left := room(blocks, layout, head, tail) - len(t.goOnLine(maxPlace)) - 1
	shown := len(blocks)
	for left < 0 && shown > 0 {
		shown--
		left += blocks[shown].size(layout)
	}
	rest := moreRows(blocks[shown:], left)
	for _, l := range rest { // its words have room of their own
		left -= max(0, len(l)+1-cutReserve)
	}
	lines, first := head, given{}
	for _, b := range blocks[:shown] {
		n, size := b.fit(0, left, layout)
		if left -= size; n < len(b.fields) && !first.ok {
			first = given{b.place(n), true}
		}
		lines = append(lines, b.lines(n, layout)...)
	}
	if shown < len(blocks) && !first.ok {
		first = given{blocks[shown].rows[0].at, true}
	}
	if left < 0 { // the names of the call itself fill the text
		return head[0]
	}
	lines = append(lines, rest...)
	if layout.crowded || t.detail == "full" {
		first = given{0, true} // more than the last fields is not shown
	}
	if first.ok {
		lines = append(lines, t.goOnLine(first.n))
	}
	return strings.Join(append(lines, tail...), "\n")
}

// moreRows says how many rows are not shown, and on which connections they are, as
// far as there is room.
func moreRows(blocks []*schemaBlock, room int) []string {
	if len(blocks) == 0 {
		return nil
	}
	var rows []*schemaRow
	for _, b := range blocks {
		rows = append(rows, b.rows...)
	}
	line := "more_rows=" + strconv.Itoa(len(rows))
	var ids []string
	conns := connectionsOf(rows)
	for _, c := range conns[:min(len(conns), crowdedConnections)] {
		id := quoteID(c.ID)
		if room -= len(id) + 1; room < 0 {
			break
		}
		ids = append(ids, id)
	}
	if ids != nil {
		line += " connections=" + strings.Join(ids, ",")
	}
	if left := len(conns) - len(ids); left > 0 {
		line += " more_connections=" + strconv.Itoa(left)
	}
	return []string{line}
}

// cutReserve is room for the words that say what was cut.
const cutReserve = 80

// room is what fields may take when everything else is shown.
func room(blocks []*schemaBlock, layout schemaLayout, around ...[]string) int {
	left := ScopedTextMax - cutReserve
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

// size is the length of a block without fields.
func (b *schemaBlock) size(layout schemaLayout) int {
	n := 0
	for _, l := range b.lines(0, layout) {
		n += len(l) + 1
	}
	return n
}

// fit is how many fields from one on a block can show in the given bytes, and what they take.
func (b *schemaBlock) fit(from, room int, layout schemaLayout) (n, size int) {
	for from+n < len(b.fields) {
		next := len(b.fields[from+n].text(layout)) + 1
		if size+next > room {
			break
		}
		size += next
		n++
	}
	return n, size
}

// row says where the stream is: the connector, the connections, the names.
func (b *schemaBlock) row(layout schemaLayout) string {
	r := b.rows[0]
	line := "row connector_key=" + quoteID(rsclient.ShortKey(r.ConnectorKey))
	conns := connectionsOf(b.rows)
	name := r.Source.Label()
	if len(conns) == 1 && conns[0].DisplayName != "" {
		name = conns[0].DisplayName
	}
	if name != "" && len(conns) < 2 {
		line += " display_name=" + quote(firstChars(name, LabelChars))
	}
	if len(conns) == 1 {
		line += " connection_id=" + quoteID(conns[0].ID)
	}
	line += " stream=" + quoteID(r.Name)
	if r.Label != "" {
		line += " label=" + quote(firstChars(r.Label, LabelChars))
	}
	switch {
	case len(conns) > 1:
		most := len(conns)
		if layout.crowded {
			most = crowdedConnections
		}
		line += ": " + connectionList(conns, most)
	case len(conns) == 0 && r.stated:
		line += " connections=none"
	}
	return line
}

// fieldLine shows n fields from one on.
func (b *schemaBlock) fieldLine(from, n int, layout schemaLayout) string {
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

// rowsNext is the first read of the stream.
func (t *schemaText) rowsNext(blocks []*schemaBlock) string {
	stream := t.doc.scope.stream
	args := append([]byte(`{"stream":`), rawjson.AppendString(nil, stream)...)
	conn := t.firstConnection(blocks[:1])
	args = appendMember(args, "connection_id", conn)
	line := "next: query_records " + escapeHidden(string(args)+`,"limit":10}`)
	if conn != t.doc.scope.connection && len(connectionsOf(blocks[0].rows)) > 1 {
		line += "\nin several connections, choose with connection_id; this call reads the first"
	}
	return line
}

// firstConnection is a connection to read the blocks on: the one of the call, else
// the first that an argument can name (MS-56).
func (t *schemaText) firstConnection(blocks []*schemaBlock) string {
	if c := t.doc.scope.connection; c != "" {
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
