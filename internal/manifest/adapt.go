package manifest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"pdpp"
)

// Adapt parses a manifest in this format or in that of the public implementation. It
// converts the latter: it maps names, and it removes parts that the rules do not allow
// where the rest keeps its meaning (M-13). changes describes each conversion in one line
// and is nil for a manifest in this format. A manifest that cannot be converted is an
// error, as in Parse.
func Adapt(raw []byte) (m *pdpp.Manifest, changes []string, err error) {
	compact, err := wellFormed(raw)
	if err != nil {
		return nil, nil, err
	}
	top, _ := value{raw: compact}.object()
	if top.get("connector_id").text() == "" || !top.get("source").absent() || !top.get("source_declaration").absent() {
		m, err = Parse(compact)
		return m, nil, err
	}
	a := &adapter{}
	a.rename(&top)
	doc := json.RawMessage(top.encode())
	for range maxChanges {
		p := &parser{}
		p.manifest(value{raw: doc}) // for its problems only
		if p.total == 0 {
			m, err = Parse(doc)
			return m, a.changes, err
		}
		at, why := p.first()
		unit := removable(at)
		if unit == nil {
			return nil, a.changes, p.err()
		}
		a.noteRemoved(doc, unit, why)
		doc = without(doc, steps(unit))
	}
	return nil, a.changes, pdpp.Errorf(pdpp.CodeInvalidInput, "manifest: too many parts of it are not valid here")
}

// maxChanges bounds the number of parts that are removed from one manifest.
const maxChanges = 1000

// adapter converts a manifest and records the changes.
type adapter struct{ changes []string }

func (a *adapter) note(format string, args ...any) {
	a.changes = append(a.changes, fmt.Sprintf(format, args...))
}

// rename maps the names of the public implementation to those of this format.
func (a *adapter) rename(top *object) {
	id := top.members["connector_id"]
	top.set("source", json.RawMessage(`{"kind":"connector","id":`+string(id)+`}`))
	a.note("connector_id became source.id")
	if v := top.get("version"); !v.absent() && top.get("declaration_version").absent() {
		top.set("declaration_version", v.raw)
		a.note("version became declaration_version")
	}
	if v := top.get("display_name"); !v.absent() && top.get("display").absent() {
		top.set("display", json.RawMessage(`{"name":`+string(v.raw)+`}`))
		a.note("display_name became display.name")
	}
	ignored := unused(*top, topNames)
	if items := top.get("streams").items(); items != nil {
		raws := make([]string, len(items))
		for i, item := range items {
			raws[i] = string(item.raw)
			if s, ok := item.object(); ok {
				a.renameStream(&s)
				raws[i] = string(s.encode())
				ignored = append(ignored, unused(s, streamNames)...)
			}
		}
		top.set("streams", json.RawMessage("["+strings.Join(raws, ",")+"]"))
	}
	if slices.Sort(ignored); len(ignored) > 0 {
		a.note("not used here: %s", strings.Join(slices.Compact(ignored), ", "))
	}
}

// topNames and streamNames are the keys that this format and the conversion use.
var (
	topNames = []string{
		"protocol_version", "connector_id", "connector_key", "version", "declaration_version", "display_name", "display", "source", "streams",
	}
	streamNames = []string{
		"name", "description", "display", "semantics", "schema", "primary_key", "cursor_field", "consent_time_field", "selection", "views", "relationships", "query",
	}
)

func unused(o object, known []string) []string {
	return slices.DeleteFunc(slices.Clone(o.names), func(name string) bool { return slices.Contains(known, name) })
}

// renameStream maps the keys of a stream. semantics is informative only (M-12).
func (a *adapter) renameStream(s *object) {
	at := "stream " + quote(s.get("name").text())
	switch was := s.get("semantics").text(); was {
	case "append_only", "mutable_state":
	case "append":
		s.set("semantics", json.RawMessage(`"append_only"`))
		a.note("%s: semantics append became append_only", at)
	default:
		s.set("semantics", json.RawMessage(`"mutable_state"`))
		a.note("%s: semantics %s became mutable_state", at, quote(was))
	}
	if key := s.get("primary_key"); key.isString() {
		s.set("primary_key", json.RawMessage("["+string(key.raw)+"]"))
		a.note("%s: primary_key became a list", at)
	}
	if s.get("selection").absent() {
		s.set("selection", json.RawMessage(`{"fields":true,"resources":true}`))
		a.note("%s: selection was added: fields and resources", at)
	}
}

// noteRemoved records a removed part: its stream, its place, its name, and the reason.
func (a *adapter) noteRemoved(doc json.RawMessage, unit *path, why string) {
	v := value{raw: doc}
	var stream, name string
	var inner *path // the path inside the stream
	for i, s := range steps(unit) {
		if s.isItem {
			v = v.items()[s.index]
		} else {
			o, _ := v.object()
			v = o.get(s.name)
		}
		o, _ := v.object()
		switch {
		case i == 1:
			stream = o.get("name").text()
		case i > 1:
			inner = &path{parent: inner, name: s.name, index: s.index, isItem: s.isItem}
			name = cmp.Or(o.get("name").text(), o.get("id").text())
		}
	}
	if name != "" {
		name = " " + quote(name)
	}
	a.note("stream %s: removed %s%s: %s", quote(stream), inner, name, why)
}

// steps returns the steps of a path from the root.
func steps(at *path) []*path {
	var all []*path
	for s := at; s != nil; s = s.parent {
		all = append(all, s)
	}
	slices.Reverse(all)
	return all
}

// removable returns the smallest part around a problem that a stream does not need, or
// nil. A list that becomes empty is the next problem.
func removable(at *path) *path {
	all := steps(at)
	if len(all) < 3 || all[0].name != "streams" {
		return nil
	}
	switch all[2].name {
	case "cursor_field", "consent_time_field":
		return all[2]
	case "relationships":
		return all[min(3, len(all)-1)]
	case "views":
		return wholeUnless(all, 3, "fields")
	case "query":
		if len(all) > 4 && all[3].name == "expand" {
			return wholeUnless(all, 4, "default_limit", "max_limit")
		}
		return at
	case "schema":
		if len(all) > 4 && (all[3].name == "required" || at.name == "x_pdpp_role") {
			return at
		}
	}
	return nil
}

// wholeUnless returns the item at a step. For a problem inside one of the named members
// it returns the place of the problem, such as an entry of a list or a limit.
func wholeUnless(all []*path, item int, names ...string) *path {
	last := all[len(all)-1]
	if len(all) <= item+1 || !slices.Contains(names, all[item+1].name) || all[item+1] == last && last.name == "fields" {
		return all[min(item, len(all)-1)]
	}
	return last
}

// without returns a value without the part at a path.
func without(raw json.RawMessage, path []*path) json.RawMessage {
	here := path[0]
	if here.isItem {
		var out []string
		for i, item := range (value{raw: raw}).items() {
			switch {
			case i != here.index:
				out = append(out, string(item.raw))
			case len(path) > 1:
				out = append(out, string(without(item.raw, path[1:])))
			}
		}
		return json.RawMessage("[" + strings.Join(out, ",") + "]")
	}
	o, _ := value{raw: raw}.object()
	if len(path) > 1 {
		o.set(here.name, without(o.members[here.name], path[1:]))
		return o.encode()
	}
	o.names = slices.DeleteFunc(o.names, func(name string) bool { return name == here.name })
	return o.encode()
}
