package mcp

import (
	"strconv"

	"pdpp/internal/rsclient"
)

// Most warnings of an answer that a text shows (MS-104, MS-226).
const maxWarnings = 3

// warningLines are the warnings of an answer, the first ones in full.
func warningLines(warnings []rsclient.Warning) []string {
	var lines []string
	for _, w := range warnings[:min(len(warnings), maxWarnings)] {
		lines = append(lines, warningLine(w))
	}
	if left := len(warnings) - len(lines); left > 0 {
		lines = append(lines, "more_warnings="+strconv.Itoa(left))
	}
	return lines
}

// warningLine names the source when the warning is about one (MS-226); otherwise it
// gives the message. An id that would fill the text is left to structured output.
func warningLine(w rsclient.Warning) string {
	line := "warning code=" + quote(firstChars(w.Code, LabelChars))
	if w.Connection == "" || len(w.Connection) > PreviewChars {
		if w.Message != "" {
			line += " " + quoteCut(w.Message, PreviewChars)
		}
		return line
	}
	line += " connection_id=" + quoteID(w.Connection)
	if w.ConnectorKey != "" {
		line += " connector_key=" + quote(firstChars(rsclient.ShortKey(w.ConnectorKey), LabelChars))
	}
	if w.Error != "" {
		line += " error=" + quote(firstChars(w.Error, LabelChars))
	}
	return line
}
