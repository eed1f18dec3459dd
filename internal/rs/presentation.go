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
	w := append(make(rawjson.Writer, 0, 256), '{')
	for _, s := range presentedStreams(p) {
		w.OpenObject(string(s.row.Manifest.ConnectorKey) + "/" + s.row.Stream.Name)
		s.write(&w)
		w.End("}")
	}
	w.End("}")
	return w
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

// write writes the members of the stream's presentation. primary_key tells a renderer
// which fields the record's id repeats. It is omitted unless the whole key is projected.
func (p *presented) write(w *rawjson.Writer) {
	w.Optional("label", p.row.Stream.Label)
	w.Optional("time_field", p.timeField())
	key := p.row.Stream.PrimaryKey
	if len(key) > 0 && !slices.ContainsFunc(key, func(f string) bool { return !p.shows(f) }) {
		rawjson.List(w, "primary_key", key)
	}
	w.OpenObject("roles")
	for _, role := range roles {
		if names := p.fieldsWithRole(role); len(names) > 0 {
			rawjson.List(w, string(role), names)
		}
	}
	w.End("}")
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
