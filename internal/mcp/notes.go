package mcp

import (
	"strconv"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// warningLines returns the lines for the first three warnings of an answer, and the number
// of the others (MS-104, MS-226).
func warningLines(list []rsclient.Warning) []string {
	const (
		maxWarnings = 3
		chars       = 200
	)
	var lines []string
	for i, w := range list {
		if i == maxWarnings {
			return append(lines, "more_warnings="+strconv.Itoa(len(list)-maxWarnings))
		}
		line := "warning code=" + quote.Text(quote.First(w.Code, limits.LabelChars))
		if w.Connection != "" {
			line += " connection_id=" + quote.ID(quote.First(w.Connection, chars))
		}
		for _, label := range []struct{ name, value string }{
			{"connector_key", rsclient.ShortKey(w.ConnectorKey)}, {"stream", w.Stream}, {"error", w.Error},
		} {
			if label.value != "" {
				line += " " + label.name + "=" + quote.Text(quote.First(label.value, limits.LabelChars))
			}
		}
		if w.Message != "" && w.Error == "" {
			line += " " + quote.Text(quote.First(w.Message, chars))
		}
		lines = append(lines, line)
	}
	return lines
}

// unavailableLines returns at most limit lines for the unavailable sources that the objects
// list, and a line with the number of the others (MS-222).
func unavailableLines(limit int, objs ...[]byte) (lines []string) {
	const maxLine = 320
	left := 0
	for _, obj := range objs {
		list, _ := rawjson.Get(obj, "unavailable_connections")
		listed := 0
		for item := range rawjson.Elements(list) {
			listed++
			line := connectionLine("unavailable", item)
			if len(lines) >= limit || len(line) > maxLine {
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

// connectionLine describes a connection. It leaves out the grant, which no tool accepts.
func connectionLine(label string, item []byte) string {
	o := errorObject(item)
	line := label + " " + quote.ID(rsclient.ConnectionOf(item))
	for _, name := range []string{"connector_key", "display_name", "code"} {
		s := o.text(name)
		if name == "code" && s == "" {
			s = errorObject(o.raw("error")).text("code") // as packages report it (H-88)
		}
		if s != "" {
			line += " " + name + "=" + quote.Text(quote.First(s, limits.LabelChars))
		}
	}
	return line
}
