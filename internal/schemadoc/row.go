package schemadoc

import (
	"time"

	"pdpp"
	"pdpp/internal/grant"
)

// fullRow appends the members of a full row without braces.
func (b *buffer) fullRow(r *grant.Reach, row grant.Row, req Request) {
	s, o := row.Stream, newOffer(r, row)
	b.Text("object", "stream_metadata")
	b.Text("name", s.Name)
	b.Text("connector_key", string(row.Manifest.ConnectorKey))
	b.Optional("label", s.Label)
	b.Optional("description", s.Description)
	b.Optional("semantics", s.Semantics)
	b.schema(s, o)
	b.keyFields(s, o)
	b.OpenObject("selection")
	b.Flag("fields", s.SelectFields)
	b.Flag("resources", s.SelectResources)
	b.End("}")
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
	b.Text("name", s.Name)
	b.Text("connector_key", string(row.Manifest.ConnectorKey))
	b.Optional("label", s.Label)
	b.keyFields(s, o)
	b.fieldFlags(o)
	b.queryCapabilities(o)
	b.views(o.views, viewPlain)
	b.expandCapabilities(o.relations, expandCompact)
	b.timeConstraint(row.Access)
	b.connectionsUnless(row.Connections, shared)
	b.narrowed(row, req)
}

// indexRow appends the members of an index row.
func (b *buffer) indexRow(r *grant.Reach, row grant.Row, req Request, shared connSet) {
	o := newOffer(r, row)
	b.Text("name", row.Stream.Name)
	b.Optional("label", row.Stream.Label)
	b.Number("field_count", len(row.Access.Fields))
	list(b, "search_modes", o.searchModes())
	b.Flag("aggregate", len(o.metrics) > 0)
	b.connectionsUnless(row.Connections, shared)
}

// nameRow appends the members of an index row when the index is above its budget.
func (b *buffer) nameRow(row grant.Row, shared connSet) {
	b.Text("name", row.Stream.Name)
	b.connectionsUnless(row.Connections, shared)
}

// keyFields appends the members that name key fields, without ungranted fields (S-6).
func (b *buffer) keyFields(s *pdpp.Stream, o *offer) {
	list(b, "primary_key", o.granted(s.PrimaryKey))
	b.Optional("cursor_field", o.access.CursorField())
	b.Optional("consent_time_field", o.grantedName(s.ConsentTimeField))
}

// viewForm selects whether a view entry contains its label.
type viewForm bool

const (
	viewLabelled viewForm = true
	viewPlain    viewForm = false
)

func (b *buffer) views(views []pdpp.View, form viewForm) {
	b.OpenArray("views")
	for _, v := range views {
		b.Object()
		b.Text("id", v.ID)
		if form == viewLabelled {
			b.Optional("label", v.Label)
		}
		list(b, "fields", v.Fields)
		b.End("}")
	}
	b.End("]")
}

// relationships appends the declared relations for an owner and the usable ones for a
// client. Others would name a stream or field outside the grant, or advertise an
// expansion that is rejected (S-6, X-4).
func (b *buffer) relationships(s *pdpp.Stream, o *offer) {
	rels := s.Relations
	if !o.access.All {
		rels = nil
		for _, rel := range o.relations {
			rels = append(rels, rel.Relation)
		}
	}
	b.OpenArray("relationships")
	for _, rel := range rels {
		b.Object()
		b.Text("name", rel.Name)
		b.Text("stream", rel.Stream)
		b.Text("foreign_key", rel.ForeignKey)
		b.Text("cardinality", rel.Cardinality())
		b.End("}")
	}
	b.End("]")
}

// query appends the query block of the manifest, restricted to the grant and without
// empty members (S-6).
func (b *buffer) query(o *offer) {
	b.OpenObject("query")
	if len(o.ranges) > 0 {
		b.OpenObject("range_filters")
		for _, rf := range o.ranges {
			list(b, rf.Field, rf.Ops)
		}
		b.End("}")
	}
	if len(o.relations) > 0 {
		b.OpenArray("expand")
		for _, rel := range o.relations {
			b.Object()
			b.Text("name", rel.Name)
			b.expandLimits(rel.Relation)
			b.End("}")
		}
		b.End("]")
	}
	if len(o.lexical) > 0 {
		b.OpenObject("search")
		list(b, "lexical_fields", o.lexical)
		b.End("}")
	}
	if len(o.metrics) > 0 {
		b.aggregations(o.agg)
	}
	b.End("}")
}

// aggregations appends the aggregations in the key order of the manifest (M-1).
func (b *buffer) aggregations(agg pdpp.Aggregations) {
	b.OpenObject("aggregations")
	if agg.Count {
		b.Flag("count", true)
	}
	listIfAny(b, aggSum, agg.Sum)
	listIfAny(b, aggMin, agg.Min)
	listIfAny(b, aggMax, agg.Max)
	listIfAny(b, aggGroupBy, agg.GroupBy)
	listIfAny(b, aggGroupByTime, agg.GroupByTime)
	listIfAny(b, aggCountDistinct, agg.CountDistinct)
	b.End("}")
}

// timeConstraint appends the time bounds of the grant. Their field need not be granted
// (REC-28); then its name is omitted (S-6).
func (b *buffer) timeConstraint(a *grant.Access) {
	if a.Time == nil {
		return
	}
	b.OpenObject("time_constraint")
	if a.Granted(a.Time.Field) {
		b.Text("field", a.Time.Field)
	}
	b.Optional("since", bound(a.Time.Since))
	b.Optional("until", bound(a.Time.Until))
	b.End("}")
}

// bound formats a time as in a grant: whole seconds have no fraction.
func bound(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339Nano)
}
