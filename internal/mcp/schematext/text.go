package schematext

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rsclient"
)

// Config is a schema result that Text renders.
type Config struct {
	Document  *Document
	Detail    string   // "compact" or "full"
	Projected bool     // the structured output is a projection
	Bytes     int      // size of a full document
	Offset    int      // the offset of the call; -1 if there is none
	Notes     []string // lines about sources that failed, and warnings (MS-222, MS-226)
	// IsStream reports whether a call can name a stream (MS-56).
	IsStream func(name string) bool
}

// Text returns the text of a schema result: an index without a stream (MS-88), rows with
// one (MS-89, MS-91).
func Text(c Config) string {
	t := &text{c, c.Document.scope}
	switch {
	case len(c.Document.sources) == 0:
		return t.nothing()
	case t.scope.Stream != "":
		return t.scoped()
	}
	return t.index()
}

type text struct {
	Config
	scope Scope
}

// header returns the first line of every text.
func (t *text) header(facts string) string {
	h := "schema: " + facts + " detail=" + t.Detail
	if c := t.scope.Connection; c != "" {
		h += " connection_id=" + quote.ID(c)
	}
	if t.Offset >= 0 {
		h += " offset=" + strconv.Itoa(t.Offset)
	}
	if t.Projected {
		h += " projected=adapter"
	}
	return h
}

// nothing returns the text for a scope without rows (MS-87).
func (t *text) nothing() string {
	scope := t.scope
	head := t.header("streams=0")
	where := "this grant"
	if scope.Connection != "" {
		where += " on that connection"
	}
	lines := []string{head + "; no stream is in " + where}
	if scope.Stream != "" {
		lines[0] = head + "; stream " + quote.ID(scope.Stream) + " is not in " + where
	}
	lines = append(lines, t.Notes...)
	if scope != (Scope{}) {
		lines = append(lines, "next: schema {}")
	}
	return strings.Join(lines, "\n")
}

// index returns the text that names all streams (MS-88), with details when they fit.
func (t *text) index() string {
	d := t.Document
	facts := "connectors=" + strconv.Itoa(len(d.sources)) + " streams=" + strconv.Itoa(len(d.inScope()))
	if d.Scope != "" {
		facts += " scope=" + quote.Code(d.Scope)
	}
	head := []string{t.header(facts)}
	tail := slices.Concat(t.Notes, t.indexNext())
	lines := func(connector func(*connector) string) []string {
		out := head
		for _, src := range d.sources {
			out = append(out, connector(src))
		}
		return append(out, tail...)
	}
	text := strings.Join(lines((*connector).detailed), "\n")
	for _, limit := range []int{math.MaxInt, 8, 2, 0} {
		if len(text) <= limits.SchemaTextMax {
			break
		}
		text = strings.Join(lines(func(src *connector) string { return src.plain(limit) }), "\n")
	}
	return text + t.several(limits.SchemaTextMax-len(text))
}

// detailed returns a connector with the facts of its streams.
func (src *connector) detailed() string {
	line := "connector " + quote.ID(rsclient.ShortKey(src.ConnectorKey))
	if name := src.Label(); name != "" {
		line += " " + quote.Text(quote.First(name, limits.LabelChars))
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

// connectionList returns at most limit connections, with their labels.
func connectionList(conns []rsclient.Connection, limit int) string {
	var parts []string
	for i, c := range conns {
		if i == limit {
			parts = append(parts, "more_connections="+strconv.Itoa(len(conns)-limit))
			break
		}
		part := "connection " + quote.ID(c.ID)
		if c.DisplayName != "" {
			part += " " + quote.Text(quote.First(c.DisplayName, limits.LabelChars))
		}
		parts = append(parts, part)
	}
	return strings.Join(parts, "; ")
}

// indexText returns a stream with its facts.
func (r *row) indexText() string {
	line := "stream " + quote.ID(r.Name)
	if r.Label != "" {
		line += " " + quote.Text(quote.First(r.Label, limits.LabelChars))
	}
	facts := r.facts()
	if facts.fields >= 0 {
		line += " fields=" + strconv.Itoa(facts.fields)
	}
	if len(facts.search) > 0 {
		line += " search=" + quote.Names(facts.search, ",")
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

// plain returns a connector with the names of its streams and some of its connections.
func (src *connector) plain(limit int) string {
	line := quote.ID(rsclient.ShortKey(src.ConnectorKey))
	conns := connectionsOf(src.rows)
	if shown := conns[:min(limit, len(conns))]; len(shown) > 0 {
		line += " connections=" + joinIDs(shown)
	}
	if left := len(conns) - limit; left > 0 {
		line += " more_connections=" + strconv.Itoa(left)
	}
	var names []string
	for _, r := range src.rows {
		names = append(names, r.Name)
	}
	return line + ": " + quote.Names(names, " ")
}

func joinIDs(conns []rsclient.Connection) string {
	var ids []string
	for _, c := range conns {
		ids = append(ids, quote.ID(c.ID))
	}
	return strings.Join(ids, ",")
}

// indexNext returns the next step: the first stream that an argument can name.
func (t *text) indexNext() []string {
	for _, r := range t.Document.inScope() {
		if t.IsStream(r.Name) {
			return []string{"next: schema " + quote.EscapeHidden(string(Scope{r.Name, t.scope.Connection}.Args())) + " shows fields, filters, sort, expand, aggregation"}
		}
	}
	return nil
}

// several lists the streams that are in several connections, as many as fit.
func (t *text) several(space int) string {
	byName := map[string][]*row{}
	var names []string
	for _, r := range t.Document.inScope() {
		if byName[r.Name] == nil {
			names = append(names, r.Name)
		}
		byName[r.Name] = append(byName[r.Name], r)
	}
	line, left := "", 0
	space -= len("\nstreams in several connections (choose one with connection_id):") + len(" and 1000000 more")
	for _, name := range names {
		if len(connectionsOf(byName[name])) < 2 {
			continue
		}
		part := " " + quote.ID(name)
		if len(line)+len(part) > space {
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
	return "\nstreams in several connections (choose one with connection_id):" + line
}
