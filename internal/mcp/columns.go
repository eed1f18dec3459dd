package mcp

import (
	"slices"

	"pdpp"
	"pdpp/internal/evidence"
)

// columns are the fields of a record as texts name and order them. Records that follow
// each other mostly have the same ones: they are found again by their places.
type columns struct {
	names    []column
	order    []int // of the fields, as they are shown (MS-66)
	declared *evidence.Presentation
}

// column is a field and how texts name it.
type column struct {
	of string
	naming
}

// shownRoles are the roles whose fields come first, in this order (MS-66).
var shownRoles = []pdpp.Role{pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleSecondary, pdpp.RolePrimaryText, pdpp.RoleMedia}

// follow makes the columns those of a record.
func (c *columns) follow(r *row) {
	if c.declared == r.evidence.Presentation && len(c.names) == len(r.all) && c.match(r.all) {
		return
	}
	c.declared = r.evidence.Presentation
	c.names, c.order = slices.Grow(c.names[:0], len(r.all)), slices.Grow(c.order[:0], len(r.all))
	for i := range r.all {
		c.names = append(c.names, column{r.all[i].Name, named(r.all[i].Name)})
	}
	var first []string
	for _, role := range shownRoles {
		first = append(first, c.declared.Roles[role]...)
	}
	for _, name := range first {
		for i := range c.names {
			if c.names[i].of == name {
				c.order = append(c.order, i)
			}
		}
	}
	for i := range c.names {
		if !slices.Contains(first, c.names[i].of) {
			c.order = append(c.order, i)
		}
	}
}

// match reports that the columns are those of some fields.
func (c *columns) match(fields []evidence.Field) bool {
	for i := range fields {
		if c.names[i].of != fields[i].Name {
			return false
		}
	}
	return true
}
