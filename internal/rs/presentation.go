package rs

import (
	"slices"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/grant"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
)

// roles are the declared roles that a renderer may use, in the order of the answer.
var roles = []pdpp.Role{
	pdpp.RolePrimaryTitle, pdpp.RolePrimaryText, pdpp.RoleSecondary, pdpp.RoleEventTime,
	pdpp.RoleActor, pdpp.RoleAmount, pdpp.RoleMedia,
}

// presented is one stream of an answer. It has several projections when records
// of the stream are also children of others.
type presented struct {
	row         grant.Row
	projections []query.Projection
}

func (p *presented) shows(field string) bool {
	return slices.ContainsFunc(p.projections, func(q query.Projection) bool { return q.Shows(field) })
}

// presentation returns meta.presentation of a read.
func (q *request) presentation(p *plan) []byte {
	if !p.plain || len(p.rows) != 1 {
		return appendPresentation(p)
	}
	type key struct{ access *grant.Access }
	return auth.Derive(q.reach, key{p.rows[0].Access}, func() []byte { return appendPresentation(p) })
}

// appendPresentation returns meta.presentation (REC-5): what the manifests declare about
// the fields of this answer, per connector and stream, children included.
func appendPresentation(p *plan) []byte {
	out := []byte{'{'}
	for i, s := range presentedStreams(p) {
		if i > 0 {
			out = append(out, ',')
		}
		out = rawjson.AppendString(out, string(s.row.Manifest.ConnectorKey)+"/"+s.row.Stream.Name)
		out = append(out, ':')
		out = appendStreamPresentation(out, s)
	}
	return append(out, '}')
}

// presentedStreams lists the streams of an answer in the order they appear.
func presentedStreams(p *plan) []*presented {
	var out []*presented
	add := func(row grant.Row, projection query.Projection) {
		i := slices.IndexFunc(out, func(s *presented) bool { return s.row.Stream == row.Stream })
		if i < 0 {
			i = len(out)
			out = append(out, &presented{row: row})
		}
		out[i].projections = append(out[i].projections, projection)
	}
	var last *pdpp.Stream // the connections of a row share everything shown here
	for _, s := range p.shapes {
		if s.row.Stream == last {
			continue
		}
		last = s.row.Stream
		add(s.row, s.projection)
		for _, e := range s.expansions {
			if projection, err := query.Project(query.Selection{}, e.Child.Access); err == nil {
				add(e.Child, projection)
			}
		}
	}
	return out
}

func appendStreamPresentation(dst []byte, p *presented) []byte {
	start := len(dst)
	s := p.row.Stream
	dst = appendMember(dst, "label", s.Label)
	dst = appendMember(dst, "time_field", p.timeField())
	dst = p.appendKey(dst)
	dst = appendText(dst, `,"roles":{`)
	first := true
	for _, role := range roles {
		names := p.fieldsWithRole(role)
		if len(names) == 0 {
			continue
		}
		if !first {
			dst = append(dst, ',')
		}
		first = false
		dst = rawjson.AppendString(dst, string(role))
		dst = appendNames(append(dst, ':'), names)
	}
	dst = appendText(dst, "}}")
	dst[start] = '{' // replaces the comma before the first member
	return dst
}

// appendKey appends the member primary_key, so that a renderer knows which fields the
// record's id repeats. It is omitted unless the whole key is projected.
func (p *presented) appendKey(dst []byte) []byte {
	key := p.row.Stream.PrimaryKey
	if len(key) == 0 || slices.ContainsFunc(key, func(f string) bool { return !p.shows(f) }) {
		return dst
	}
	return appendNames(appendText(dst, `,"primary_key":`), key)
}

// appendNames appends a list of field names.
func appendNames(dst []byte, names []string) []byte {
	dst = append(dst, '[')
	for i, n := range names {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = rawjson.AppendString(dst, n)
	}
	return append(dst, ']')
}

// timeField returns the field with the time of a record: the first of two candidates that
// is projected; "" when neither is (REC-5).
func (p *presented) timeField() string {
	for _, name := range []string{p.row.Stream.ConsentTimeField, p.row.Stream.CursorField} {
		if name != "" && p.shows(name) {
			return name
		}
	}
	return ""
}

func (p *presented) fieldsWithRole(role pdpp.Role) []string {
	var names []string
	for _, f := range p.row.Stream.Fields {
		if f.Role == role && p.shows(f.Name) {
			names = append(names, f.Name)
		}
	}
	return names
}
