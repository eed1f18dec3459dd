package schematext

import (
	"slices"

	"pdpp/internal/rawjson"
)

// facts are what an index states about a row, taken from the row or, in a fuller
// document, derived from its capabilities (MS-89).
type facts struct {
	fields          int // -1 if unknown
	search          []string
	searchStated    bool
	aggregate       bool
	aggregateStated bool
}

func (r *row) facts() facts {
	f := facts{fields: r.FieldCount}
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

// searchModes returns the modes that the row states, else those that its flags imply.
func (r *row) searchModes(fields []field) (modes []string, stated bool) {
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

// fieldAggregations are the aggregations that need a field, in the order of texts.
var fieldAggregations = []string{"sum", "min", "max", "count_distinct", "group_by", "group_by_time"}

func aggregated(fields []field) bool {
	return slices.ContainsFunc(fieldAggregations, func(name string) bool { return len(flagged(fields, "a", name)) > 0 })
}
