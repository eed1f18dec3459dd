package grant

import (
	"slices"

	"pdpp"
)

// resolver replaces wildcards, views and names in a spec by what they mean now (H-148).
type resolver struct {
	manifest *pdpp.Manifest
	catalog  *pdpp.Catalog
}

// allStreams resolves {"name":"*"}: every declared stream with all its fields. Only
// connections can narrow it, because they apply to every stream.
func (r *resolver) allStreams(entry object) ([]pdpp.GrantStream, error) {
	for _, key := range []string{"fields", "view", "time_range", "resources"} {
		if n, ok := entry.get(key); ok {
			return nil, n.fault("cannot be combined with \"*\"; list the streams by name")
		}
	}
	conns, err := r.connections(entry)
	if err != nil {
		return nil, err
	}
	var out []pdpp.GrantStream
	for _, s := range r.manifest.Streams {
		g := pdpp.GrantStream{Name: s.Name, Connections: slices.Clone(conns), Fields: pick(s, s.PrimaryKey, true)}
		if len(g.Fields) > 0 {
			out = append(out, g)
		}
	}
	if len(out) == 0 {
		return nil, entry.fault("connector %s declares no streams", show(r.manifest.ConnectorKey))
	}
	return out, nil
}

// stream resolves one entry.
func (r *resolver) stream(entry object, name string) (pdpp.GrantStream, error) {
	g := pdpp.GrantStream{Name: name}
	s := r.manifest.Stream(name)
	if s == nil {
		n, _ := entry.get("name")
		return g, n.fault("connector %s declares no stream %s; it declares %s",
			show(r.manifest.ConnectorKey), show(name), list(streamNames(r.manifest)))
	}
	var err error
	if g.Fields, err = fields(entry, s); err != nil {
		return g, err
	}
	if g.Connections, err = r.connections(entry); err != nil {
		return g, err
	}
	if g.Time, err = timeRange(entry, s); err != nil {
		return g, err
	}
	g.Resources, err = resources(entry, s)
	return g, err
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
func fields(entry object, s *pdpp.Stream) ([]string, error) {
	stated, hasFields := entry.get("fields")
	view, hasView := entry.get("view")
	switch {
	case hasFields && hasView:
		return nil, view.fault("cannot be combined with fields; keep one")
	case hasFields:
		return listedFields(stated, s)
	case hasView:
		return viewFields(view, s)
	}
	all := pick(s, nil, true)
	if len(all) == 0 {
		return nil, entry.fault("stream %s declares no fields", show(s.Name))
	}
	return all, nil
}

func listedFields(n node, s *pdpp.Stream) ([]string, error) {
	names, err := texts(n, func(string) bool { return true })
	if err != nil {
		return nil, err
	}
	for i, name := range names {
		if s.Field(name) == nil {
			item := node{at: n.path(), item: i + 1}
			return nil, item.fault("stream %s declares no field %s; it declares %s",
				show(s.Name), show(name), list(pick(s, nil, true)))
		}
	}
	out := pick(s, names, false)
	if !s.SelectFields && len(out) < len(s.Fields) {
		return nil, n.fault("stream %s is granted with all its fields or not at all; leave out fields", show(s.Name))
	}
	return out, nil
}

// viewFields resolves a view. A view may also narrow a stream that does not allow
// selecting fields, because the source declares the view.
func viewFields(n node, s *pdpp.Stream) ([]string, error) {
	id, err := n.text()
	if err != nil {
		return nil, err
	}
	v, ok := s.View(id)
	if !ok {
		var ids []string
		for _, v := range s.Views {
			ids = append(ids, v.ID)
		}
		return nil, n.fault("stream %s declares no view %s; its views are %s", show(s.Name), show(id), list(ids))
	}
	return pick(s, v.Fields, false), nil
}

// pick returns the named fields and the primary key, or all, in manifest order.
func pick(s *pdpp.Stream, names []string, all bool) []string {
	var out []string
	for _, f := range s.Fields {
		if all || slices.Contains(names, f.Name) || slices.Contains(s.PrimaryKey, f.Name) {
			out = append(out, f.Name)
		}
	}
	return out
}

// timeRange reads time_range as a constraint on the consent time of the stream.
func timeRange(entry object, s *pdpp.Stream) (*pdpp.TimeConstraint, error) {
	n, ok := entry.get("time_range")
	if !ok {
		return nil, nil
	}
	if s.ConsentTimeField == "" {
		return nil, n.fault("stream %s has no consent time, so it cannot be limited in time; leave it out", show(s.Name))
	}
	o, err := n.object("since", "until")
	if err != nil {
		return nil, err
	}
	since, until, err := o.bounds()
	if err != nil {
		return nil, err
	}
	return &pdpp.TimeConstraint{Field: s.ConsentTimeField, Since: since, Until: until}, nil
}

func resources(entry object, s *pdpp.Stream) ([]pdpp.RecordID, error) {
	n, ok := entry.get("resources")
	if ok && !s.SelectResources {
		return nil, n.fault("stream %s does not allow selecting records; leave it out", show(s.Name))
	}
	return readResources(entry)
}
