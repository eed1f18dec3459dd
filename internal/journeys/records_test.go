package journeys

import (
	"slices"
	"strings"
)

// records returns the ingested records of a stream of some connections.
func (w *world) records(connections []string, stream string) (out []line) {
	for _, l := range w.lines {
		if l.Stream == stream && slices.Contains(connections, l.connection) {
			out = append(out, l)
		}
	}
	return out
}

// str returns a field as text.
func (l line) str(field string) string {
	if l.Data[field] == nil {
		return ""
	}
	return text(l.Data[field])
}

// letters returns the letters that the grant of the demo covers: those since 2025.
func (w *world) letters() (out []line) {
	for _, l := range w.records(mail, "messages") {
		if l.str("sent_at") >= "2025" {
			out = append(out, l)
		}
	}
	return out
}

// find returns the first record with a field that has a prefix.
func find(lines []line, field, prefix string) line {
	for _, l := range lines {
		if strings.HasPrefix(l.str(field), prefix) {
			return l
		}
	}
	return line{}
}

var (
	mail = []string{"personal", "work"}
	bank = []string{"giro", "savings"}
)
