package manifest

import (
	"encoding/json"
	"errors"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
)

// FuzzParse checks that no input makes the parser panic, that every error has the same
// code, and that parsing Raw again returns an equal manifest.
func FuzzParse(f *testing.F) {
	for _, name := range []string{"ledgerly.json", "postbox.json"} {
		f.Add(readExample(f, name))
	}
	f.Add(manifestOf(streamOf("s", `{"$defs":{"a":{"$ref":"#/$defs/a"}},"properties":{"f0":{"$ref":"#/$defs/a"}}}`)))
	f.Add(manifestOf(streamOf("s", `{"$defs":{"a":true},"properties":{"f0":{"$ref":"#/$defs/a","type":"string","\u2028<":1}}}`)))
	f.Add([]byte(`{"streams":[{"schema":{"properties":{"a":{"$ref":"#/%zz"}}}}]}`))
	f.Fuzz(func(t *testing.T, raw []byte) { checkParse(t, raw) })
}

// TestMutatedExamples parses valid JSON with some values in the wrong place, which
// random bytes rarely produce.
func TestMutatedExamples(t *testing.T) {
	var docs []any
	for _, name := range []string{"ledgerly.json", "postbox.json"} {
		var doc any
		if err := json.Unmarshal(readExample(t, name), &doc); err != nil {
			t.Fatal(err)
		}
		docs = append(docs, doc)
	}
	spare := []any{
		nil, true, false, 0.0, 7.0, "", "id", "memo", "object", "#/$defs/file",
		[]any{},
		[]any{"id"},
		map[string]any{},
		map[string]any{"type": "string"},
		map[string]any{"$ref": "#/$defs/instant"},
	}
	rapid.Check(t, func(rt *rapid.T) {
		doc := rapid.SampledFrom(docs).Draw(rt, "example")
		for range rapid.IntRange(1, 3).Draw(rt, "edits") {
			doc = mutate(rt, doc, rapid.SampledFrom(spare).Draw(rt, "spare"))
		}
		raw, err := json.Marshal(doc)
		if err != nil {
			rt.Fatal(err)
		}
		checkParse(rt, raw)
	})
}

// mutate returns a copy of v in which one value, found by a random descent, is
// replaced by spare.
func mutate(t *rapid.T, v, spare any) any {
	switch v := v.(type) {
	case map[string]any:
		if len(v) == 0 {
			return spare
		}
		key := rapid.SampledFrom(slices.Sorted(maps.Keys(v))).Draw(t, "key")
		out := maps.Clone(v)
		out[key] = mutate(t, v[key], spare)
		return out
	case []any:
		if len(v) == 0 {
			return spare
		}
		i := rapid.IntRange(0, len(v)-1).Draw(t, "item")
		out := slices.Clone(v)
		out[i] = mutate(t, v[i], spare)
		return out
	}
	return spare
}

// failer is implemented by testing.T and rapid.T.
type failer interface {
	Helper()
	Fatalf(format string, args ...any)
	Fatal(args ...any)
}

// checkParse checks the properties that hold for any input.
func checkParse(t failer, raw []byte) {
	t.Helper()
	m, err := Parse(raw)
	if err != nil {
		var e *pdpp.Error
		if !errors.As(err, &e) || e.Code != pdpp.CodeInvalidInput || e.Message == "" || m != nil {
			t.Fatalf("error = %#v", err)
		}
		if n := strings.Count(e.Message, "\n"); n > maxProblems {
			t.Fatalf("%d lines", n+1)
		}
		return
	}
	again, err := Parse(m.Raw)
	if err != nil {
		t.Fatalf("Parse of Raw: %v", err)
	}
	if !reflect.DeepEqual(m, again) {
		t.Fatalf("Parse of Raw returns another manifest:\n%s", m.Raw)
	}
	checkAccepted(t, m)
}

// checkAccepted checks the properties that users of a manifest rely on.
func checkAccepted(t failer, m *pdpp.Manifest) {
	t.Helper()
	if !m.ConnectorKey.Valid() || m.SourceKind != "connector" || m.SourceID == "" || m.Version == "" {
		t.Fatalf("identity %q %q %q %q", m.ConnectorKey, m.SourceKind, m.SourceID, m.Version)
	}
	for _, s := range m.Streams {
		if m.Stream(s.Name) != s || len(s.PrimaryKey) == 0 {
			t.Fatalf("stream %q", s.Name)
		}
		names := append([]string{}, s.PrimaryKey...)
		names = append(append(names, s.LexicalFields...), s.Required...)
		for _, v := range s.Views {
			names = append(names, v.Fields...)
		}
		for _, n := range names {
			if s.Field(n) == nil {
				t.Fatalf("stream %q names field %q", s.Name, n)
			}
		}
		for _, r := range s.RangeFilters {
			if f := s.Field(r.Field); f == nil || !f.Kind.IsOrdered() || len(r.Ops) == 0 {
				t.Fatalf("range filter %q", r.Field)
			}
		}
		for _, r := range s.Relations {
			if c := m.Stream(r.Stream); c == nil || c.Field(r.ForeignKey) == nil || c.Field(r.ForeignKey).Kind == pdpp.KindNone {
				t.Fatalf("relation %q", r.Name)
			}
		}
		if len(fullRow(t, s)) > maxRow {
			t.Fatalf("the row of %q is too large", s.Name)
		}
	}
}
