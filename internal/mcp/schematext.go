package mcp

import (
	"math"
	"strconv"
	"strings"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// schemaText is the text of a schema result: an index without a stream (MS-88), rows
// with one (MS-89, MS-91).
type schemaText struct {
	doc       *schemaDoc
	detail    string
	projected bool
	bytes     int   // of the full document
	offset    given // where a cut result goes on
}

func (t *schemaText) String() string {
	switch {
	case len(t.doc.sources) == 0:
		return t.nothing()
	case t.doc.scope.stream != "":
		return t.scoped()
	}
	return t.index()
}

// header begins every text.
func (t *schemaText) header(facts string) string {
	h := "schema: " + facts + " detail=" + t.detail
	if c := t.doc.scope.connection; c != "" {
		h += " connection_id=" + quoteID(c)
	}
	if t.offset.ok {
		h += " offset=" + strconv.Itoa(t.offset.n)
	}
	if t.projected {
		h += " projected=adapter"
	}
	return h
}

// nothing says that the scope has no row (MS-87).
func (t *schemaText) nothing() string {
	scope := t.doc.scope
	head := t.header("streams=0")
	where := "this grant"
	if scope.connection != "" {
		where += " on that connection"
	}
	lines := []string{head + "; no stream is in " + where}
	if scope.stream != "" {
		lines[0] = head + "; stream " + quoteID(scope.stream) + " is not in " + where
	}
	lines = append(lines, t.notes()...)
	if scope != (schemaScope{}) {
		lines = append(lines, "next: schema {}")
	}
	return strings.Join(lines, "\n")
}

// notes are the sources that did not answer, and the warnings (MS-222, MS-226).
func (t *schemaText) notes() []string {
	lines := warningLines(rsclient.PageOf(t.doc.Document).Warnings)
	return append(lines, unavailableLines(maxNotes-len(lines), t.doc.Document, t.doc.Meta)...)
}

// unavailableLines are the sources that some objects list as unavailable, at most
// that many, and how many more there are.
func unavailableLines(most int, objs ...[]byte) (lines []string) {
	left := 0
	for _, obj := range objs {
		list, _ := rawjson.Get(obj, "unavailable_connections")
		listed := 0
		for item := range rawjson.Elements(list) {
			listed++
			line := connectionLine("unavailable", item)
			if len(lines) >= most || len(line) > maxNote {
				left++
				continue
			}
			lines = append(lines, line)
		}
		count, _ := rawjson.Get(obj, "unavailable_connection_count")
		if n, err := strconv.Atoi(string(count)); err == nil {
			left += max(0, n-listed) // the list is cut
		}
	}
	if left > 0 {
		lines = append(lines, "more_unavailable="+strconv.Itoa(left))
	}
	return lines
}

// Most lines of notes in one text, and most bytes of one about a connection.
const (
	maxNotes = 8
	maxNote  = 320
)

// index names everything that there is (MS-88): with details when they fit.
func (t *schemaText) index() string {
	d := t.doc
	facts := "connectors=" + strconv.Itoa(len(d.sources)) + " streams=" + strconv.Itoa(len(d.inScope()))
	if d.Scope != "" {
		facts += " scope=" + plainCode(d.Scope)
	}
	head := []string{t.header(facts)}
	tail := append(t.notes(), t.indexNext()...)
	lines := func(connector func(*schemaSource) string) []string {
		out := head
		for _, src := range d.sources {
			out = append(out, connector(src))
		}
		return append(out, tail...)
	}
	text := strings.Join(lines((*schemaSource).detailed), "\n")
	for _, most := range []int{math.MaxInt, 8, 2, 0} {
		if len(text) <= SchemaTextMax {
			break
		}
		text = strings.Join(lines(func(src *schemaSource) string { return src.plain(most) }), "\n")
	}
	return text + t.several(SchemaTextMax-len(text))
}

// detailed is a connector with what an index says of its streams.
func (src *schemaSource) detailed() string {
	line := "connector " + quoteID(rsclient.ShortKey(src.ConnectorKey))
	if name := src.Label(); name != "" {
		line += " " + quote(firstChars(name, LabelChars))
	}
	if len(src.shared) > 0 {
		line += ": " + connectionList(src.shared, len(src.shared))
	}
	var streams []string
	for _, r := range src.rows {
		streams = append(streams, r.indexText())
	}
	return line + "\n  " + strings.Join(streams, "; ")
}

// connectionList writes connections with their labels, at most most of them.
func connectionList(conns []rsclient.Connection, most int) string {
	var parts []string
	for i, c := range conns {
		if i == most {
			parts = append(parts, "more_connections="+strconv.Itoa(len(conns)-most))
			break
		}
		part := "connection " + quoteID(c.ID)
		if c.DisplayName != "" {
			part += " " + quote(firstChars(c.DisplayName, LabelChars))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// indexText is a stream with its facts.
func (r *schemaRow) indexText() string {
	line := "stream " + quoteID(r.Name)
	if r.Label != "" {
		line += " " + quote(firstChars(r.Label, LabelChars))
	}
	facts := r.facts()
	if facts.fields >= 0 {
		line += " fields=" + strconv.Itoa(facts.fields)
	}
	if len(facts.search) > 0 {
		line += " search=" + joinNames(facts.search, ",")
	}
	if facts.aggregate {
		line += " aggregate"
	}
	switch {
	case r.stated && len(r.Connections) == 0:
		line += " connections=none"
	case r.deviates():
		line += " connections=" + joinIDs(r.Connections)
	}
	return line
}

// plain is a connector with the names of its streams and some of its connections.
func (src *schemaSource) plain(most int) string {
	line := quoteID(rsclient.ShortKey(src.ConnectorKey))
	conns := connectionsOf(src.rows)
	if shown := conns[:min(most, len(conns))]; len(shown) > 0 {
		line += " connections=" + joinIDs(shown)
	}
	if left := len(conns) - most; left > 0 {
		line += " more_connections=" + strconv.Itoa(left)
	}
	var names []string
	for _, r := range src.rows {
		names = append(names, r.Name)
	}
	return line + ": " + joinNames(names, " ")
}

func joinIDs(conns []rsclient.Connection) string {
	var ids []string
	for _, c := range conns {
		ids = append(ids, quoteID(c.ID))
	}
	return strings.Join(ids, ",")
}

func joinNames(names []string, sep string) string {
	return strings.Join(each(names, bareName), sep)
}

// indexNext is the next step: the first stream that an argument can name.
func (t *schemaText) indexNext() []string {
	for _, r := range t.doc.inScope() {
		if isStreamName(r.Name) {
			return []string{"next: schema " + escapeHidden(string(schemaArgs(r.Name, t.doc.scope.connection))) + " shows fields, filters, sort, expand, aggregation"}
		}
	}
	return nil
}

// several names the streams that stand in several connections, as many as there is
// room for.
func (t *schemaText) several(room int) string {
	byName := map[string][]*schemaRow{}
	var names []string
	for _, r := range t.doc.inScope() {
		if byName[r.Name] == nil {
			names = append(names, r.Name)
		}
		byName[r.Name] = append(byName[r.Name], r)
	}
	line, left := "", 0
	room -= len("\nin several connections, choose with connection_id:") + len(" and 1000000 more")
	for _, name := range names {
		if len(connectionsOf(byName[name])) < 2 {
			continue
		}
		part := " " + quoteID(name)
		if len(line)+len(part) > room {
			left++
			continue
		}
		line += part
	}
	if line == "" {
		return ""
	}
	if left > 0 {
		line += " and " + strconv.Itoa(left) + " more"
	}
	return "\nin several connections, choose with connection_id:" + line
}
