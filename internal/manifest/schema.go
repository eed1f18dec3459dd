package manifest

import (
	"encoding/json"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// schema is the JSON Schema of one stream, in which references are resolved.
type schema struct {
	root  object
	found map[string]value // by pointer: a cache, because references are often repeated
}

func newSchema(root object) *schema {
	return &schema{root: root, found: map[string]value{}}
}

// maxRefs bounds a chain of references, which may be circular.
const maxRefs = 32

// resolve follows the $ref of v until there is none. Keys next to a $ref override those
// of its target, because a role is usually written there. The problem is "" on success.
func (s *schema) resolve(v value) (resolved value, problem string) {
	for range maxRefs {
		o, ok := v.object()
		ref := o.get("$ref")
		if !ok || !ref.isString() {
			return v, ""
		}
		if !supported(ref.text()) {
			return v, "$ref " + quote(ref.text()) + " is not supported; only #/$defs/… and #/definitions/… are"
		}
		target, ok := s.lookup(ref.text())
		if !ok || !target.isObject() && !target.isBool() {
			return v, "$ref " + quote(ref.text()) + " does not refer to a schema"
		}
		v = value{at: v.at, raw: merge(target, o)}
	}
	return v, "$ref is circular, or a chain of more than " + strconv.Itoa(maxRefs) + " references"
}

func supported(ref string) bool {
	return strings.HasPrefix(ref, "#/$defs/") || strings.HasPrefix(ref, "#/definitions/")
}

// merge returns the target with the keys next to the $ref.
func merge(target value, over object) json.RawMessage {
	if len(over.names) == 1 {
		return target.raw
	}
	base, _ := target.object() // empty for true and false
	return base.overlay(over, "$ref").encode()
}

// lookup returns the value at a local reference, a JSON pointer (RFC 6901) in a fragment.
func (s *schema) lookup(ref string) (value, bool) {
	if v, ok := s.found[ref]; ok {
		return v, len(v.raw) > 0
	}
	v := s.walk(ref)
	s.found[ref] = v
	return v, len(v.raw) > 0
}

func (s *schema) walk(ref string) value {
	pointer, err := url.PathUnescape(strings.TrimPrefix(ref, "#"))
	if err != nil {
		return value{}
	}
	v := value{at: s.root.at, raw: s.root.raw}
	if pointer == "" {
		return v
	}
	steps := strings.Split(pointer, "/")
	if steps[0] != "" {
		return value{}
	}
	unescape := strings.NewReplacer("~1", "/", "~0", "~")
	for _, step := range steps[1:] {
		v = child(v, unescape.Replace(step))
	}
	return v
}

// child follows one step of a pointer. It returns the zero value when there is no such
// child.
func child(v value, step string) value {
	if items := v.items(); items != nil {
		i, err := strconv.Atoi(step)
		if err != nil || i < 0 || i >= len(items) {
			return value{}
		}
		return items[i]
	}
	o, _ := v.object()
	return o.get(step)
}

// The keywords of JSON Schema that contain schemas. Elsewhere, such as in enum or
// default, a key "$ref" is data.
var (
	schemaKeys = []string{
		"additionalItems", "additionalProperties", "allOf", "anyOf", "contains", "contentSchema", "else", "if",
		"items", "not", "oneOf", "prefixItems", "propertyNames", "then", "unevaluatedItems", "unevaluatedProperties",
	}
	schemaMapKeys = []string{"$defs", "definitions", "dependentSchemas", "patternProperties", "properties"}
)

// checkRefs checks that every $ref in a schema is local (M-2), and that the target of a
// pointer exists. maxDepth has already bounded the nesting.
func (sp *streamParser) checkRefs(v value) {
	for _, item := range v.items() {
		sp.checkRefs(item)
	}
	o, ok := v.object()
	if !ok {
		return
	}
	sp.checkRef(o.get("$ref"))
	for _, name := range o.names {
		switch {
		case slices.Contains(schemaKeys, name):
			sp.checkRefs(o.get(name))
		case slices.Contains(schemaMapKeys, name):
			sub, _ := o.get(name).object()
			for _, key := range sub.names {
				sp.checkRefs(sub.get(key))
			}
		}
	}
}

func (sp *streamParser) checkRef(v value) {
	if v.absent() {
		return
	}
	ref := sp.text(v)
	if !v.isString() {
		return
	}
	if !strings.HasPrefix(ref, "#") {
		sp.add(v.at, "%s is not local; a $ref must start with #", quote(ref))
		return
	}
	if _, ok := sp.schema.lookup(ref); !ok && strings.HasPrefix(ref, "#/") {
		sp.add(v.at, "%s does not exist in this schema", quote(ref))
	}
}
