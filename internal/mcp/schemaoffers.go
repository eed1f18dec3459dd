package mcp

import (
	"slices"
	"strconv"
	"strings"

	"pdpp/internal/rawjson"
)

const (
	unstated = "unstated"
	none     = "none"
)

// offers are the lines of a row that say what can be asked of it (MS-89). They come
// from query_capabilities; what the document does not state is said to be unstated.
func (r *schemaRow) offers(fields []schemaField, l namesList) []string {
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

// keptOffers are the lines that every row keeps, with the first names of each list.
func (r *schemaRow) keptOffers(fields []schemaField) []string {
	some := namesList{most: crowdedNames, flagged: true}
	return []string{" sort: " + r.sort(fields, some), " expand: " + r.expand(some), " aggregation: " + r.aggregation(fields, some)}
}

// namesList writes lists of names.
type namesList struct {
	most    int  // names of each list; 0: all
	flagged bool // what the flags of fields say is not repeated
}

func (l namesList) join(parts []string, sep string) string {
	if most := l.most; most > 0 && len(parts) > most {
		return strings.Join(parts[:most], sep) + sep + "more=" + strconv.Itoa(len(parts)-most)
	}
	return strings.Join(parts, sep)
}

func (l namesList) names(names []string) string {
	return l.join(each(names, quoteID), ",")
}

func statedList(names []string, stated bool) string {
	switch {
	case !stated:
		return unstated
	case len(names) == 0:
		return none
	}
	return joinNames(names, ",")
}

func (r *schemaRow) projection(l namesList) string {
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
		views = append(views, quoteID(v.ID)+"("+l.names(v.Fields)+")")
	}
	if views == nil {
		return text
	}
	return text + "; views=" + l.join(views, ",")
}

// sort falls back to the cursor field.
func (r *schemaRow) sort(fields []schemaField, l namesList) string {
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
		parts = append(parts, quoteID(f)+" or "+quoteID("-"+f))
	}
	text := l.join(parts, ", ")
	if l.flagged && slices.ContainsFunc(fields, func(f schemaField) bool { return f.sorted }) {
		text = `"<field>" or "-<field>" of the fields with sort in their brackets`
	}
	if s := textMember(sort, "default"); s != "" {
		text += ", default " + quoteID(s)
	}
	if order := namesOf(sort, "order"); len(order) > 0 {
		text += "; order " + joinNames(order, "|")
	}
	return text
}

// markSorted marks the fields to sort by when they are more than a short list has:
// then their brackets can say it.
func (r *schemaRow) markSorted(fields []schemaField) {
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

func (r *schemaRow) counts() string {
	if _, ok := rawjson.Get(r.Capabilities, "count"); !ok {
		return unstated
	}
	return joinNames(namesOf(r.Capabilities, "count"), "|")
}

func (r *schemaRow) expand(l namesList) string {
	if _, ok := rawjson.Get(r.Raw, "expand_capabilities"); !ok {
		return unstated
	}
	var parts []string
	for _, rel := range r.Relations {
		if !rel.Usable {
			continue
		}
		part := quoteID(rel.Name)
		if rel.Cardinality != "" {
			part += " " + bareName(rel.Cardinality)
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

// aggregation lists the fields of each metric and grouping. Which fields a metric may
// have is in the flags; the rest is in query_capabilities.
func (r *schemaRow) aggregation(fields []schemaField, l namesList) string {
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
		names, said := namesOf(agg, name), flagged(fields, "a", name)
		if names == nil {
			names = said
		}
		switch {
		case len(names) == 0:
		case l.flagged && slices.Equal(slices.Sorted(slices.Values(names)), slices.Sorted(slices.Values(said))):
			byFlags = append(byFlags, name)
		default:
			parts = append(parts, name+"="+l.names(names))
		}
	}
	if byFlags != nil {
		parts = append(parts, strings.Join(byFlags, "|")+" of the fields with that a=")
	}
	switch {
	case len(parts) == 0 && stated:
		return none
	case len(parts) == 0:
		return unstated
	}
	if v, ok := rawjson.Get(agg, "max_limit"); ok {
		parts = append(parts, "limit max="+scalar(v, keyChars))
	}
	return strings.Join(parts, "; ")
}

func (r *schemaRow) changes() string {
	switch v, _ := rawjson.Get(r.Capabilities, "changes_since"); string(v) {
	case "true":
		return "yes"
	case "false":
		return "no"
	}
	return unstated
}

// timeConstraint is the part of the stream's time that is granted.
func (r *schemaRow) timeConstraint() string {
	tc, _ := rawjson.Get(r.Raw, "time_constraint")
	var parts []string
	for _, name := range []string{"field", "since", "until"} {
		if s := textMember(tc, name); s != "" {
			parts = append(parts, name+"="+quote(firstChars(s, LabelChars)))
		}
	}
	return strings.Join(parts, " ")
}
