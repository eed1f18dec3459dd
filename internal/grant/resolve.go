package grant

import (
	"slices"
	"strconv"

	"pdpp"
)

// resolver replaces wildcards, views and names in a spec by what they mean now (H-148).
type resolver struct {
	manifest *pdpp.Manifest
	catalog  *pdpp.Catalog
}

// streams resolves the streams of a spec.
func (r *resolver) streams(specs []SpecStream) ([]pdpp.GrantStream, error) {
	var out []pdpp.GrantStream
	for i, s := range specs {
		at := "streams[" + strconv.Itoa(i) + "]"
		if s.Name == AllStreams {
			return r.allStreams(s, at)
		}
		g, err := r.stream(s, at)
		if err != nil {
			return nil, err
		}
		out = append(out, g)
	}
	return out, nil
}

// allStreams resolves {"name":"*"}: every declared stream with all its fields.
func (r *resolver) allStreams(spec SpecStream, at string) ([]pdpp.GrantStream, error) {
	conns, err := r.connections(spec, at)
	if err != nil {
		return nil, err
	}
	var out []pdpp.GrantStream
	for _, s := range r.manifest.Streams {
		g := pdpp.GrantStream{Name: s.Name, Connections: slices.Clone(conns), Fields: AllFields(s)}
		if len(g.Fields) > 0 {
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		return nil, faultAt(at, "connector %s declares no streams", Show(r.manifest.ConnectorKey))
	}
	return out, nil
}

// stream resolves one entry.
func (r *resolver) stream(spec SpecStream, at string) (pdpp.GrantStream, error) {
	g := pdpp.GrantStream{Name: spec.Name}
	s := r.manifest.Stream(spec.Name)
	if s == nil {
		return g, faultAt(at+".name", "connector %s declares no stream %s; it declares %s",
			Show(r.manifest.ConnectorKey), Show(spec.Name), list(streamNames(r.manifest)))
	}
	var err error
	if g.Fields, err = fields(spec, s, at); err != nil {
		return g, err
	}
	if g.Connections, err = r.connections(spec, at); err != nil {
		return g, err
	}
	if !spec.Since.IsZero() || !spec.Until.IsZero() {
		if s.ConsentTimeField == "" {
			return g, faultAt(at+".time_range", "stream %s has no consent time, so it cannot be limited in time; leave it out", Show(s.Name))
		}
		g.Time = &pdpp.TimeConstraint{Field: s.ConsentTimeField, Since: spec.Since, Until: spec.Until}
	}
	if spec.Resources != nil && !s.SelectResources {
		return g, faultAt(at+".resources", "stream %s does not allow selecting records; leave it out", Show(s.Name))
	}
	g.Resources = spec.Resources
	return g, nil
}

func streamNames(m *pdpp.Manifest) []string {
	var out []string
	for _, s := range m.Streams {
		out = append(out, s.Name)
	}
	return out
}

// fields resolves fields or view; without either, all declared fields. The result always
// includes the primary key (H-148).
func fields(spec SpecStream, s *pdpp.Stream, at string) ([]string, error) {
	switch {
	case spec.Fields != nil:
		return listedFields(spec.Fields, s, at+".fields")
	case spec.View != "":
		return viewFields(spec.View, s, at+".view")
	}
	all := AllFields(s)
	if len(all) == 0 {
		return nil, faultAt(at, "stream %s declares no fields", Show(s.Name))
	}
	return all, nil
}

func listedFields(names []string, s *pdpp.Stream, at string) ([]string, error) {
	for i, name := range names {
		if s.Field(name) == nil {
			return nil, faultAt(at+"["+strconv.Itoa(i)+"]", "stream %s declares no field %s; it declares %s",
				Show(s.Name), Show(name), list(AllFields(s)))
		}
	}
	out := WithKey(s, names)
	if !s.SelectFields && len(out) < len(s.Fields) {
		return nil, faultAt(at, "stream %s is granted with all its fields or not at all; leave out fields", Show(s.Name))
	}
	return out, nil
}

// viewFields resolves a view. A view may also narrow a stream that does not allow
// selecting fields, because the source declares the view.
func viewFields(id string, s *pdpp.Stream, at string) ([]string, error) {
	v, ok := s.View(id)
	if !ok {
		var ids []string
		for _, v := range s.Views {
			ids = append(ids, v.ID)
		}
		return nil, faultAt(at, "stream %s declares no view %s; its views are %s", Show(s.Name), Show(id), list(ids))
	}
	return WithKey(s, v.Fields), nil
}

// WithKey returns the declared fields that are named or in the primary key, in manifest
// order.
func WithKey(s *pdpp.Stream, names []string) []string {
	var out []string
	for _, f := range s.Fields {
		if slices.Contains(names, f.Name) || slices.Contains(s.PrimaryKey, f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// AllFields returns the names of all declared fields, in manifest order.
func AllFields(s *pdpp.Stream) []string {
	var out []string
	for _, f := range s.Fields {
		out = append(out, f.Name)
	}
	return out
}
