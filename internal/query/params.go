package query

import (
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/grant"
)

// Bounds of a query string (C-4).
const (
	MaxQueryBytes = 16 << 10
	MaxParams     = 128
)

// Params is a query string as a tree (C-4): top-level names in order of first
// appearance, each with its values and, for filter and expand_limit, its
// bracketed members.
type Params struct{ list []param }

type param struct {
	name    string
	values  []string
	members []member
}

// member is name[key]=value or name[key][sub]=value.
type member struct{ key, sub, value string }

// selectors are accepted on every read route (C-6).
var selectors = []string{"connection_id", "connector_instance_id", "connector_id"}

// Parse reads a raw query string. Names other than the allowed ones and the source
// selectors are refused; the error lists all of them (C-5).
func Parse(raw string, allowed ...string) (*Params, error) {
	if len(raw) > MaxQueryBytes {
		return nil, pdpp.Errorf(pdpp.CodeInvalidRequest, "The query string is longer than %d bytes.", MaxQueryBytes)
	}
	p := &Params{}
	n := 0
	for part := range strings.SplitSeq(raw, "&") {
		if part == "" {
			continue
		}
		if n++; n > MaxParams {
			return nil, pdpp.Errorf(pdpp.CodeInvalidRequest, "The query string has more than %d parameters.", MaxParams)
		}
		if err := p.add(part); err != nil {
			return nil, err
		}
	}
	return p, p.checkNames(allowed)
}

func (p *Params) add(part string) error {
	rawName, rawValue, _ := strings.Cut(part, "=")
	name, err1 := url.QueryUnescape(rawName)
	value, err2 := url.QueryUnescape(rawValue)
	if err1 != nil || err2 != nil {
		return pdpp.Errorf(pdpp.CodeInvalidRequest, "The query string has a bad percent-encoding.")
	}
	if !utf8.ValidString(name) || !utf8.ValidString(value) {
		return pdpp.Errorf(pdpp.CodeInvalidRequest, "The query string is not valid UTF-8.")
	}
	top, keys, err := brackets(name)
	if err != nil {
		return err
	}
	i := slices.IndexFunc(p.list, func(q param) bool { return q.name == top })
	if i < 0 {
		i = len(p.list)
		p.list = append(p.list, param{name: top})
	}
	switch {
	case len(keys) == 0 || len(keys) == 1 && keys[0] == "":
		p.list[i].values = append(p.list[i].values, value)
	case len(keys) == 1:
		p.list[i].members = append(p.list[i].members, member{key: keys[0], value: value})
	default:
		p.list[i].members = append(p.list[i].members, member{key: keys[0], sub: keys[1], value: value})
	}
	return nil
}

// brackets splits name[a][b] into name, a and b.
func brackets(name string) (top string, keys []string, err error) {
	top, rest, found := strings.Cut(name, "[")
	if !found {
		if strings.Contains(name, "]") {
			return "", nil, pdpp.BadParam(top, "Parameter %q has an unbalanced bracket.", name)
		}
		return name, nil, nil
	}
	for {
		key, after, ok := strings.Cut(rest, "]")
		if !ok || strings.Contains(key, "[") {
			return "", nil, pdpp.BadParam(top, "Parameter %q has an unbalanced bracket.", name)
		}
		keys = append(keys, key)
		if after == "" {
			break
		}
		if after[0] != '[' {
			return "", nil, pdpp.BadParam(top, "Parameter %q has text after a bracket.", name)
		}
		rest = after[1:]
	}
	if len(keys) > 2 {
		return "", nil, badBrackets(top, keys, "is nested deeper than two brackets.", name)
	}
	if len(keys) == 2 && (keys[0] == "" || keys[1] == "") {
		return "", nil, badBrackets(top, keys, "has an empty bracket.", name)
	}
	return top, keys, nil
}

// badBrackets returns the error for a malformed name. For a filter, the error names the
// field (REC-21).
func badBrackets(top string, keys []string, what, name string) error {
	e := pdpp.BadParam(top, "Parameter %q %s", name, what)
	if top == "filter" {
		e.Field = keys[0]
	}
	return e
}

func (p *Params) checkNames(allowed []string) error {
	var unknown []string
	for _, q := range p.list {
		if !slices.Contains(allowed, q.name) && !slices.Contains(selectors, q.name) {
			unknown = append(unknown, q.name)
		}
	}
	if len(unknown) == 0 {
		return nil
	}
	known := "connection_id, connector_id"
	if len(allowed) > 0 {
		known = strings.Join(allowed, ", ") + ", " + known
	}
	return pdpp.BadParam(unknown[0], "Unknown parameter: %s. Known here: %s.", strings.Join(unknown, ", "), known)
}

func (p *Params) find(name string) *param {
	for i := range p.list {
		if p.list[i].name == name {
			return &p.list[i]
		}
	}
	return nil
}

// Has reports whether a parameter was sent.
func (p *Params) Has(name string) bool { return p.find(name) != nil }

// One returns the value of a parameter that may be sent once; "" when it was not sent.
func (p *Params) One(name string) (string, error) {
	q := p.find(name)
	switch {
	case q == nil:
		return "", nil
	case len(q.members) > 0:
		return "", pdpp.BadParam(name, "Parameter %q takes no brackets.", name)
	case len(q.values) > 1:
		return "", pdpp.BadParam(name, "Parameter %q was given more than once.", name)
	case q.values[0] == "":
		return "", pdpp.BadParam(name, "Parameter %q is empty.", name)
	}
	return q.values[0], nil
}

// List returns the values of a parameter that takes several: repeated, with [], or
// separated by commas. Duplicates are dropped; the first of them keeps its position
// (C-8).
func (p *Params) List(name string) ([]string, error) {
	q := p.find(name)
	if q == nil {
		return nil, nil
	}
	if len(q.members) > 0 {
		return nil, pdpp.BadParam(name, "Parameter %q takes no names in brackets.", name)
	}
	var out []string
	for _, v := range q.values {
		for item := range strings.SplitSeq(v, ",") {
			if item == "" {
				return nil, pdpp.BadParam(name, "Parameter %q has an empty value.", name)
			}
			if !slices.Contains(out, item) {
				out = append(out, item)
			}
		}
	}
	return out, nil
}

// OneOf returns the value of a parameter with a closed set of values; the first of the
// set when it was not sent.
func (p *Params) OneOf(name string, values ...string) (string, error) {
	v, err := p.One(name)
	if err != nil {
		return "", err
	}
	if v == "" {
		return values[0], nil
	}
	if !slices.Contains(values, v) {
		return "", pdpp.BadParam(name, "Parameter %q must be one of: %s.", name, strings.Join(values, ", "))
	}
	return v, nil
}

// Selector reads the source selectors (C-6, C-7).
func (p *Params) Selector() (grant.Selector, error) {
	var sel grant.Selector
	id, err := p.One("connection_id")
	if err != nil {
		return sel, err
	}
	alias, err := p.One("connector_instance_id")
	if err != nil {
		return sel, err
	}
	connector, err := p.One("connector_id")
	if err != nil {
		return sel, err
	}
	if id != "" && alias != "" && id != alias {
		return sel, &pdpp.Error{
			Code: pdpp.CodeInvalidArgument, Param: "connector_instance_id",
			Message: "connection_id and its deprecated alias connector_instance_id name different connections. Send connection_id alone.",
		}
	}
	if id == "" {
		id = alias
	}
	return grant.Selector{Connection: pdpp.ConnectionID(id), Connector: pdpp.ConnectorKey(connector)}, nil
}

// without returns name, member and value of every parameter not in skip, in a canonical
// order. A cursor is bound to them (C-38).
func (p *Params) without(skip ...string) []string {
	var out []string
	for _, q := range p.list {
		if slices.Contains(skip, q.name) {
			continue
		}
		for _, v := range q.values {
			out = append(out, q.name+"\x00\x00\x00"+v)
		}
		members := len(out)
		for _, m := range q.members {
			out = append(out, q.name+"\x00"+m.key+"\x00"+m.sub+"\x00"+m.value)
		}
		slices.Sort(out[members:]) // their order has no meaning
	}
	slices.SortStableFunc(out, func(a, b string) int {
		na, _, _ := strings.Cut(a, "\x00")
		nb, _, _ := strings.Cut(b, "\x00")
		return strings.Compare(na, nb)
	})
	return out
}
