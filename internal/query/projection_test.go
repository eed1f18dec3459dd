package query

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

func TestProject(t *testing.T) { // REC-15 to REC-17
	some := []string{"id", "title", "qty"}
	for _, tc := range []struct {
		name  string
		raw   string
		grant []string // nil: owner
		want  Projection
		bad   fault
	}{
		{"owner", "", nil, Projection{All: true}, fault{}},
		{"client", "", some, Projection{Names: []string{"id", "title", "qty"}}, fault{}},
		{"fields in their order", "fields=qty,id", some, Projection{Ordered: true, Names: []string{"qty", "id"}}, fault{}},
		{"owner's fields", "fields=a.b&fields=id", nil, Projection{Ordered: true, Names: []string{"a.b", "id"}}, fault{}},
		{"view cut to the grant", "view=brief", some, Projection{Ordered: true, Names: []string{"title", "id"}}, fault{}},
		{"undeclared", "fields=id,nope", some, Projection{}, fault{pdpp.CodeUnknownField, "fields", "nope"}},
		{"undeclared, owner", "fields=nope", nil, Projection{}, fault{pdpp.CodeUnknownField, "fields", "nope"}},
		{"ungranted", "fields=id,total", some, Projection{}, fault{pdpp.CodeFieldNotGranted, "fields", "total"}},
		{"undeclared before ungranted", "fields=total,nope", some, Projection{}, fault{pdpp.CodeUnknownField, "fields", "nope"}},
		{"unknown view", "view=nope", some, Projection{}, fault{pdpp.CodeInvalidRequest, "view", ""}},
		{"view without a granted field", "view=money", []string{"id"}, Projection{}, fault{pdpp.CodeFieldNotGranted, "view", ""}},
		{"view and fields", "view=brief&fields=id", some, Projection{}, fault{pdpp.CodeInvalidRequest, "view", ""}},
		{"too many", "fields=" + strings.Join(numbered(257), ","), nil, Projection{}, fault{pdpp.CodeInvalidRequest, "fields", ""}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			s, err := parse(t, tc.raw).Selection()
			var got Projection
			if err == nil {
				got, err = Project(s, orders(t, tc.grant...))
			}
			if diff := cmp.Diff(tc.want, got, cmp.AllowUnexported(Projection{})); diff != "" || faultOf(err) != tc.bad {
				t.Errorf("Project(%q): %v, want %+v\n%s", tc.raw, err, tc.bad, diff)
			}
		})
	}
}

func numbered(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("f", i))
	}
	return out
}

func TestShows(t *testing.T) {
	p, err := Project(Selection{Fields: []string{"qty", "id"}}, orders(t))
	if err != nil {
		t.Fatal(err)
	}
	if !p.Shows("qty") || p.Shows("title") {
		t.Errorf("Shows(qty) = %t, Shows(title) = %t", p.Shows("qty"), p.Shows("title"))
	}
	if all := (Projection{All: true}); !all.Shows("title") {
		t.Error("an owner's projection hides something")
	}
}

func TestPreferences(t *testing.T) { // REC-38
	for _, tc := range []struct {
		headers []string
		route   PreferenceSet
		want    Preferences
		applied string
	}{
		{nil, ListPreferences, Preferences{}, ""},
		{
			[]string{"pdpp-field-preview=2048, pdpp-page-bytes=65536"},
			ListPreferences,
			Preferences{FieldPreview: 2048, PageBytes: 65536},
			"pdpp-field-preview=2048, pdpp-page-bytes=65536",
		},
		{
			[]string{"pdpp-page-bytes=4096", `PDPP-Field-Preview="64"; x=y`},
			ListPreferences,
			Preferences{FieldPreview: 64, PageBytes: 4096},
			"pdpp-field-preview=64, pdpp-page-bytes=4096",
		},
		{[]string{"pdpp-page-bytes=65536, pdpp-hit-preview=120"}, RecordPreferences, Preferences{}, ""},
		{[]string{"pdpp-field-preview=63, pdpp-page-bytes=4095"}, ListPreferences, Preferences{}, ""},
		{[]string{"pdpp-field-preview=65537, pdpp-page-bytes=8388609"}, ListPreferences, Preferences{}, ""},
		{
			[]string{"pdpp-field-preview=65536, pdpp-page-bytes=8388608"},
			ListPreferences,
			Preferences{FieldPreview: 65536, PageBytes: 8388608},
			"pdpp-field-preview=65536, pdpp-page-bytes=8388608",
		},
		{[]string{"pdpp-field-preview=many, return=minimal, pdpp-field-preview"}, ListPreferences, Preferences{}, ""},
		{[]string{"pdpp-field-preview=100, pdpp-field-preview=200"}, ListPreferences, Preferences{FieldPreview: 100}, "pdpp-field-preview=100"}, // RFC 7240 §2: the first counts
		{
			[]string{"pdpp-page-bytes=4096, pdpp-hit-preview=120, pdpp-field-preview=100"},
			SearchPreferences,
			Preferences{HitPreview: 120, PageBytes: 4096},
			"pdpp-hit-preview=120, pdpp-page-bytes=4096",
		},
		{[]string{"pdpp-hit-preview=63, pdpp-hit-preview=321"}, SearchPreferences, Preferences{}, ""},
		{[]string{"pdpp-hit-preview=120"}, ListPreferences, Preferences{}, ""},
	} {
		got := tc.route.Parse(tc.headers)
		if got != tc.want || got.Applied() != tc.applied {
			t.Errorf("Parse(%q) = %+v applied as %q, want %+v as %q", tc.headers, got, got.Applied(), tc.want, tc.applied)
		}
	}
}
