package mcp

import (
	"slices"

	"pdpp/internal/rawjson"
)

// schemaFacts are what an index says of a row, taken from the row or, in a
// fuller document, from what it offers (MS-89).
type schemaFacts struct {
	fields          int // -1: not known
	search          []string
	searchStated    bool
	aggregate       bool
	aggregateStated bool
}

func (r *schemaRow) facts() schemaFacts {
	f := schemaFacts{fields: r.FieldCount}
	fields := r.fields()
	if f.fields < 0 && len(fields) > 0 {
		f.fields = len(fields)
	}
	f.search, f.searchStated = r.searchModes(fields)
	if v, ok := rawjson.Get(r.Raw, "aggregate"); ok {
		f.aggregate, f.aggregateStated = string(v) == "true", true
	} else if v, ok := rawjson.Get(r.Capabilities, "aggregate"); ok {
		f.aggregate, f.aggregateStated = rawjson.KindOf(v) == rawjson.KindObject, true
	} else if aggregated(fields) {
		f.aggregate, f.aggregateStated = true, true
	}
	return f
}

// searchModes are those that the row states, else those of its flags.
func (r *schemaRow) searchModes(fields []schemaField) (modes []string, stated bool) {
	for _, obj := range [][]byte{r.Raw, r.Capabilities} {
		if _, ok := rawjson.Get(obj, "search_modes"); ok {
			return namesOf(obj, "search_modes"), true
		}
	}
	if len(flagged(fields, "lex", "")) > 0 {
		modes = append(modes, "lexical")
	}
	if len(flagged(fields, "sem", "")) > 0 {
		modes = append(modes, "semantic")
	}
	return modes, len(modes) > 0
}

// fieldAggregations are those that need a field, in the order texts show them.
var fieldAggregations = []string{"sum", "min", "max", "count_distinct", "group_by", "group_by_time"}

func aggregated(fields []schemaField) bool {
	return slices.ContainsFunc(fieldAggregations, func(name string) bool { return len(flagged(fields, "a", name)) > 0 })
}
