package manifest

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"

	"pdpp"
)

// edit returns the ledgerly example with one passage replaced.
func edit(t testing.TB, old, new string) []byte {
	t.Helper()
	raw := readExample(t, "ledgerly.json")
	if n := bytes.Count(raw, []byte(old)); n != 1 {
		t.Fatalf("the example contains %q %d times, want once", old, n)
	}
	return bytes.Replace(raw, []byte(old), []byte(new), 1)
}

// refusal returns the error message for an invalid manifest.
func refusal(t *testing.T, raw []byte) string {
	t.Helper()
	m, err := Parse(raw)
	var e *pdpp.Error
	if !errors.As(err, &e) || m != nil {
		t.Fatalf("Parse = %v, want a *pdpp.Error", err)
	}
	if e.Code != pdpp.CodeInvalidInput {
		t.Errorf("code = %s", e.Code)
	}
	return e.Message
}

// TestRefused replaces one passage of the example in each row and expects the whole
// message.
func TestRefused(t *testing.T) {
	const (
		memo  = `"memo": {"type": ["string", "null"], "x_pdpp_role": "primary-title"}`
		tags  = `"tags": {"type": "array"}`
		rel   = `{"name": "receipts", "stream": "receipts", "foreign_key": "entry_id", "cardinality": "has_many"}`
		rel2  = `{"name": "entry", "stream": "entries", "foreign_key": "id", "cardinality": "has_one"}`
		brief = `{"id": "brief", "label": "Brief", "fields": ["id", "memo"]}`
		exp   = `[{"name": "receipts", "default_limit": 10, "max_limit": 50}]`
		aggs  = `"aggregations": {"count": true,`
	)
	for _, c := range []struct{ old, new, want string }{
		{`"declaration_version": "2026-02-01",`, ``, `declaration_version: is required`},
		{`"2026-02-01"`, `7`, `declaration_version: must be a string`},
		{`"2026-02-01"`, `"a\u0000"`, `declaration_version: must not contain control characters`},
		{`{"name": "Ledgerly"}`, `"Ledgerly"`, `display: must be an object`},
		{`{"kind": "connector", "id"`, `{"kind": "provider", "id"`, `source.kind: "provider" is not one of connector`},
		{`"id": "https://reg.acme.test/c/ledgerly"`, `"uri": "x"`, `source.id: is required`},
		{`c/ledgerly"`, `c/Ledgerly"`, `connector_key: is required, because source.id does not end in a path segment that is a connector key`},
		{
			`"display": {"name"`, `"connector_key": "-x", "display": {"name"`,
			`connector_key: "-x" is not a connector key: 1 to 64 of a-z 0-9 _ -, starting with a letter or digit`,
		},
		{`"streams": [`, `"source_declaration": [], "streams": [`, `source_declaration: must be an object`},

		{`"2026-02-01"`, `"` + strings.Repeat("v", 2049) + `"`, `declaration_version: has 2049 bytes; at most 2048 are allowed`},
		{
			`https://reg.acme.test/c/ledgerly`, `https://%zz`,
			`connector_key: is required, because source.id does not end in a path segment that is a connector key`,
		},
		{`"streams": [`, `"stream_list": [`, `streams: is required`},

		{`"name": "entries", `, ``, "streams[0].name: is required\nstreams[1].relationships[0].stream: there is no stream \"entries\" in this manifest"},
		{`{"name": "receipts", "semantics"`, `7, {"name": "receipts", "semantics"`, `streams[1]: must be an object`},
		{
			`{"name": "receipts", "semantics"`, `{"name": "a..b", "semantics"`,
			`streams[1].name: "a..b" is not a stream name: 1 to 128 letters, digits, _ . - that do not start with . or - and do not contain ..` +
				"\n" + `streams[0].relationships[0].stream: there is no stream "receipts" in this manifest`,
		},
		{
			`{"name": "receipts", "semantics"`, `{"name": "entries", "semantics"`,
			`streams[1].name: there is already a stream "entries"` + "\n" +
				`streams[0].relationships[0].stream: there is no stream "receipts" in this manifest`,
		},
		{`"append_only"`, `"log"`, `streams[0].semantics: "log" is not one of append_only, mutable_state`},
		{`"description": "Ledger lines"`, `"description": 1`, `streams[0].description: must be a string`},
		{`{"label": "Your ledger"}`, `{"label": []}`, `streams[0].display.label: must be a string`},
		{`"schema": {"type": "object", "properties"`, `"scheme": {"type": "object", "properties"`, `streams[1].schema: is required`},
		{`{"type": "object", "properties"`, `{"type": "array", "properties"`, `streams[1].schema.type: must be "object"`},
		{`{"type": "object", "properties"`, `{"type": "object", "props"`, `streams[1].schema.properties: is required`},
		{`"primary_key": ["id"], "selection": {"fields": false`, `"selection": {"fields": false`, `streams[1].primary_key: is required`},
		{`"primary_key": ["id"], "cursor`, `"primary_key": [], "cursor`, `streams[0].primary_key: must be a list with at least one name`},
		{`"primary_key": ["id"], "cursor`, `"primary_key": ["id", "id"], "cursor`, `streams[0].primary_key[1]: "id" is listed twice`},
		{`"primary_key": ["id"], "cursor`, `"primary_key": ["key"], "cursor`, `streams[0].primary_key[0]: field "key" is not declared in schema.properties`},
		{`"selection": {"fields": true, "resources": false}, `, ``, `streams[0].selection: is required`},
		{`"resources": true`, `"resources": "yes"`, `streams[1].selection.resources: must be true or false`},
		{`"required": ["id", "posted_at"]`, `"required": ["id", "when"]`, `streams[0].schema.required[1]: field "when" is not declared in schema.properties`},

		{tags, `"tags": 7`, `streams[1].schema.properties.tags: must be a JSON Schema: an object, true or false`},
		{tags, `"tags": {"type": "text"}`, `streams[1].schema.properties.tags.type: must be a JSON type or a list of JSON types: string, integer, number, boolean, object, array, null`},
		{tags, `"tags": {"type": ["null", "null"]}`, `streams[1].schema.properties.tags.type: lists "null" twice`},
		{tags, `"tags": {"type": []}`, `streams[1].schema.properties.tags.type: must list at least one JSON type`},
		{tags, `"tags": {"type": "string", "format": 1}`, `streams[1].schema.properties.tags.format: must be a string`},
		{tags, `"ta,gs": {}`, `streams[1].schema.properties["ta,gs"]: "ta,gs" is not a property name: 1 to 128 bytes without control characters and without [ ] ,`},
		{tags, `"t\u0007": {}`, `streams[1].schema.properties["t\a"]: "t\a" is not a property name: 1 to 128 bytes without control characters and without [ ] ,`},
		{tags, `"": {}`, `streams[1].schema.properties[""]: "" is not a property name: 1 to 128 bytes without control characters and without [ ] ,`},
		{
			tags, `"tags": {"items": {"$ref": "https://x.example.test/s"}}`,
			`streams[1].schema.properties.tags.items.$ref: "https://x.example.test/s" is not local; a $ref must start with #`,
		},
		{tags, `"tags": {"items": {"$ref": "#/$defs/none"}}`, `streams[1].schema.properties.tags.items.$ref: "#/$defs/none" does not exist in this schema`},
		{
			tags, `"tags": {"$ref": "#/properties/id"}`,
			`streams[1].schema.properties.tags: $ref "#/properties/id" is not supported; only #/$defs/… and #/definitions/… are`,
		},
		{tags, `"tags": {"items": {"$ref": 7}}`, `streams[1].schema.properties.tags.items.$ref: must be a string`},
		{tags, `"tags": {"allOf": [{"$ref": "#/%zz"}]}`, `streams[1].schema.properties.tags.allOf[0].$ref: "#/%zz" does not exist in this schema`},
		{
			tags, `"tags": {"allOf": [true], "items": {"$ref": "#/properties/tags/allOf/1"}}`,
			`streams[1].schema.properties.tags.items.$ref: "#/properties/tags/allOf/1" does not exist in this schema`,
		},
		{tags + `}`, `"tags": {"$ref": "#/$defs/n"}}, "$defs": {"n": 4}`, `streams[1].schema.properties.tags: $ref "#/$defs/n" does not refer to a schema`},
		{
			tags + `}`, `"tags": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}`,
			`streams[1].schema.properties.tags: $ref is circular, or a chain of more than 32 references`,
		},

		{
			`"cursor_field": "posted_at"`, `"cursor_field": "memo"`,
			`streams[0].cursor_field: field "memo" must be an integer, a number, or a string with format date or date-time`,
		},
		{
			`"consent_time_field": "posted_at"`, `"consent_time_field": "amount_minor"`,
			`streams[0].consent_time_field: field "amount_minor" must be a string with format date or date-time`,
		},
		{
			`"consent_time_field": "posted_at"`, `"consent_time_field": "when"`,
			`streams[0].consent_time_field: field "when" is not declared in schema.properties`,
		},
		{`"amount_minor": ["gte", "lte"]`, `"amount": ["gte"]`, `streams[0].query.range_filters.amount: field "amount" is not declared in schema.properties`},
		{
			`"amount_minor": ["gte", "lte"]`, `"memo": ["gte"]`,
			`streams[0].query.range_filters.memo: field "memo" must be an integer, a number, or a string with format date or date-time`,
		},
		{`"amount_minor": ["gte", "lte"]`, `"amount_minor": ["eq"]`, `streams[0].query.range_filters.amount_minor[0]: "eq" is not one of gte, gt, lte, lt`},
		{`"amount_minor": ["gte", "lte"]`, `"amount_minor": null`, `streams[0].query.range_filters.amount_minor: must list at least one of gte, gt, lte, lt`},

		{brief, `"brief"`, `streams[0].views[0]: must be an object`},
		{`[` + brief + `]`, brief, `streams[0].views: must be a list`},
		{brief, `{"label": "Brief", "fields": ["id"]}`, `streams[0].views[0].id: is required`},
		{brief, `{"id": "b[]", "fields": ["id"]}`, `streams[0].views[0].id: "b[]" is not a view name: 1 to 128 bytes without control characters and without [ ] ,`},
		{brief, brief + `,` + brief, `streams[0].views[1].id: there is already a view "brief"`},
		{brief, `{"id": "brief", "fields": ["nope"]}`, `streams[0].views[0].fields[0]: field "nope" is not declared in schema.properties`},
		{brief, `{"id": "brief"}`, `streams[0].views[0].fields: is required`},

		{aggs, `"aggregations": {"count": false,`, `streams[0].query.aggregations.count: may only be true; leave it out otherwise`},
		{
			aggs, `"aggregations": {"median": [],`,
			`streams[0].query.aggregations.median: is not an aggregation; known are count, sum, min, max, group_by, group_by_time, count_distinct`,
		},
		{`"sum": ["amount_minor"]`, `"sum": ["memo"]`, `streams[0].query.aggregations.sum[0]: field "memo" must be an integer or a number`},
		{`"sum": ["amount_minor"]`, `"sum": []`, `streams[0].query.aggregations.sum: must be a list with at least one name`},
		{`"sum": ["amount_minor"]`, `"sum": ["amount_minor", "amount_minor"]`, `streams[0].query.aggregations.sum[1]: "amount_minor" is listed twice`},
		{
			`"min": ["posted_at"]`, `"min": ["memo"]`,
			`streams[0].query.aggregations.min[0]: field "memo" must be an integer, a number, or a string with format date or date-time`,
		},
		{`"group_by": ["memo"]`, `"group_by": ["scan"]`, `streams[0].query.aggregations.group_by[0]: field "scan" must be of exactly one scalar type`},
		{
			`"group_by_time": ["posted_at"]`, `"group_by_time": ["amount_minor"]`,
			`streams[0].query.aggregations.group_by_time[0]: field "amount_minor" must be a string with format date or date-time`,
		},
		{
			`"count_distinct": ["memo"]`, `"count_distinct": ["scan"]`,
			`streams[0].query.aggregations.count_distinct[0]: field "scan" must be of exactly one scalar type`,
		},

		{`"lexical_fields": ["memo", "note"]`, `"lexical_fields": []`, `streams[0].query.search.lexical_fields: must be a list with at least one name`},
		{
			`"lexical_fields": ["memo", "note"]`, `"lexical_fields": ["amount_minor"]`,
			`streams[0].query.search.lexical_fields[0]: field "amount_minor" must be a string`,
		},
		{`"semantic_fields": ["note"]`, `"semantic_fields": ["scan"]`, `streams[0].query.search.semantic_fields[0]: field "scan" must be a string`},

		{
			`"primary-text"`, `"primary-title"`,
			`streams[0].schema.properties.note.x_pdpp_role: role "primary-title" is already on field "memo"; one field per stream may have it`,
		},
		{`"x_pdpp_type": "money"`, `"x_pdpp_type": 1`, `streams[0].schema.properties.amount_minor.x_pdpp_type: must be a string`},

		{rel, strings.Replace(rel, `"has_many"`, `"many"`, 1), `streams[0].relationships[0].cardinality: "many" is not one of has_many, has_one` +
			"\n" + `streams[0].query.expand[0].default_limit: a has_one relationship cannot have limits` +
			"\n" + `streams[0].query.expand[0].max_limit: a has_one relationship cannot have limits`},
		{rel, rel + `,` + rel, `streams[0].relationships[1].name: there is already a relationship "receipts"`},
		{rel2, `"entry"`, `streams[1].relationships[0]: must be an object`},
		{rel2, strings.Replace(rel2, `"name": "entry"`, `"name": "en.try"`, 1), `streams[1].relationships[0].name: "en.try" is not a relationship name: it contains a dot`},
		{rel2, strings.Replace(rel2, `"stream": "entries", `, ``, 1), `streams[1].relationships[0].stream: is required`},
		{rel2, strings.Replace(rel2, `"entries"`, `"lines"`, 1), `streams[1].relationships[0].stream: there is no stream "lines" in this manifest`},
		{
			rel, strings.Replace(rel, `"entry_id"`, `"posted_at"`, 1),
			`streams[0].relationships[0].foreign_key: field "posted_at" is not declared in schema.properties of the related stream "receipts"`,
		},
		{
			rel, strings.Replace(rel, `"entry_id"`, `"tags"`, 1),
			`streams[0].relationships[0].foreign_key: field "tags" of the related stream "receipts" must be of exactly one scalar type`,
		},
		{exp, `["receipts"]`, `streams[0].query.expand[0]: must be an object`},
		{exp, `[{"relation": "receipts"}]`, `streams[0].query.expand[0].name: is required`},
		{exp, `[{"name": "scans"}]`, `streams[0].query.expand[0].name: there is no relationship "scans" in this stream`},
		{exp, `[{"name": "receipts"}, {"name": "receipts"}]`, `streams[0].query.expand[1].name: relationship "receipts" is listed twice`},
		{exp, `[{"name": "receipts", "max_limit": 101}]`, `streams[0].query.expand[0].max_limit: is 101; at most 100 is allowed`},
		{exp, `[{"name": "receipts", "max_limit": 0}]`, `streams[0].query.expand[0].max_limit: must be a whole number of at least 1`},
		{exp, `[{"name": "receipts", "default_limit": 60}]`, `streams[0].query.expand[0].default_limit: is 60, more than max_limit, which is 50`},
		{exp, `[{"name": "receipts", "default_limit": 1.5}]`, `streams[0].query.expand[0].default_limit: must be a whole number of at least 1`},
		{
			`"cardinality": "has_one"}]`, `"cardinality": "has_one"}], "query": {"expand": [{"name": "entry", "max_limit": 1}]}`,
			`streams[1].query.expand[0].max_limit: a has_one relationship cannot have limits`,
		},

		{memo, `"id": {"type": "string"}`, `streams[0].schema.properties.id: duplicate key "id"`},
		{`"protocol_version": "0.1.0"`, `"x": [{"a": 1, "\u0061": 2}]`, `x[0].a: duplicate key "a"`},
		{`"protocol_version": "0.1.0",`, "\n \"x\" 1,", `manifest: is not valid JSON at line 2, column 6: invalid character '1' after object key`},
	} {
		t.Run(strings.SplitN(c.want, "\n", 2)[0], func(t *testing.T) {
			if got := refusal(t, edit(t, c.old, c.new)); got != c.want {
				t.Errorf("message:\n%s\nwant:\n%s", got, c.want)
			}
		})
	}
}

// TestRefusedInWrapper checks that paths start at the top of the input.
func TestRefusedInWrapper(t *testing.T) {
	wrapped := func(decl []byte) []byte {
		return fmt.Appendf(nil, `{"connector_key":"other","source_declaration":%s}`, decl)
	}
	got := refusal(t, wrapped(edit(t, `"append_only"`, `"log"`)))
	if want := `source_declaration.streams[0].semantics: "log" is not one of append_only, mutable_state`; got != want {
		t.Errorf("message: %s", got)
	}
	got = refusal(t, wrapped(edit(t, `"display": {"name"`, `"connector_key": "mine", "display": {"name"`)))
	if want := `source_declaration.connector_key: "mine" differs from "other", the connector_key of the wrapper`; got != want {
		t.Errorf("message: %s", got)
	}
}

// TestForm tests the limits of the JSON text.
func TestForm(t *testing.T) {
	nested := func(depth int) []byte {
		lists := depth - 1 // the manifest itself is the first level
		return edit(t, `"protocol_version": "0.1.0"`, `"x": `+strings.Repeat("[", lists)+strings.Repeat("]", lists))
	}
	if _, err := Parse(nested(maxDepth)); err != nil {
		t.Errorf("%d levels: %v", maxDepth, err)
	}
	long := append(readExample(t, "ledgerly.json"), bytes.Repeat([]byte(" "), maxInput)...)
	if _, err := Parse(long[:maxInput]); err != nil {
		t.Errorf("%d bytes: %v", maxInput, err)
	}
	for _, c := range []struct {
		raw  []byte
		want string
	}{
		{long[:maxInput+1], "manifest: has 8388609 bytes; at most 8388608 are allowed"},
		{edit(t, "Ledgerly", "\xff"), "manifest: is not valid UTF-8"},
		{nested(maxDepth + 1), "x" + strings.Repeat("[0]", 63) + ": is nested too deeply; at most 64 levels are allowed"},
		{[]byte(strings.Repeat("[", 20_000)), "manifest: is not valid JSON"},
		{nil, "manifest: is not valid JSON at line 1, column 1: unexpected end of JSON input"},
		{[]byte(`{} {}`), "manifest: is not valid JSON at line 1, column 4:"},
		{[]byte(`[]`), "manifest: must be an object"},
		{[]byte(`null`), "manifest: is required"},
	} {
		if got := refusal(t, c.raw); !strings.HasPrefix(got, c.want) {
			t.Errorf("message %q, want %q", got, c.want)
		}
	}
}

// TestManyProblems checks that one run reports several problems, up to a limit.
func TestManyProblems(t *testing.T) {
	var views []string
	for i := range 33 {
		views = append(views, fmt.Sprintf(`{"id":"v%d","fields":["gone"]}`, i))
	}
	raw := edit(t, `{"id": "brief", "label": "Brief", "fields": ["id", "memo"]}`, strings.Join(views, ","))
	lines := strings.Split(refusal(t, raw), "\n")
	if len(lines) != maxProblems+1 || lines[maxProblems] != "and 13 more" {
		t.Fatalf("%d lines, last line %q", len(lines), lines[len(lines)-1])
	}
	for i, line := range lines[:maxProblems] {
		if want := fmt.Sprintf("streams[0].views[%d].fields[0]: ", i); !strings.HasPrefix(line, want) {
			t.Errorf("line %d: %s", i, line)
		}
	}
}

// TestMessageLines checks that no value of the manifest adds a line to a message.
func TestMessageLines(t *testing.T) {
	got := refusal(t, edit(t, `"cursor_field": "posted_at"`, `"cursor_field": "x\nmanifest: fine"`))
	if strings.Contains(got, "\n") {
		t.Errorf("message: %q", got)
	}
	got = refusal(t, edit(t, `"protocol_version": "0.1.0"`, `"`+strings.Repeat("é", 5000)+`": {"a": 1, "a": 2}`))
	if len(got) > 1000 || !strings.Contains(got, "…") {
		t.Errorf("message has %d bytes", len(got))
	}
}
