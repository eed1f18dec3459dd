package schemadoc

import (
	"time"

	"pdpp"
	"pdpp/internal/grant"
)

// fullRow appends the members of an exhaustive row, braces excluded.
func (b *buffer) fullRow(r *grant.Reach, row grant.Row, req Request) {
	s, o := row.Stream, newOffer(r, row)
	b.str("object", "stream_metadata")
	b.str("name", s.Name)
	b.str("connector_key", string(row.Manifest.ConnectorKey))
	b.optional("label", s.Label)
	b.optional("description", s.Description)
	b.optional("semantics", s.Semantics)
	b.schema(s, o)
	b.keyFields(s, o)
	b.open("selection", "{")
	b.bool("fields", s.SelectFields)
	b.bool("resources", s.SelectResources)
	b.raw("}")
	b.views(o.views, viewLabelled)
	b.relationships(s, o)
	b.query(o)
	b.queryCapabilities(o)
	b.fieldCapabilities(o)
	b.expandCapabilities(o.relations, expandFull)
	b.timeConstraint(row.Access)
	listIfAny(b, "resources", row.Access.Resources)
	b.connections(row.Connections)
	b.narrowed(row, req)
}

// scopedRow appends the members of a compact row with flags.
func (b *buffer) scopedRow(r *grant.Reach, row grant.Row, req Request, shared connSet) {
	s, o := row.Stream, newOffer(r, row)
	b.str("name", s.Name)
	b.str("connector_key", string(row.Manifest.ConnectorKey))
	b.optional("label", s.Label)
	b.keyFields(s, o)
	b.fieldFlags(o)
	b.queryCapabilities(o)
	b.views(o.views, viewPlain)
	b.expandCapabilities(o.relations, expandCompact)
	b.timeConstraint(row.Access)
	b.deviating(row.Connections, shared)
	b.narrowed(row, req)
}

// indexRow appends the members of a row that only says what there is.
func (b *buffer) indexRow(r *grant.Reach, row grant.Row, req Request, shared connSet) {
	o := newOffer(r, row)
	b.str("name", row.Stream.Name)
	b.optional("label", row.Stream.Label)
	b.int("field_count", len(row.Access.Fields))
	list(b, "search_modes", o.searchModes())
	b.bool("aggregate", len(o.metrics) > 0)
	b.deviating(row.Connections, shared)
}

// nameRow is an index row when the index is over its budget.
func (b *buffer) nameRow(row grant.Row, shared connSet) {
	b.str("name", row.Stream.Name)
	b.deviating(row.Connections, shared)
}

// keyFields appends the members that name key fields; ungranted ones are absent
// (S-6).
func (b *buffer) keyFields(s *pdpp.Stream, o *offer) {
	list(b, "primary_key", o.granted(s.PrimaryKey))
	b.optional("cursor_field", o.access.CursorField())
	b.optional("consent_time_field", o.grantedName(s.ConsentTimeField))
}

// viewForm says whether a view entry carries its label.
type viewForm bool

const (
	viewLabelled viewForm = true
	viewPlain    viewForm = false
)

func (b *buffer) views(views []pdpp.View, form viewForm) {
	b.open("views", "[")
	for _, v := range views {
		b.next()
		b.raw("{")
		b.str("id", v.ID)
		if form == viewLabelled {
			b.optional("label", v.Label)
		}
		list(b, "fields", v.Fields)
		b.raw("}")
	}
	b.raw("]")
}

// relationships lists an owner's as declared, and a client's usable ones: any
// other would name a stream or a field outside the grant, or promise an
// expansion that is refused (S-6, X-4).
func (b *buffer) relationships(s *pdpp.Stream, o *offer) {
	rels := s.Relations
	if !o.access.All {
		rels = nil
		for _, rel := range o.relations {
			rels = append(rels, rel.Relation)
		}
	}
	b.open("relationships", "[")
	for _, rel := range rels {
		b.next()
		b.raw("{")
		b.str("name", rel.Name)
		b.str("stream", rel.Stream)
		b.str("foreign_key", rel.ForeignKey)
		b.str("cardinality", rel.Cardinality())
		b.raw("}")
	}
	b.raw("]")
}

// query appends the manifest's query block cut to the grant; what becomes empty
// is absent (S-6).
func (b *buffer) query(o *offer) {
	b.open("query", "{")
	if len(o.ranges) > 0 {
		b.open("range_filters", "{")
		for _, rf := range o.ranges {
			list(b, rf.Field, rf.Ops)
		}
		b.raw("}")
	}
	if len(o.relations) > 0 {
		b.open("expand", "[")
		for _, rel := range o.relations {
			b.next()
			b.raw("{")
			b.str("name", rel.Name)
			b.expandLimits(rel.Relation)
			b.raw("}")
		}
		b.raw("]")
	}
	if len(o.lexical) > 0 {
		b.open("search", "{")
		list(b, "lexical_fields", o.lexical)
		b.raw("}")
	}
	if len(o.metrics) > 0 {
		b.aggregations(o.agg)
	}
	b.raw("}")
}

// aggregations uses the manifest's order of keys (M-1).
func (b *buffer) aggregations(agg pdpp.Aggregations) {
	b.open("aggregations", "{")
	if agg.Count {
		b.bool("count", true)
	}
	listIfAny(b, aggSum, agg.Sum)
	listIfAny(b, aggMin, agg.Min)
	listIfAny(b, aggMax, agg.Max)
	listIfAny(b, aggGroupBy, agg.GroupBy)
	listIfAny(b, aggGroupByTime, agg.GroupByTime)
	listIfAny(b, aggCountDistinct, agg.CountDistinct)
	b.raw("}")
}

// timeConstraint appends the grant's time bounds. The field they apply to need
// not be granted (REC-28); its name is then absent, like any other (S-6).
func (b *buffer) timeConstraint(a *grant.Access) {
	if a.Time == nil {
		return
	}
	b.open("time_constraint", "{")
	if a.Granted(a.Time.Field) {
		b.str("field", a.Time.Field)
	}
	b.optional("since", bound(a.Time.Since))
	b.optional("until", bound(a.Time.Until))
	b.raw("}")
}

// bound writes a time as a grant does: whole seconds have no fraction.
func bound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
