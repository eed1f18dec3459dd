package schemadoc_test

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/schemadoc"
)

func TestFlags(t *testing.T) {
	all := schemadoc.FieldCaps{
		Type: "timestamp", JSONTypes: []string{"string", "null"}, Format: "date-time", Role: pdpp.RoleEventTime, Exact: true,
		Range: []pdpp.Op{pdpp.OpGte, pdpp.OpGt, pdpp.OpLte, pdpp.OpLt}, Lexical: true, Semantic: true,
		Aggregations: []string{"count_distinct", "group_by", "group_by_time", "max", "min", "sum"}, Blob: true,
	}
	for _, tc := range []struct {
		caps schemadoc.FieldCaps
		want string
	}{
		{schemadoc.FieldCaps{}, "declared"},
		{schemadoc.FieldCaps{JSONTypes: []string{"string", "integer"}}, "t=string|integer"},
		{schemadoc.FieldCaps{Type: "money"}, "t=money"},
		{schemadoc.FieldCaps{Type: "money", JSONTypes: []string{"integer", "null"}}, "t=money,j=integer|null"},
		{schemadoc.FieldCaps{JSONTypes: []string{"string"}, Format: "uri"}, "t=string,fmt=uri"},
		{schemadoc.FieldCaps{Range: []pdpp.Op{pdpp.OpLt}}, "r=lt"},
		{schemadoc.FieldCaps{Role: "a;b,c[d]e{f}g=h i\tj\u00a0k|l"}, "role=a_b_c_d_e_f_g_h_i_j_k|l"},
		{schemadoc.FieldCaps{Type: "a b", Format: "x=y"}, "t=a_b,fmt=x_y"},
		{
			schemadoc.FieldCaps{JSONTypes: []string{"string"}, NotGranted: true, Unusable: map[string]string{"eq": "field_not_granted", "r": "a=b", "lex": "x", "sem": "no backend", "a": "later"}},
			"t=string,g=false,eq=unusable:field_not_granted,r=unusable:a_b,lex=unusable:x,sem=unusable:no_backend,a=unusable:later",
		},
		{all, "t=timestamp,role=event-time,eq,r=gte|gt|lte|lt,lex,sem," +
			"a=count_distinct|group_by|group_by_time|max|min|sum,j=string|null,fmt=date-time,blob"},
	} {
		if got := schemadoc.Flags(tc.caps); got != tc.want {
			t.Errorf("Flags(%+v) = %q, want %q", tc.caps, got, tc.want)
		}
	}
}

// flagGrammar is the grammar of X-15: tokens in order, values without separators.
var flagGrammar = regexp.MustCompile(`^(declared|` +
	`(t=V(,|$))?(role=V(,|$))?(eq(,|$))?(lex(,|$))?(j=V(,|$))?(fmt=V(,|$))?)$`)

func TestFlagsGrammar(t *testing.T) {
	value := regexp.MustCompile(`=[^;,\[\]{}=\s]+`)
	rapid.Check(t, func(rt *rapid.T) {
		text := rapid.StringOfN(rapid.RuneFrom([]rune("ab;,[]{}= \t\n|é")), 0, 6, -1)
		caps := schemadoc.FieldCaps{
			Type: text.Draw(rt, "type"), Role: pdpp.Role(text.Draw(rt, "role")), Format: text.Draw(rt, "format"),
			JSONTypes: rapid.SliceOfN(rapid.SampledFrom([]string{"string", "null", "integer"}), 0, 2).Draw(rt, "types"),
			Exact:     rapid.Bool().Draw(rt, "exact"), Lexical: rapid.Bool().Draw(rt, "lexical"),
		}
		got := schemadoc.Flags(caps)
		if !flagGrammar.MatchString(value.ReplaceAllString(got, "=V")) || strings.HasSuffix(got, ",") {
			rt.Fatalf("Flags(%+v) = %q, outside the grammar", caps, got)
		}
	})
}

func TestLegend(t *testing.T) {
	const line = "t=type | role=display role | eq=exact filter | r=range filter operators | lex=lexical search | " +
		"sem=semantic search | a=aggregations | j=JSON type | fmt=format | blob=file reference | g=false=not granted | " +
		"=unusable:<why> declared but not usable | declared=readable only"
	if got := schemadoc.LegendLine("t=string,role=actor,eq,r=gte,lex", "sem,a=sum,j=string,fmt=date", "blob,g=false", "eq=unusable:why", "declared"); got != line {
		t.Errorf("LegendLine of all tokens = %q, want that of MS-89", got)
	}
	if got, want := schemadoc.LegendLine("eq,tx=1", "lexical"), "eq=exact filter"; got != want {
		t.Errorf("LegendLine of some flags = %q, want %q", got, want)
	}
	if got := schemadoc.LegendLine(); got != "" {
		t.Errorf("LegendLine of no flags = %q", got)
	}
	var object map[string]string
	if err := json.Unmarshal(schemadoc.AppendLegend(nil), &object); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(line, " | ") + 1; len(object) != n {
		t.Errorf("legend object has %d members, want %d", len(object), n)
	}
	for token, meaning := range object {
		if !strings.Contains(line, token+"="+meaning) && !strings.Contains(line, token+" "+meaning) {
			t.Errorf("legend object[%q] = %q, which is not in the line", token, meaning)
		}
	}
}
