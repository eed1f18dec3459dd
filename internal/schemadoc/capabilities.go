package schemadoc

import (
	"slices"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/timebucket"
)

// fieldCapabilities appends one entry per granted field.
func (b *buffer) fieldCapabilities(o *offer) {
	b.open("field_capabilities", "{")
	for _, f := range o.access.Fields {
		b.fieldCapability(f, o)
	}
	b.raw("}")
}

func (b *buffer) fieldCapability(f *pdpp.Field, o *offer) {
	c := o.field(f)
	b.open(f.Name, "{")
	b.optional("type", c.Type)
	b.optional("role", string(c.Role))
	b.json("schema", fieldSchema(f, o.access))
	b.bool("granted", true)
	b.capability("exact_filter", c.Exact)
	b.open("range_filter", "{")
	b.declared(len(c.Range) > 0)
	listIfAny(b, "operators", c.Range)
	b.raw("}")
	b.capability("lexical_search", c.Lexical)
	b.capability("semantic_search", c.Semantic)
	b.open("aggregation", "{")
	for _, name := range []string{aggCountDistinct, aggGroupBy, aggGroupByTime, aggMax, aggMin, aggSum} {
		b.capability(name, slices.Contains(c.Aggregations, name))
	}
	b.raw("}}")
}

func (b *buffer) capability(name string, on bool) {
	b.open(name, "{")
	b.declared(on)
	b.raw("}")
}

// declared appends both flags with the same value: only granted fields are listed, and
// what they declare is usable.
func (b *buffer) declared(on bool) {
	b.bool("declared", on)
	b.bool("usable", on)
}

// fieldFlags appends the compact form of field_capabilities.
func (b *buffer) fieldFlags(o *offer) {
	b.open("field_capabilities", "{")
	for _, f := range o.access.Fields {
		b.str(f.Name, Flags(o.field(f)))
	}
	b.raw("}")
}

// queryCapabilities appends the parameters that a list or aggregate accepts.
func (b *buffer) queryCapabilities(o *offer) {
	b.open("query_capabilities", "{")
	b.sortCapability(o.access.CursorField())
	b.raw(`,"count":["none","estimated","exact"]`)
	b.raw(`,"pagination":{"cursor":true`)
	b.int("default_limit", pdpp.DefaultPage)
	b.int("max_limit", pdpp.MaxPage)
	b.raw("}")
	b.bool("changes_since", true)
	b.raw(`,"projection":{"fields":true`)
	b.open("views", "[")
	for _, v := range o.views {
		b.element(v.ID)
	}
	b.raw("]}")
	list(b, "search_modes", o.searchModes())
	b.open("expand", "[")
	for _, rel := range o.relations {
		b.element(rel.Name)
	}
	b.raw("]")
	b.aggregateCapability(o)
	b.raw("}")
}

func (b *buffer) sortCapability(cursorField string) {
	if cursorField == "" {
		b.raw(`"sort":{"fields":[],"default":null,"order":["asc","desc"]}`)
		return
	}
	b.open("sort", "{")
	list(b, "fields", []string{cursorField})
	b.str("default", "-"+cursorField)
	b.raw(`,"order":["asc","desc"]}`)
}

func (b *buffer) aggregateCapability(o *offer) {
	if len(o.metrics) == 0 {
		b.raw(`,"aggregate":null`)
		return
	}
	b.open("aggregate", "{")
	list(b, "metrics", o.metrics)
	list(b, "group_by", o.agg.GroupBy)
	list(b, "group_by_time", o.agg.GroupByTime)
	list(b, "granularities", timebucket.Granularities)
	b.int("max_limit", pdpp.MaxGroups)
	b.raw("}")
}

// expandForm selects the names of a relation entry.
type expandForm bool

const (
	expandFull    expandForm = true  // both names of the foreign key
	expandCompact expandForm = false // without child_parent_key_field
)

// expandCapabilities appends the usable relations.
func (b *buffer) expandCapabilities(rels []grant.Relation, form expandForm) {
	b.open("expand_capabilities", "[")
	for _, rel := range rels {
		b.next()
		b.raw("{")
		b.str("name", rel.Name)
		b.str("stream", rel.Stream)
		b.str("target_stream", rel.Stream)
		b.str("cardinality", rel.Cardinality())
		b.str("foreign_key", rel.ForeignKey)
		if form == expandFull {
			b.str("child_parent_key_field", rel.ForeignKey)
		}
		b.expandLimits(rel.Relation)
		b.raw(`,"granted":true,"usable":true}`)
	}
	b.raw("]")
}

// expandLimits appends the limits of a has_many relation; has_one has none (M-8).
func (b *buffer) expandLimits(rel pdpp.Relation) {
	if rel.HasMany {
		b.int("default_limit", rel.DefaultLimit)
		b.int("max_limit", rel.MaxLimit)
	}
}
