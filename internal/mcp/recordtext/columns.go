package recordtext

import (
	"slices"

	"pdpp"
	"pdpp/internal/evidence"
)

// Columns are the fields of a record as texts name and order them. Consecutive records
// mostly have the same fields, so the columns are kept between them.
type Columns struct {
	Names []Naming // names of the fields of the record, in its order
	Order []int    // indices of the fields in the order of texts (MS-66)
	Body  int      // index of the field that is the record's text; -1 if there is none

	declared *evidence.Presentation
	layout   int // the layout of the record
}

// shownRoles are the roles whose fields come first, in this order (MS-66).
var shownRoles = []pdpp.Role{pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleSecondary, pdpp.RolePrimaryText, pdpp.RoleMedia}

// Update updates the columns for a record with these fields.
func (c *Columns) Update(r *evidence.Record, fields []evidence.Field) {
	if c.declared == r.Presentation && c.layout == r.Layout() {
		return
	}
	c.declared, c.layout = r.Presentation, r.Layout()
	c.Names, c.Order = slices.Grow(c.Names[:0], len(fields)), slices.Grow(c.Order[:0], len(fields))
	for i := range fields {
		c.Names = append(c.Names, Named(fields[i].Name))
	}
	var first []string
	for _, role := range shownRoles {
		first = append(first, c.declared.Roles[role]...)
	}
	for _, name := range first {
		for i := range fields {
			if fields[i].Name == name {
				c.Order = append(c.Order, i)
			}
		}
	}
	for i := range fields {
		if !slices.Contains(first, fields[i].Name) {
			c.Order = append(c.Order, i)
		}
	}
	c.Body = -1
	for _, name := range append(slices.Clone(c.declared.Roles[pdpp.RolePrimaryText]), "text") {
		if c.Body < 0 {
			c.Body = slices.IndexFunc(fields, func(f evidence.Field) bool { return f.Name == name })
		}
	}
}
