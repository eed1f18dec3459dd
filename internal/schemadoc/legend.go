package schemadoc

import (
	"slices"
	"strings"

	"pdpp/internal/rawjson"
)

// unusableToken is a suffix of other tokens. Only other servers send it.
const unusableToken = "=unusable:<why>"

// legend has one entry per token of X-15 and ends with those that only other servers
// send. No document contains it; adapters show it next to a document.
var legend = []legendEntry{
	{"t", "type"},
	{"role", "display role"},
	{"eq", "exact filter"},
	{"r", "range filter operators"},
	{"lex", "lexical search"},
	{"sem", "semantic search"},
	{"a", "aggregations"},
	{"j", "JSON type"},
	{"fmt", "format"},
	{"blob", "file reference"},
	{"g=false", "not granted"},
	{unusableToken, "declared but not usable"},
	{"declared", "readable only"},
}

// legendEntry explains one token of a flag string.
type legendEntry struct{ token, meaning string }

// LegendLine returns the entries of the legend that the flag strings need, as one line
// of text (MS-89). It returns "" when they need none.
func LegendLine(flags ...string) string {
	var parts []string
	for _, e := range legend {
		if !slices.ContainsFunc(flags, e.isIn) {
			continue
		}
		sep := "="
		if e.token == unusableToken {
			sep = " "
		}
		parts = append(parts, e.token+sep+e.meaning)
	}
	return strings.Join(parts, " | ")
}

// isIn reports whether a flag string contains the token.
func (e legendEntry) isIn(flags string) bool {
	if e.token == unusableToken {
		return strings.Contains(flags, "=unusable:")
	}
	for token := range strings.SplitSeq(flags, ",") {
		if token == e.token || strings.HasPrefix(token, e.token+"=") {
			return true
		}
	}
	return false
}

// AppendLegend appends the legend as a JSON object from token to meaning, the value of
// field_capability_legend (MS-83).
func AppendLegend(dst []byte) []byte {
	w := rawjson.Writer(append(dst, '{'))
	for _, e := range legend {
		w.Text(e.token, e.meaning)
	}
	w.End("}")
	return w
}
