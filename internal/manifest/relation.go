package manifest

import (
	"strings"

	"pdpp"
)

// pendingRelation is a relation whose related stream may not have been read yet.
type pendingRelation struct {
	at     *path
	stream string
	key    string
}

// relationships reads the declared relations. query.expand makes some of them expandable.
func (sp *streamParser) relationships() {
	seen := map[string]bool{}
	for _, item := range sp.optionalList(sp.decl.get("relationships")) {
		o, ok := sp.object(item)
		if !ok {
			continue
		}
		rel := pdpp.Relation{
			Name:       sp.uniqueName(o.get("name"), "relationship", seen),
			Stream:     sp.requiredText(o.get("stream")),
			ForeignKey: sp.requiredText(o.get("foreign_key")),
			HasMany:    sp.oneOf(o.get("cardinality"), "has_many", "has_one") == "has_many",
		}
		if strings.Contains(rel.Name, ".") { // in a request a dot means a relation of a relation (REC-25)
			sp.add(o.get("name").at, "%s is not a relationship name: it contains a dot", quote(rel.Name))
		}
		sp.rels[rel.Name] = len(sp.out.Relations)
		sp.out.Relations = append(sp.out.Relations, rel)
		sp.relations = append(sp.relations, pendingRelation{at: item.at, stream: rel.Stream, key: rel.ForeignKey})
	}
}

// checkRelations checks the related stream and foreign key of every relation (M-8).
func (p *parser) checkRelations(m *pdpp.Manifest) {
	for _, rel := range p.relations {
		if rel.stream == "" {
			continue
		}
		child := m.Stream(rel.stream)
		if child == nil {
			p.add(rel.at.key("stream"), "there is no stream %s in this manifest", quote(rel.stream))
			continue
		}
		if rel.key == "" || len(child.Fields) == 0 {
			continue
		}
		f := child.Field(rel.key)
		switch {
		case f == nil:
			p.add(rel.at.key("foreign_key"), "field %s is not declared in schema.properties of the related stream %s",
				quote(rel.key), quote(rel.stream))
		case f.Kind == pdpp.KindNone:
			p.add(rel.at.key("foreign_key"), "field %s of the related stream %s must be of exactly one scalar type",
				quote(rel.key), quote(rel.stream))
		}
	}
}

// expand reads query.expand (M-8).
func (sp *streamParser) expand(v value) {
	for _, item := range sp.optionalList(v) {
		o, ok := sp.object(item)
		if !ok {
			continue
		}
		at := o.get("name")
		rel := sp.requiredText(at)
		if rel == "" {
			continue
		}
		i, ok := sp.rels[rel]
		if !ok {
			sp.add(at.at, "there is no relationship %s in this stream", quote(rel))
			continue
		}
		if sp.out.Relations[i].Expandable {
			sp.add(at.at, "relationship %s is listed twice", quote(rel))
			continue
		}
		sp.out.Relations[i].Expandable = true
		sp.limits(o, &sp.out.Relations[i])
	}
}

// limits reads the limits of an expandable relation. A declared maximum below
// the default of default_limit lowers it.
func (sp *streamParser) limits(o object, rel *pdpp.Relation) {
	def, limit := o.get("default_limit"), o.get("max_limit")
	if !rel.HasMany {
		for _, v := range []value{def, limit} {
			if !v.absent() {
				sp.add(v.at, "a has_one relationship cannot have limits")
			}
		}
		return
	}
	ok := true
	rel.MaxLimit = pdpp.DefaultMaxExpand
	if !limit.absent() {
		rel.MaxLimit, ok = sp.positive(limit)
	}
	if rel.MaxLimit > pdpp.MaxExpand {
		sp.add(limit.at, "is %d; at most %d is allowed", rel.MaxLimit, pdpp.MaxExpand)
		ok = false
	}
	rel.DefaultLimit = min(pdpp.DefaultExpand, rel.MaxLimit)
	if def.absent() {
		return
	}
	n, valid := sp.positive(def)
	if valid && ok && n > rel.MaxLimit {
		sp.add(def.at, "is %d, more than max_limit, which is %d", n, rel.MaxLimit)
	}
	rel.DefaultLimit = n
}
