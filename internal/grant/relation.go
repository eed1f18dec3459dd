package grant

import "pdpp"

// Relation is a relation that the caller may expand, with the row of the related stream
// (REC-23).
type Relation struct {
	pdpp.Relation
	Child Row
}

// Relations returns the usable relations of a row, in declared order: those that are
// declared for expansion and whose related stream and foreign key are granted.
func (r *Reach) Relations(row Row) []Relation {
	var out []Relation
	for _, rel := range row.Stream.Relations {
		if child, ok := r.child(row, rel); ok && rel.Expandable {
			out = append(out, Relation{Relation: rel, Child: child})
		}
	}
	return out
}

// Relation returns the relation that a request names (REC-25).
func (r *Reach) Relation(row Row, name string) (Relation, error) {
	rel, ok := row.Stream.Relation(name)
	if !ok || !rel.Expandable {
		return Relation{}, &pdpp.Error{
			Code: pdpp.CodeInvalidExpand, Param: "expand", Stream: row.Stream.Name,
			Message: "Stream " + quote(row.Stream.Name) + " has no relation " + quote(name) +
				" to expand. GET /v1/schema lists them under expand_capabilities.",
		}
	}
	child, ok := r.child(row, rel)
	if !ok {
		return Relation{}, &pdpp.Error{
			Code: pdpp.CodeInsufficientScope, Param: "expand", Stream: rel.Stream, NeedsBroaderGrant: true,
			Message:  "Relation " + quote(name) + " leads to stream " + quote(rel.Stream) + ", which this grant does not cover.",
			NextStep: "Ask the owner to approve stream " + quote(rel.Stream) + " with all its fields.",
		}
	}
	return Relation{Relation: rel, Child: child}, nil
}

func (r *Reach) child(row Row, rel pdpp.Relation) (Row, bool) {
	for _, c := range r.Rows {
		if c.Manifest == row.Manifest && c.Stream.Name == rel.Stream && c.Access.Granted(rel.ForeignKey) {
			return c, true
		}
	}
	return Row{}, false
}
