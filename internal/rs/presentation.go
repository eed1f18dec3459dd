package rs

import (
	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// roles are the declared roles a renderer may use, in the order they are told.
var roles = []pdpp.Role{
	pdpp.RolePrimaryTitle, pdpp.RolePrimaryText, pdpp.RoleSecondary, pdpp.RoleEventTime,
	pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleMedia,
}

// appendPresentation is meta.presentation (REC-5): what was declared about the
// fields of this answer, per connector and stream, children included.
func appendPresentation(p *plan) []byte {
	out := []byte{'{'}
	seen := map[string]bool{}
	add := func(row grant.Row, projection query.Projection) {
		key := string(row.Manifest.ConnectorKey) + "/" + row.Stream.Name
		if seen[key] {
			return
		}
		seen[key] = true
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, key)
		out = append(out, ':')
		out = appendStreamPresentation(out, row.Stream, projection)
	}
	for _, s := range p.shapes {
		add(s.row, s.projection)
		for _, e := range s.expansions {
			if projection, err := query.Project(query.Selection{}, e.Child.Access); err == nil {
				add(e.Child, projection)
			}
		}
	}
	return append(out, '}')
}

func appendStreamPresentation(dst []byte, s *pdpp.Stream, p query.Projection) []byte {
	start := len(dst)
	dst = appendMember(dst, "label", s.Label)
	if t := s.TimeField(); t != "" && p.Shows(t) {
		dst = appendMember(dst, "time_field", t)
	}
	dst = appendText(dst, `,"roles":{`)
	first := true
	for _, role := range roles {
		names := fieldsWithRole(s, role, p)
		if len(names) == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = rawjson.AppendString(dst, string(role))
		dst = append(dst, ':', '[')
		for i, n := range names {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = rawjson.AppendString(dst, n)
		}
		dst = append(dst, ']')
	}
	dst = appendText(dst, "}}")
	dst[start] = '{' // the first member's comma
	return dst
}

func fieldsWithRole(s *pdpp.Stream, role pdpp.Role, p query.Projection) []string {
	var names []string
	for _, f := range s.Fields {
		if f.Role == role && p.Shows(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}
