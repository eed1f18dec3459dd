package mcp

import (
	"slices"

	"pdpp"
	"pdpp/internal/evidence"
)

// columns are the fields of a record as texts name and order them. Records that follow
// each other mostly have the same ones, and the columns are kept.
type columns struct {
	names    []naming
	order    []int // of the fields, as they are shown (MS-66)
	text     int   // the field that is the record's text; -1: none
	declared *evidence.Presentation
	layout   int // of the record
}

// shownRoles are the roles whose fields come first, in this order (MS-66).
var shownRoles = []pdpp.Role{pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleSecondary, pdpp.RolePrimaryText, pdpp.RoleMedia}

// follow makes the columns those of a record.
func (c *columns) follow(r *row) {
	if c.declared == r.evidence.Presentation && c.layout == r.evidence.Layout() {
		return
	}
	c.declared, c.layout = r.evidence.Presentation, r.evidence.Layout()
	c.names, c.order = slices.Grow(c.names[:0], len(r.all)), slices.Grow(c.order[:0], len(r.all))
	for i := range r.all {
		c.names = append(c.names, named(r.all[i].Name))
	}
	var first []string
	for _, role := range shownRoles {
		first = append(first, c.declared.Roles[role]...)
	}
	for _, name := range first {
		for i := range r.all {
			if r.all[i].Name == name {
				c.order = append(c.order, i)
			}
		}
	}
	for i := range r.all {
		if !slices.Contains(first, r.all[i].Name) {
			c.order = append(c.order, i)
		}
	}
	c.text = -1
	for _, name := range append(slices.Clone(c.declared.Roles[pdpp.RolePrimaryText]), "text") {
		if c.text < 0 {
			c.text = slices.IndexFunc(r.all, func(f evidence.Field) bool { return f.Name == name })
		}
	}
}
