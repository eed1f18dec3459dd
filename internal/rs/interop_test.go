package rs_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

// recordings is the folder of answers recorded from the public implementation.
const recordings = "../../../shared/interop"

// recording is one request and its answer, as it was recorded.
type recording struct {
	Request string            `json:"request"`
	Status  int               `json:"status"`
	Headers map[string]string `json:"headers"`
	Body    any               `json:"body"`
}

func readRecording(t *testing.T, name string) recording {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(recordings, name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recorded answers are not available")
	}
	if err != nil {
		t.Fatal(err)
	}
	var r recording
	if err := json.Unmarshal(raw, &r); err != nil {
		t.Fatal(err)
	}
	return r
}

// comparison has the request that corresponds to a recorded answer. Our answer may lack the
// paths in except, for the reasons given there.
type comparison struct {
	target string
	status int // if it differs from the recorded one
	except map[string]string
}

var deprecatedName = "C-7: the deprecated name appears in no body"

var comparisons = map[string]comparison{
	"streams": {target: "/v1/streams", except: map[string]string{
		"data.0.connector_instance_id": deprecatedName,
		"data.0.freshness":             "S-2 has last_updated instead",
	}},
	"records-limit3": {target: "/v1/streams/entries/records?connection_id=cin_a1&limit=1", except: map[string]string{
		"data.0.connector_instance_id": deprecatedName,
	}},
	"record": {target: "/v1/streams/entries/records/ent_31?connection_id=cin_a1", except: map[string]string{
		"connector_instance_id": deprecatedName,
		"record_json_bytes":     "REC-1 has no such key; its adapter does not read it",
	}},
	"schema-compact": {target: "/v1/schema?view=compact", except: map[string]string{
		"connectors.0.streams.0.field_capabilities":  "IO-18: index rows have no flags",
		"connectors.0.streams.0.expand_capabilities": "IO-18: index rows name streams only",
		"connectors.0.streams.0.primary_key":         "IO-18: index rows name streams only",
	}},
	"aggregate-count":                {target: "/v1/streams/entries/aggregate?connection_id=cin_a1&metric=count"},
	"aggregate-group":                {target: "/v1/streams/entries/aggregate?connection_id=cin_a1&metric=count&group_by=memo", except: map[string]string{"groups.0.key": "the recorded key is a boolean"}},
	"aggregate-month":                {target: "/v1/streams/entries/aggregate?connection_id=cin_a1&metric=count&group_by_time=posted_at&granularity=month"},
	"schema-stream":                  {target: "/v1/schema?view=compact&stream=entries"},
	"err-bad-cursor":                 {target: "/v1/streams/entries/records?connection_id=cin_a1&cursor=%21%21"},
	"err-missing-record":             {target: "/v1/streams/entries/records/zzz?connection_id=cin_a1"},
	"err-slack-field-not-granted":    {target: "/v1/streams/entries/records?fields=id%2Cnote"},
	"err-out-of-grant":               {target: "/v1/streams/threads/records?", status: 403, except: map[string]string{"error.resource_metadata": "R3: a scope problem is a 403, whose body has none (C-19)"}},
	"records-filter-client-rejected": {target: "/v1/streams/entries/records?filter%5Bscan%5D=true&connection_id=cin_a1"},
}

// interopWorld returns a ledger and a token that does not read notes.
func interopWorld(t *testing.T) (*resttest.World, string) {
	t.Helper()
	w := ledger(t)
	w.Ingest("cin_a1", "entries", `{"key":"ent_28","data":{"id":"ent_28","memo":"Tea","posted_at":"2026-01-01"}}`)
	return w, first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[
		{"name":"entries","fields":["id","memo","amount_minor","posted_at","scan"]},{"name":"receipts"}]}`))
}

// TestAnswersHaveRecordedShapes: our answers have every key of the recorded ones, with values
// of the same type (IO-16).
func TestAnswersHaveRecordedShapes(t *testing.T) {
	w, tok := interopWorld(t)
	for _, name := range slices.Sorted(maps.Keys(comparisons)) {
		t.Run(name, func(t *testing.T) {
			c, theirs := comparisons[name], readRecording(t, name)
			compareRecorded(t, w.Get(tok, c.target), theirs, c)
		})
	}
	t.Run("records-page2", func(t *testing.T) {
		cursor, _ := w.Get(tok, "/v1/streams/entries/records?connection_id=cin_a1&limit=1").At("next_cursor").(string)
		compareRecorded(t, w.Get(tok, "/v1/streams/entries/records?connection_id=cin_a1&limit=1&cursor="+cursor), readRecording(t, "records-page2"),
			comparisons["records-limit3"])
	})
	t.Run("401-rest-badtoken", func(t *testing.T) {
		theirs := readRecording(t, "401-rest-badtoken")
		a := w.Get("pdpp_at_unknown", "/v1/schema")
		compareRecorded(t, a, theirs, comparison{})
		if challengeOf(a)["resource_metadata"] == "" {
			t.Errorf("challenge %v, want resource_metadata", challengeOf(a))
		}
	})
}

func compareRecorded(t *testing.T, a resttest.Answer, theirs recording, c comparison) {
	t.Helper()
	want := theirs.Status
	if c.status != 0 {
		want = c.status
	}
	if a.Status != want {
		t.Errorf("status %d, want %d: %s", a.Status, want, a.Body)
	}
	for name := range theirs.Headers {
		if a.Header.Get(name) == "" {
			t.Errorf("header %s is missing", name)
		}
	}
	var ours any
	if err := json.Unmarshal(a.Body, &ours); err != nil {
		t.Fatal(err)
	}
	unused := maps.Clone(c.except)
	for _, problem := range missingFrom(ours, theirs.Body, "", unused) {
		t.Error(problem)
	}
	for path := range unused {
		t.Errorf("the exception %s is not needed", path)
	}
}

// missingFrom returns what our answer lacks. It compares keys and types, and the first element
// of lists. It removes the exceptions that apply from except.
func missingFrom(ours, theirs any, path string, except map[string]string) []string {
	if _, ok := except[path]; ok && path != "" {
		delete(except, path)
		return nil
	}
	if theirs == nil || strings.HasSuffix(path, "data") && !isList(theirs) {
		return nil // no type to compare with; a record's payload is its own
	}
	if a, b := kindOf(ours), kindOf(theirs); a != b {
		return []string{fmt.Sprintf("%s is %s, recorded is %s", path, a, b)}
	}
	var out []string
	switch theirs := theirs.(type) {
	case map[string]any:
		if strings.HasSuffix(path, "field_capabilities") {
			return nil // keyed by the fields of the data
		}
		for _, key := range slices.Sorted(maps.Keys(theirs)) {
			at := strings.TrimPrefix(path+"."+key, ".")
			value, ok := ours.(map[string]any)[key]
			if _, excepted := except[at]; !ok && !excepted {
				out = append(out, at+" is missing")
				continue
			}
			out = append(out, missingFrom(value, theirs[key], at, except)...)
		}
	case []any:
		if list := ours.([]any); len(theirs) > 0 && len(list) > 0 {
			out = missingFrom(list[0], theirs[0], path+".0", except)
		} else if len(theirs) > 0 {
			out = append(out, path+" is empty")
		}
	}
	return out
}

func isList(v any) bool { _, ok := v.([]any); return ok }

func kindOf(v any) string {
	switch v.(type) {
	case map[string]any:
		return "object"
	case []any:
		return "list"
	case string:
		return "string"
	case float64:
		return "number"
	case bool:
		return "boolean"
	}
	return "null"
}

// TestInteropRequestForms has the spellings of requests that the public adapter uses (IO-15).
func TestInteropRequestForms(t *testing.T) {
	w, tok := interopWorld(t)
	const list = "/v1/streams/entries/records"
	data := func(target string) string {
		t.Helper()
		return jsonOf(w.Get(tok, target).OK().At("data"))
	}
	for want, forms := range map[string][]string{
		list + "?fields=id,memo":                 {"?fields=id&fields=memo", "?fields[]=id&fields[]=memo", "?fields%5B%5D=id&fields=memo,id"},
		list + "?filter[memo]=April+rent":        {"?filter%5Bmemo%5D=April%20rent"},
		list + "?connection_id=cin_a1":           {"?connector_instance_id=cin_a1", "?connector_id=ledgerly&connection_id=cin_a1"},
		list + "?expand=receipts":                {"?expand[]=receipts", "?expand%5B%5D=receipts&expand_limit%5Breceipts%5D=10"},
		list + "?filter[posted_at][gte]=2026-04": nil,
	} {
		if forms == nil {
			if a := w.Get(tok, want); a.Status != 400 {
				t.Errorf("%s: status %d, want 400", want, a.Status)
			}
			continue
		}
		for _, form := range forms {
			if diff := cmp.Diff(data(want), data(list+form)); diff != "" {
				t.Errorf("%s differs from %s:\n%s", form, want, diff)
			}
		}
	}
	w.Get(tok, "/v1/schema?stream=entries&detail=full&connector_instance_id=cin_a1").OK()
}

// TestInteropSchemaKeys: the schema has what the public adapter reads, all keys of X-9 and
// both names of each key of X-10 (IO-18).
func TestInteropSchemaKeys(t *testing.T) {
	w, tok := interopWorld(t)
	a := w.Get(tok, "/v1/schema?stream=entries&detail=full&connection_id=cin_a1").OK()
	row := a.At("connectors.0.streams.0").(map[string]any)
	field := row["field_capabilities"].(map[string]any)["posted_at"].(map[string]any)
	want := []string{"aggregation", "exact_filter", "granted", "lexical_search", "range_filter", "role", "schema", "semantic_search", "type"}
	if diff := cmp.Diff(want, slices.Sorted(maps.Keys(field))); diff != "" {
		t.Errorf("field_capabilities differ (-want +got):\n%s", diff)
	}
	metrics := []string{"count_distinct", "group_by", "group_by_time", "max", "min", "sum"}
	if diff := cmp.Diff(metrics, slices.Sorted(maps.Keys(field["aggregation"].(map[string]any)))); diff != "" {
		t.Errorf("aggregation differs (-want +got):\n%s", diff)
	}
	relation := row["expand_capabilities"].([]any)[0].(map[string]any)
	for a, b := range map[string]string{"stream": "target_stream", "foreign_key": "child_parent_key_field"} {
		if relation[a] == nil || relation[a] != relation[b] {
			t.Errorf("%s = %v, %s = %v, want the same value", a, relation[a], b, relation[b])
		}
	}
	if string(a.Body) != strings.ReplaceAll(string(a.Body), "connector_instance_id", "") {
		t.Error("the deprecated name is in the schema")
	}
}

// TestInteropEnvelopes has the envelopes that the public adapter relies on (IO-16).
func TestInteropEnvelopes(t *testing.T) {
	w, tok := interopWorld(t)
	w.Ingest("cin_b2", "entries", `{"key":"ent_31","data":{"id":"ent_31"}}`)
	if retry := w.Get(tok, "/v1/streams/entries/records/ent_31").At("error.retry_with"); retry != "connection_id" {
		t.Errorf("retry_with is %v, want a string", retry)
	}
	one := w.Get(tok, "/v1/streams/entries/records/ent_30").OK()
	if one.At("object") != "record" || one.At("links.self") == nil || one.At("meta.count.kind") != "none" || one.At("data.object") != nil {
		t.Errorf("a single object is not flat: %s", one.Body)
	}
	list := w.Get(tok, "/v1/streams/entries/records?limit=1").OK()
	next, _ := list.At("links.next").(string)
	cursor, _ := list.At("next_cursor").(string)
	if list.At("object") != "list" || cursor == "" || !strings.Contains(next, "cursor="+cursor) {
		t.Errorf("next_cursor or links.next is missing: %s", list.Body)
	}
	w.Get(tok, next).OK()
	if a := w.Get(tok, "/v1/streams", "Request-Id: abc-1"); a.Header.Get("Request-Id") != "abc-1" {
		t.Errorf("Request-Id %q, want abc-1", a.Header.Get("Request-Id"))
	}
}
