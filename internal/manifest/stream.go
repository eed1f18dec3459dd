package manifest

import "pdpp"

// maxProperties is the largest number of properties of a stream (M-10).
const maxProperties = 256

// streamParser reads one stream.
type streamParser struct {
	*parser
	decl   object
	out    *pdpp.Stream
	schema *schema // nil when it could not be read
	fields map[string]*pdpp.Field
	rels   map[string]int // relation name -> index in out.Relations
}

// stream reads one stream. It returns nil when v is not an object. It also returns an
// invalid stream, so that relations to it are not reported as well.
func (p *parser) stream(v value) *pdpp.Stream {
	decl, ok := p.object(v)
	if !ok {
		return nil
	}
	before := p.total
	sp := &streamParser{parser: p, decl: decl, out: &pdpp.Stream{}, rels: map[string]int{}}
	sp.header()
	sp.readSchema()
	sp.keys()
	sp.selection()
	sp.views()
	sp.relationships()
	sp.query()
	if p.total == before {
		sp.checkSize()
	}
	return sp.out
}

func (sp *streamParser) header() {
	at := sp.decl.get("name")
	sp.out.Name = sp.requiredText(at)
	if sp.out.Name != "" {
		sp.checkStreamName(at.at, sp.out.Name)
	}
	sp.out.Semantics = sp.oneOf(sp.decl.get("semantics"), "append_only", "mutable_state")
	sp.out.Description = sp.text(sp.decl.get("description"))
	if display, ok := sp.optionalObject(sp.decl.get("display")); ok {
		sp.out.Label = sp.text(display.get("label"))
	}
}

// readSchema reads the properties. Fields stays nil when they cannot be read; then
// checkField reports no unknown fields.
func (sp *streamParser) readSchema() {
	v := sp.decl.get("schema")
	o, ok := sp.object(v)
	if !ok {
		return
	}
	if len(v.raw) > maxRow {
		sp.add(v.at, "has %d bytes; the full schema row of a stream may have %d at most", len(v.raw), maxRow)
		return
	}
	sp.out.Schema = v.raw
	sp.schema = newSchema(o)
	sp.checkRefs(v)
	if types, _ := typesOf(o); !o.get("type").absent() && !isOnly(types, "object") {
		sp.add(v.at.key("type"), `must be "object"`)
	}
	props, ok := sp.object(o.get("properties"))
	if !ok {
		return
	}
	if n := len(props.names); n > maxProperties {
		sp.add(props.at, "has %d properties; at most %d are allowed", n, maxProperties)
		return
	}
	sp.properties(props)
	sp.out.Required = texts(sp.fieldList(o.get("required"), anyField))
}

func (sp *streamParser) properties(props object) {
	sp.fields = make(map[string]*pdpp.Field, len(props.names))
	roles := map[pdpp.Role]string{}
	size := 0
	for _, name := range props.names {
		v := props.get(name)
		sp.checkName(v.at, "property", name)
		f := sp.field(name, v)
		sp.fields[name] = f
		sp.out.Fields = append(sp.out.Fields, f)
		sp.checkRole(v.at, f, roles)
		// References can make a small schema large, so stop early.
		if size += len(f.Schema); size > maxRow {
			sp.add(props.at, "has more than %d bytes once its references are resolved", maxRow)
			sp.fields, sp.out.Fields = nil, nil
			return
		}
	}
}

// checkRole checks that at most one field has each of the unique roles (M-7).
func (sp *streamParser) checkRole(at *path, f *pdpp.Field, taken map[pdpp.Role]string) {
	switch f.Role {
	case pdpp.RolePrimaryTitle, pdpp.RolePrimaryText, pdpp.RoleEventTime:
	default:
		return
	}
	if first, ok := taken[f.Role]; ok {
		sp.add(at.key("x_pdpp_role"), "role %s is already on field %s; one field per stream may have it",
			quote(string(f.Role)), quote(first))
		return
	}
	taken[f.Role] = f.Name
}

func (sp *streamParser) keys() {
	key := sp.decl.get("primary_key")
	if key.absent() {
		sp.add(key.at, "is required")
	}
	sp.out.PrimaryKey = texts(sp.fieldList(key, anyField))
	sp.out.CursorField = sp.oneField(sp.decl.get("cursor_field"), orderedField)
	sp.out.ConsentTimeField = sp.oneField(sp.decl.get("consent_time_field"), timeField)
}

func (sp *streamParser) selection() {
	o, ok := sp.object(sp.decl.get("selection"))
	if !ok {
		return
	}
	sp.out.SelectFields = sp.boolean(o.get("fields"))
	sp.out.SelectResources = sp.boolean(o.get("resources"))
}

func (sp *streamParser) views() {
	seen := map[string]bool{}
	for _, item := range sp.optionalList(sp.decl.get("views")) {
		o, ok := sp.object(item)
		if !ok {
			continue
		}
		view := pdpp.View{ID: sp.uniqueName(o.get("id"), "view", seen), Label: sp.text(o.get("label"))}
		fields := o.get("fields")
		if fields.absent() {
			sp.add(fields.at, "is required")
		}
		view.Fields = texts(sp.fieldList(fields, anyField))
		sp.out.Views = append(sp.out.Views, view)
	}
}

// uniqueName reads a view id or relation name (M-2, M-3).
func (sp *streamParser) uniqueName(v value, what string, seen map[string]bool) string {
	s := sp.requiredText(v)
	if s == "" {
		return ""
	}
	sp.checkName(v.at, what, s)
	if seen[s] {
		sp.add(v.at, "there is already a %s %s", what, quote(s))
	}
	seen[s] = true
	return s
}

// fieldList reads a list of declared fields.
func (sp *streamParser) fieldList(v value, want fieldRule) []name {
	names := sp.names(v)
	for _, n := range names {
		sp.checkField(n.at, n.text, want)
	}
	return names
}

// oneField reads an optional key that names a field.
func (sp *streamParser) oneField(v value, want fieldRule) string {
	if v.absent() {
		return ""
	}
	s := sp.requiredText(v)
	if s != "" {
		sp.checkField(v.at, s, want)
	}
	return s
}

// checkField checks that a field is declared (M-2) and has a suitable type.
func (sp *streamParser) checkField(at *path, field string, want fieldRule) {
	if sp.fields == nil {
		return
	}
	f := sp.fields[field]
	switch {
	case f == nil:
		sp.add(at, "field %s is not declared in schema.properties", quote(field))
	case !want.ok(f):
		sp.add(at, "field %s must be %s", quote(field), want.want)
	}
}
