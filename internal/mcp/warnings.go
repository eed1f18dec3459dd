package mcp

import (
	"strconv"

	"pdpp/internal/rawjson"
)

// Most warnings of an answer that a text shows (MS-104, MS-226).
const maxWarnings = 3

// warningLines are the warnings of an answer, the first ones in full.
func warningLines(body []byte) []string {
	meta, _ := rawjson.Get(body, "meta")
	warnings, _ := rawjson.Get(meta, "warnings")
	var lines []string
	left := 0
	for w := range rawjson.Elements(warnings) {
		if len(lines) == maxWarnings {
			left++
			continue
		}
		lines = append(lines, warningLine(w))
	}
	if left > 0 {
		lines = append(lines, "more_warnings="+strconv.Itoa(left))
	}
	return lines
}

// warningLine names the source when the warning is about one (MS-226); otherwise it
// gives the message.
func warningLine(w []byte) string {
	line := "warning code=" + quote(firstChars(textMember(w, "code"), LabelChars))
	id := textMember(w, "connection_id")
	if id == "" || len(id) > PreviewChars {
		return line + " " + quoteCut(textMember(w, "message"), PreviewChars)
	}
	line += " connection_id=" + quoteID(id)
	detail, _ := rawjson.Get(w, "detail")
	if key := textMember(detail, "connector_key"); key != "" {
		line += " connector_key=" + quote(firstChars(key, LabelChars))
	}
	cause, _ := rawjson.Get(detail, "error")
	if code := textMember(cause, "code"); code != "" {
		line += " error=" + quote(firstChars(code, LabelChars))
	}
	return line
}
