package schemadoc

import (
	"slices"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/timebucket"
)

// fieldCapabilities appends one entry per granted field.
func (b *buffer) fieldCapabilities(o *offer) {
	b.OpenObject("field_capabilities")
	for _, f := range o.access.Fields {
		b.fieldCapability(f, o)
	}
	b.End("}")
}

func (b *buffer) fieldCapability(f *pdpp.Field, o *offer) {
	c := o.field(f)
	b.OpenObject(f.Name)
	b.Optional("type", c.Type)
	b.Optional("role", string(c.Role))
	b.Member("schema", fieldSchema(f, o.access))
	b.Flag("granted", true)
	b.capability("exact_filter", c.Exact)
	b.OpenObject("range_filter")
	b.declared(len(c.Range) > 0)
	listIfAny(b, "operators", c.Range)
	b.End("}")
	b.capability("lexical_search", c.Lexical)
	b.capability("semantic_search", c.Semantic)
	b.OpenObject("aggregation")
	for _, name := range []string{aggCountDistinct, aggGroupBy, aggGroupByTime, aggMax, aggMin, aggSum} {
		b.capability(name, slices.Contains(c.Aggregations, name))
	}
	b.End("}}")
}

func (b *buffer) capability(name string, on bool) {
	b.OpenObject(name)
	b.declared(on)
	b.End("}")
}

// declared appends both flags with the same value: only granted fields are listed, and
// what they declare is usable.
func (b *buffer) declared(on bool) {
	b.Flag("declared", on)
	b.Flag("usable", on)
}

// fieldFlags appends the compact form of field_capabilities.
func (b *buffer) fieldFlags(o *offer) {
	b.OpenObject("field_capabilities")
	for _, f := range o.access.Fields {
		b.Text(f.Name, Flags(o.field(f)))
	}
	b.End("}")
}

// queryCapabilities appends the parameters that a list or aggregate accepts.
func (b *buffer) queryCapabilities(o *offer) {
	b.OpenObject("query_capabilities")
	b.sortCapability(o.access.CursorField())
	b.Literal(`"count":["none","estimated","exact"]`)
	b.Literal(`"pagination":{"cursor":true`)
	b.Number("default_limit", pdpp.DefaultPage)
	b.Number("max_limit", pdpp.MaxPage)
	b.End("}")
	b.Flag("changes_since", true)
	b.Literal(`"projection":{"fields":true`)
	b.OpenArray("views")
	for _, v := range o.views {
		b.String(v.ID)
	}
	b.End("]}")
	list(b, "search_modes", o.searchModes())
	b.OpenArray("expand")
	for _, rel := range o.relations {
		b.String(rel.Name)
	}
	b.End("]")
	b.aggregateCapability(o)
	b.End("}")
}

func (b *buffer) sortCapability(cursorField string) {
	if cursorField == "" {
		b.Literal(`"sort":{"fields":[],"default":null,"order":["asc","desc"]}`)
		return
	}
	b.OpenObject("sort")
	list(b, "fields", []string{cursorField})
	b.Text("default", "-"+cursorField)
	b.Literal(`"order":["asc","desc"]}`)
}

func (b *buffer) aggregateCapability(o *offer) {
	if len(o.metrics) == 0 {
		b.Literal(`"aggregate":null`)
		return
	}
	b.OpenObject("aggregate")
	list(b, "metrics", o.metrics)
	list(b, "group_by", o.agg.GroupBy)
	list(b, "group_by_time", o.agg.GroupByTime)
	list(b, "granularities", timebucket.Granularities)
	b.Number("max_limit", pdpp.MaxGroups)
	b.End("}")
}

// expandForm selects the names of a relation entry.
type expandForm bool

const (
	expandFull    expandForm = true  // both names of the foreign key
	expandCompact expandForm = false // without child_parent_key_field
)

// expandCapabilities appends the usable relations.
func (b *buffer) expandCapabilities(rels []grant.Relation, form expandForm) {
	b.OpenArray("expand_capabilities")
	for _, rel := range rels {
		b.Object()
		b.Text("name", rel.Name)
		b.Text("stream", rel.Stream)
		b.Text("target_stream", rel.Stream)
		b.Text("cardinality", rel.Cardinality())
		b.Text("foreign_key", rel.ForeignKey)
		if form == expandFull {
			b.Text("child_parent_key_field", rel.ForeignKey)
		}
		b.expandLimits(rel.Relation)
		b.Literal(`"granted":true,"usable":true}`)
	}
	b.End("]")
}

// expandLimits appends the limits of a has_many relation; has_one has none (M-8).
func (b *buffer) expandLimits(rel pdpp.Relation) {
	if rel.HasMany {
		b.Number("default_limit", rel.DefaultLimit)
		b.Number("max_limit", rel.MaxLimit)
	}
}
