package journeys

import (
	"slices"
	"strings"
)

// records are what was taken in for a stream of some connections.
func (w *world) records(connections []string, stream string) (out []line) {
	for _, l := range w.lines {
		if l.Stream == stream && slices.Contains(connections, l.connection) {
			out = append(out, l)
		}
	}
	return out
}

// str is a field as text.
func (l line) str(field string) string {
	if l.Data[field] == nil {
		return ""
	}
	return text(l.Data[field])
}

// letters are the letters that the demo's grant shows: those since 2025.
func (w *world) letters() (out []line) {
	for _, l := range w.records(mail, "messages") {
		if l.str("sent_at") >= "2025" {
			out = append(out, l)
		}
	}
	return out
}

// find is the first record with a field that begins so.
func find(lines []line, field, start string) line {
	for _, l := range lines {
		if strings.HasPrefix(l.str(field), start) {
			return l
		}
	}
	return line{}
}

var (
	mail = []string{"personal", "work"}
	bank = []string{"giro", "savings"}
)
