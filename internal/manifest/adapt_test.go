package manifest_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/manifest"
)

// A manifest of the public implementation is converted, and every change is reported
// (M-13).
func TestAdapt(t *testing.T) {
	raw, err := os.ReadFile("testdata/theirs.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := manifest.Parse(raw); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
		t.Fatalf("Parse = %v, want invalid_input", err)
	}
	m, changes, err := manifest.Adapt(raw)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"connector_id became source.id",
		"version became declaration_version",
		"display_name became display.name",
		`stream "shelves": primary_key became a list`,
		`stream "jars": semantics append became append_only`,
		`stream "jars": selection was added: fields and resources`,
		"not used here: capabilities, incremental, manifest_uri, runtime_requirements, state_stream",
		`stream "shelves": removed schema.properties.alias.x_pdpp_role: role "primary-title" is already on field "label"; one field per stream may have it`,
		`stream "shelves": removed schema.required[1]: field "gone" is not declared in schema.properties`,
		`stream "shelves": removed cursor_field: field "label" must be an integer, a number, or a string with format date or date-time`,
		`stream "shelves": removed views[0].fields[1]: field "gone" is not declared in schema.properties`,
		`stream "shelves": removed views[1].fields[0]: field "gone" is not declared in schema.properties`,
		`stream "shelves": removed views[1] "empty": must be a list with at least one name`,
		`stream "shelves": removed query.range_filters.label: field "label" must be an integer, a number, or a string with format date or date-time`,
		`stream "shelves": removed query.search.lexical_fields[1]: field "tags" must be a string`,
		`stream "shelves": removed query.aggregations.median: is not an aggregation; known are count, sum, min, max, group_by, group_by_time, count_distinct`,
		`stream "shelves": removed query.aggregations.sum[0]: field "tags" must be an integer or a number`,
		`stream "shelves": removed query.aggregations.sum: must be a list with at least one name`,
		`stream "jars": removed query.expand[0].max_limit: a has_one relationship cannot have limits`,
		`stream "shelves": removed relationships[1] "door": there is no stream "doors" in this manifest`,
		`stream "shelves": removed query.expand[1] "door": there is no relationship "door" in this stream`,
		`stream "jars": removed relationships[0] "shelf": field "shelf_id" is not declared in schema.properties of the related stream "shelves"`,
		`stream "jars": removed query.expand[0] "shelf": there is no relationship "shelf" in this stream`,
	}
	if diff := cmp.Diff(want, changes); diff != "" {
		t.Errorf("changes (-want +got)\n%s", diff)
	}
	if m.ConnectorKey != "pantry" || m.SourceID != "https://reg.acme.test/connectors/pantry" || m.Version != "0.3.0" || m.DisplayName != "Pantry" {
		t.Errorf("identity %q %q %q %q", m.ConnectorKey, m.SourceID, m.Version, m.DisplayName)
	}
	shelves := m.Stream("shelves")
	var order []string
	for _, f := range shelves.Fields {
		order = append(order, f.Name)
	}
	if diff := cmp.Diff([]string{"id", "label", "alias", "tags"}, order); diff != "" {
		t.Errorf("order of fields (-want +got)\n%s", diff)
	}
	if len(shelves.Relations) != 1 || !shelves.Relations[0].Expandable || m.Stream("jars").CursorField != "filled_on" {
		t.Errorf("relations %+v", shelves.Relations)
	}
	again, err := manifest.Parse(m.Raw)
	if err != nil || again.Digest != m.Digest {
		t.Errorf("Parse of Raw = %v", err)
	}
}

func TestAdaptErrors(t *testing.T) {
	const stream = `{"name":"s","semantics":"append","schema":{"type":"object","properties":{"id":{"type":"string"}}},"primary_key":["id"]}`
	wrap := func(s string) string {
		return `{"connector_id":"https://a.test/x","version":"1","streams":[` + s + `]}`
	}
	if _, _, err := manifest.Adapt([]byte(wrap(stream))); err != nil {
		t.Fatalf("the base is invalid: %v", err)
	}
	for name, raw := range map[string]string{
		"no key":        wrap(strings.Replace(stream, `"primary_key":["id"]`, `"primary_key":["gone"]`, 1)),
		"no schema":     wrap(strings.Replace(stream, `"schema"`, `"scheme"`, 1)),
		"no version":    strings.Replace(wrap(stream), `"version":"1",`, "", 1),
		"no streams":    `{"connector_id":"https://a.test/x","version":"1"}`,
		"duplicate key": `{"connector_id":"https://a.test/x","connector_id":"https://a.test/y","version":"1","streams":[` + stream + `]}`,
	} {
		if _, _, err := manifest.Adapt([]byte(raw)); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A manifest in this format is parsed without changes.
func TestAdaptKeepsThisFormat(t *testing.T) {
	raw, err := os.ReadFile("testdata/ledgerly.json")
	if err != nil {
		t.Fatal(err)
	}
	want, err := manifest.Parse(raw)
	if err != nil {
		t.Fatal(err)
	}
	got, changes, err := manifest.Adapt(raw)
	if err != nil || changes != nil || got.Digest != want.Digest {
		t.Errorf("Adapt = %v, %v, %v", got, changes, err)
	}
	bad := strings.Replace(string(raw), `"cursor_field"`, `"cursor_field":"gone","x"`, 1)
	if _, _, err := manifest.Adapt([]byte(bad)); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
		t.Errorf("an invalid manifest in this format: %v", err)
	}
}
