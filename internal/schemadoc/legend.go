package schemadoc

import (
	"slices"
	"strings"

	"pdpp/internal/rawjson"
)

// LegendEntry explains one token of a flag string.
type LegendEntry struct {
	Token   string
	Meaning string
}

// unusableToken is a suffix of other tokens, seen from other servers only.
const unusableToken = "=unusable:<why>"

// Legend gives one entry per token of X-15, the ones that only other servers
// send last. No document contains it; adapters show it beside a document.
func Legend() []LegendEntry {
	return []LegendEntry{
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
}

// LegendLine is the legend as one line of text (MS-89), with the entries that some
// flag strings need; "" when they need none.
func LegendLine(flags ...string) string {
	var parts []string
	for _, e := range Legend() {
		if !slices.ContainsFunc(flags, e.isIn) {
			continue
		}
		sep := "="
		if e.Token == unusableToken {
			sep = " "
		}
		parts = append(parts, e.Token+sep+e.Meaning)
	}
	return strings.Join(parts, " | ")
}

// isIn reports whether a flag string has the token.
func (e LegendEntry) isIn(flags string) bool {
	if e.Token == unusableToken {
		return strings.Contains(flags, "=unusable:")
	}
	for token := range strings.SplitSeq(flags, ",") {
		if token == e.Token || strings.HasPrefix(token, e.Token+"=") {
			return true
		}
	}
	return false
}

// AppendLegend appends the legend as a JSON object of token to meaning, the
// value of field_capability_legend (MS-83).
func AppendLegend(dst []byte) []byte {
	dst = append(dst, '{')
	for i, e := range Legend() {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, e.Token)
		dst = append(dst, ':')
		dst = rawjson.AppendString(dst, e.Meaning)
	}
	return append(dst, '}')
}
