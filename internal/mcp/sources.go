package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/mcp/recordtext"
	"pdpp/internal/rsclient"
)

// source is the connection of some items of a page.
type source struct {
	connection, key, name string
	items                 int
}

// sources are the sources of a page, in the order of their first items. A text names each
// of them once (FANIN-1).
type sources []source

// maxSources is the number of sources that a text names.
const maxSources = 8

// add counts an item of a connection; an item without one has no source.
func (all *sources) add(connection string, from rsclient.Source) {
	if connection == "" {
		return
	}
	at := slices.IndexFunc(*all, func(s source) bool { return s.connection == connection })
	if at < 0 {
		at = len(*all)
		*all = append(*all, source{connection: connection, key: rsclient.ShortKey(from.ConnectorKey), name: from.Label()})
	}
	(*all)[at].items++
}

// named returns a source that the text names; the zero value for any other.
func (all sources) named(connection string) source {
	for _, s := range all[:min(len(all), maxSources)] {
		if s.connection == connection {
			return s
		}
	}
	return source{}
}

// isOne reports whether all items of a page have one source.
func (all sources) isOne(items int) bool { return len(all) == 1 && all[0].items == items }

// describe names the sources in the text of a page: a single one in the first line, several
// in a line of their own. asked is the connection that the call names.
func (all sources) describe(t *recordtext.PageConfig, asked string) {
	switch {
	case all.isOne(t.Count):
		t.Attrs += all[0].attrs(asked)
	case len(all) > 0:
		t.Facts = append([]string{all.line(t.Noun)}, t.Facts...)
	}
}

// line names several sources, with the number of their items.
func (all sources) line(noun string) string {
	var entries []string
	for i, s := range all {
		if i == maxSources {
			entries = append(entries, "more_sources="+strconv.Itoa(len(all)-maxSources))
			break
		}
		entry := quote.ID(s.connection)
		if s.key != "" {
			entry += " connector_key=" + quote.Text(quote.First(s.key, limits.LabelChars))
		}
		if s.name != "" {
			entry += " " + quote.Text(quote.First(s.name, limits.LabelChars))
		}
		entries = append(entries, entry+" "+noun+"="+strconv.Itoa(s.items))
	}
	return "sources: " + strings.Join(entries, "; ")
}

// attrs returns a source for the first line, without the connection if the call names it.
func (s source) attrs(asked string) (attrs string) {
	if s.connection != asked {
		attrs += " source=" + quote.ID(s.connection)
	}
	if s.key != "" {
		attrs += " connector_key=" + quote.Text(quote.First(s.key, limits.LabelChars))
	}
	if s.name != "" {
		attrs += " display_name=" + quote.Text(quote.First(s.name, limits.LabelChars))
	}
	return attrs
}

// label adds those labels of an item's source that differ from s, the source that the text
// names.
func (s source) label(it *recordtext.Item, own rsclient.Source) {
	if key := rsclient.ShortKey(own.ConnectorKey); key != s.key {
		it.Label("connector_key", key)
	}
	if name := own.Label(); name != s.name {
		it.Label("display_name", name)
	}
}

// largest returns the connection with most items.
func (all sources) largest() (connection string) {
	most := 0
	for _, s := range all {
		if s.items > most {
			most, connection = s.items, s.connection
		}
	}
	return connection
}
