package storetest

import (
	"encoding/json"
	"strings"

	"pdpp"
	"pdpp/internal/manifest"
)

// decl is a stream to declare.
type decl struct {
	name    string
	label   string
	fields  []string // "name type" or "name type format"; all nullable; "name blob" or "name blobs"
	key     []string // ["id"] when nil
	cursor  string
	consent string
	ranges  []string // fields with all range operators
	lexical []string

	aggregated bool     // every aggregation that the types allow
	except     []string // but not on these fields
}

// entries returns the stream that most tests use.
func entries() decl {
	return decl{
		name: "entries", cursor: "posted_at", consent: "due",
		fields: []string{
			"id string", "memo string", "note string", "amount number", "pieces integer", "paid boolean",
			"posted_at string date-time", "due string date", "seen_at string date-time", "parent string", "tags array",
		},
		ranges: []string{"posted_at", "amount", "due"}, lexical: []string{"memo", "note"},
	}
}

// without returns d without a field and everything declared about it.
func (d decl) without(field string) decl {
	drop := func(list []string) (out []string) {
		for _, s := range list {
			if name, _, _ := strings.Cut(s, " "); name != field {
				out = append(out, s)
			}
		}
		return out
	}
	d.fields, d.ranges, d.lexical = drop(d.fields), drop(d.ranges), drop(d.lexical)
	return d
}

// with returns d with a field added, or declared again, at the end.
func (d decl) with(field string) decl {
	name, _, _ := strings.Cut(field, " ")
	had := d
	d = d.without(name)
	d.ranges, d.lexical = had.ranges, had.lexical
	d.fields = append(d.fields, field)
	return d
}

type object map[string]any

func (d decl) json(t tb) string {
	t.Helper()
	var props []string
	for _, f := range d.fields {
		part := strings.Fields(f)
		schema := object{"type": []string{part[1], "null"}}
		if len(part) > 2 {
			schema["format"] = part[2]
		}
		if part[1] == "blob" || part[1] == "blobs" {
			schema = blobSchema(part[1] == "blobs")
		}
		props = append(props, encode(t, part[0])+":"+encode(t, schema))
	}
	stream := object{
		"name": d.name, "semantics": "mutable_state", "primary_key": d.key, "selection": object{"fields": true, "resources": true},
		"schema": json.RawMessage(`{"type":"object","properties":{` + strings.Join(props, ",") + `}}`),
	}
	if d.key == nil {
		stream["primary_key"] = []string{"id"}
	}
	optional := func(key, value string) {
		if value != "" {
			stream[key] = value
		}
	}
	optional("cursor_field", d.cursor)
	optional("consent_time_field", d.consent)
	optional("description", d.label)
	query := object{}
	if d.ranges != nil {
		ranges := object{}
		for _, f := range d.ranges {
			ranges[f] = pdpp.RangeOps
		}
		query["range_filters"] = ranges
	}
	if d.lexical != nil {
		query["search"] = object{"lexical_fields": d.lexical}
	}
	if d.aggregated {
		query["aggregations"] = d.aggregations()
	}
	stream["query"] = query
	return encode(t, stream)
}

// blobSchema declares a blob reference, or a list of them (M-9).
func blobSchema(list bool) object {
	one := object{"type": []string{"object", "null"}, "required": []string{"blob_id"}, "properties": object{"blob_id": object{"type": "string"}}}
	if !list {
		return one
	}
	one["type"] = "object"
	return object{"type": []string{"array", "null"}, "items": one}
}

// declare returns a manifest.
func declare(t tb, connector string, decls ...decl) *pdpp.Manifest {
	t.Helper()
	var streams []string
	for _, d := range decls {
		streams = append(streams, d.json(t))
	}
	m, err := manifest.Parse([]byte(`{"protocol_version":"0.1.0","declaration_version":"1",
		"source":{"kind":"connector","id":"https://reg.acme.test/c/` + connector + `"},
		"streams":[` + strings.Join(streams, ",") + `]}`))
	if err != nil {
		t.Fatalf("declare: %v", err)
	}
	return m
}

func encode(t tb, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatalf("encode: %v", err)
	}
	return string(text)
}
