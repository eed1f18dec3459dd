package schematext

import (
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

const (
	unstated = "unstated"
	none     = "none"
)

// offers returns the lines of a row that list its capabilities (MS-89), as
// query_capabilities states them. A capability that is missing there is "unstated".
func (r *row) offers(fields []field, l namesList) []string {
	all := namesList{}
	modes, stated := r.searchModes(fields)
	lines := []string{
		" projection: " + r.projection(all),
		" sort: " + r.sort(fields, l),
		" count: " + r.counts(),
		" expand: " + r.expand(all),
		" search: " + statedList(modes, stated),
		" aggregation: " + r.aggregation(fields, l),
		" changes_since: " + r.changes(),
	}
	if s := r.timeConstraint(); s != "" {
		lines = append(lines, " granted time: "+s)
	}
	return lines
}

// keptOffers returns the lines that every row keeps, with the first names of each list.
func (r *row) keptOffers(fields []field) []string {
	some := namesList{limit: crowdedNames, flagged: true}
	return []string{" sort: " + r.sort(fields, some), " expand: " + r.expand(some), " aggregation: " + r.aggregation(fields, some)}
}

// namesList writes lists of names.
type namesList struct {
	limit   int  // names of each list; 0 means all
	flagged bool // names that the flags of fields imply are not repeated
}

func (l namesList) join(parts []string, sep string) string {
	if limit := l.limit; limit > 0 && len(parts) > limit {
		return strings.Join(parts[:limit], sep) + sep + "more=" + strconv.Itoa(len(parts)-limit)
	}
	return strings.Join(parts, sep)
}

func (l namesList) names(names []string) string {
	quoted := make([]string, len(names))
	for i, name := range names {
		quoted[i] = quote.ID(name)
	}
	return l.join(quoted, ",")
}

func statedList(names []string, stated bool) string {
	switch {
	case !stated:
		return unstated
	case len(names) == 0:
		return none
	}
	return quote.Names(names, ",")
}

func (r *row) projection(l namesList) string {
	projection, ok := rawjson.Get(r.Capabilities, "projection")
	text := "fields=" + unstated
	if ok {
		text = "fields=" + none
		if isTrue(projection, "fields") {
			text = "fields=any listed"
		}
	} else if len(r.Views) == 0 {
		return unstated
	}
	var views []string
	for _, v := range r.Views {
		views = append(views, quote.ID(v.ID)+"("+l.names(v.Fields)+")")
	}
	if views == nil {
		return text
	}
	return text + "; views=" + l.join(views, ",")
}

// sort returns the sort line. It falls back to the cursor field.
func (r *row) sort(fields []field, l namesList) string {
	sort, ok := rawjson.Get(r.Capabilities, "sort")
	names := namesOf(sort, "fields")
	if !ok {
		if r.CursorField == "" {
			return unstated
		}
		names = []string{r.CursorField}
	}
	if len(names) == 0 {
		return none
	}
	var parts []string
	for _, f := range names {
		parts = append(parts, quote.ID(f)+" or "+quote.ID("-"+f))
	}
	text := l.join(parts, ", ")
	if l.flagged && slices.ContainsFunc(fields, func(f field) bool { return f.sorted }) {
		text = `"<field>" or "-<field>" of the fields with sort in their brackets`
	}
	if s := rawjson.GetString(sort, "default"); s != "" {
		text += ", default " + quote.ID(s)
	}
	if order := namesOf(sort, "order"); len(order) > 0 {
		text += "; order " + quote.Names(order, "|")
	}
	return text
}

// markSorted marks the sortable fields if there are too many of them for a short list. A
// terse text then shows "sort" among their flags.
func (r *row) markSorted(fields []field) {
	sort, _ := rawjson.Get(r.Capabilities, "sort")
	names := map[string]bool{}
	for _, name := range namesOf(sort, "fields") {
		names[name] = true
	}
	known := 0
	for _, f := range fields {
		if names[f.name] {
			known++
		}
	}
	if known <= crowdedNames || known != len(names) {
		return
	}
	for i := range fields {
		fields[i].sorted = names[fields[i].name]
	}
}

func (r *row) counts() string {
	if _, ok := rawjson.Get(r.Capabilities, "count"); !ok {
		return unstated
	}
	return quote.Names(namesOf(r.Capabilities, "count"), "|")
}

func (r *row) expand(l namesList) string {
	if _, ok := rawjson.Get(r.Raw, "expand_capabilities"); !ok {
		return unstated
	}
	var parts []string
	for _, rel := range r.Relations {
		if !rel.Usable {
			continue
		}
		part := quote.ID(rel.Name)
		if rel.Cardinality != "" {
			part += " " + quote.Name(rel.Cardinality)
		}
		if rel.Max >= 0 {
			part += " max=" + strconv.Itoa(rel.Max)
		}
		parts = append(parts, part)
	}
	if parts == nil {
		return none
	}
	return l.join(parts, "; ")
}

// aggregation lists the fields of each metric and grouping: from query_capabilities, else
// from the flags.
func (r *row) aggregation(fields []field, l namesList) string {
	agg, stated := rawjson.Get(r.Capabilities, "aggregate")
	if stated && rawjson.KindOf(agg) != rawjson.KindObject {
		return none
	}
	var parts []string
	for _, metric := range namesOf(agg, "metrics") {
		if metric == "count" {
			parts = append(parts, metric)
		}
	}
	var byFlags []string
	for _, name := range fieldAggregations {
		names, implied := namesOf(agg, name), flagged(fields, "a", name)
		if names == nil {
			names = implied
		}
		switch {
		case len(names) == 0:
		case l.flagged && slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(implied))):
			byFlags = append(byFlags, name)
		default:
			parts = append(parts, name+"="+l.names(names))
		}
	}
	if byFlags != nil {
		parts = append(parts, strings.Join(byFlags, "|")+" of fields that list it in a=")
	}
	switch {
	case len(parts) == 0 && stated:
		return none
	case len(parts) == 0:
		return unstated
	}
	if v, ok := rawjson.Get(agg, "max_limit"); ok {
		parts = append(parts, "limit max="+quote.Scalar(v, enumChars))
	}
	return strings.Join(parts, "; ")
}

func (r *row) changes() string {
	switch v, _ := rawjson.Get(r.Capabilities, "changes_since"); string(v) {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return unstated
}

// timeConstraint returns the granted time range of the stream.
func (r *row) timeConstraint() string {
	tc, _ := rawjson.Get(r.Raw, "time_constraint")
	var parts []string
	for _, name := range []string{"field", "since", "until"} {
		if s := rawjson.GetString(tc, name); s != "" {
			parts = append(parts, name+"="+quote.Text(quote.First(s, limits.LabelChars)))
		}
	}
	return strings.Join(parts, " ")
}
