package manifest

import "pdpp"

// query reads the declared capabilities of a stream.
func (sp *streamParser) query() {
	o, ok := sp.optionalObject(sp.decl.get("query"))
	if !ok {
		return
	}
	sp.rangeFilters(o.get("range_filters"))
	sp.expand(o.get("expand"))
	if search, ok := sp.optionalObject(o.get("search")); ok {
		sp.out.LexicalFields = texts(sp.fieldList(search.get("lexical_fields"), searchField))
		sp.out.SemanticFields = texts(sp.fieldList(search.get("semantic_fields"), searchField))
	}
	if aggs, ok := sp.optionalObject(o.get("aggregations")); ok {
		sp.aggregations(aggs)
	}
}

func (sp *streamParser) rangeFilters(v value) {
	o, ok := sp.optionalObject(v)
	if !ok {
		return
	}
	for _, field := range o.names {
		at := o.get(field)
		sp.checkField(at.at, field, orderedField)
		if at.absent() {
			sp.add(at.at, "must list at least one of %s", pdpp.RangeOpList)
			continue
		}
		filter := pdpp.RangeFilter{Field: field}
		for _, op := range sp.names(at) {
			if !pdpp.Op(op.text).IsRange() {
				sp.add(op.at, "%s is not one of %s", quote(op.text), pdpp.RangeOpList)
			}
			filter.Ops = append(filter.Ops, pdpp.Op(op.text))
		}
		sp.out.RangeFilters = append(sp.out.RangeFilters, filter)
	}
}

// aggregations reads the object of M-5, which may have the listed keys only.
func (sp *streamParser) aggregations(o object) {
	a := &sp.out.Aggregations
	lists := map[string]struct {
		into *[]string
		want fieldRule
	}{
		"sum":            {&a.Sum, sumField},
		"min":            {&a.Min, orderedField},
		"max":            {&a.Max, orderedField},
		"group_by":       {&a.GroupBy, scalarField},
		"group_by_time":  {&a.GroupByTime, bucketField},
		"count_distinct": {&a.CountDistinct, scalarField},
	}
	for _, key := range o.names {
		v := o.get(key)
		list, known := lists[key]
		switch {
		case key == "count":
			if a.Count = string(v.raw) == "true"; !a.Count && !v.absent() {
				sp.add(v.at, "may only be true; leave it out otherwise")
			}
		case !known:
			sp.add(v.at, "is not an aggregation; known are count, sum, min, max, group_by, group_by_time, count_distinct")
		default:
			*list.into = texts(sp.fieldList(v, list.want))
		}
	}
}
