package query

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

func TestExpand(t *testing.T) { // REC-23, REC-24: the form
	bad := func(param string) fault { return fault{pdpp.CodeInvalidExpand, param, ""} }
	for _, tc := range []struct {
		raw  string
		want Expand
		bad  fault
	}{
		{"", Expand{}, fault{}},
		{"expand=lines,invoice&expand=lines", Expand{Relations: []string{"lines", "invoice"}}, fault{}},
		{"expand[]=lines&expand_limit[lines]=3", Expand{Relations: []string{"lines"}, Limits: map[string]string{"lines": "3"}}, fault{}},
		{"expand=lines.parts", Expand{}, bad("expand")},
		{"expand=a,b,c,d,e,f,g,h,i", Expand{}, bad("expand")},
		{"expand=", Expand{}, fault{pdpp.CodeInvalidRequest, "expand", ""}},
		{"expand_limit[lines]=3", Expand{}, bad("expand_limit")},
		{"expand=lines&expand_limit[invoice]=3", Expand{}, bad("expand_limit")},
		{"expand=lines&expand_limit=3", Expand{}, bad("expand_limit")},
		{"expand=lines&expand_limit[lines]=", Expand{}, bad("expand_limit")},
		{"expand=lines&expand_limit[lines]=1&expand_limit[lines]=1", Expand{}, bad("expand_limit")},
		{"expand=lines&expand_limit[lines][max]=1", Expand{}, bad("expand_limit")},
	} {
		got, err := parse(t, tc.raw).Expand()
		if diff := cmp.Diff(tc.want, got); err == nil && diff != "" || faultOf(err) != tc.bad {
			t.Errorf("Expand(%q): %v, want %+v\n%s", tc.raw, err, tc.bad, diff)
		}
	}
}

func TestExpansions(t *testing.T) { // REC-23 to REC-25: the meaning
	conns := []pdpp.ConnectionID{"cin_1"}
	parent := pdpp.GrantStream{Name: "orders", Connections: conns, Fields: []string{"id"}}
	lines := pdpp.GrantStream{Name: "lines", Connections: conns, Fields: []string{"id", "order_id"}}
	blind := pdpp.GrantStream{Name: "lines", Connections: conns, Fields: []string{"id", "text"}}
	bad := func(param string) fault { return fault{pdpp.CodeInvalidExpand, param, ""} }
	denied := fault{pdpp.CodeInsufficientScope, "expand", ""}
	for _, tc := range []struct {
		name   string
		raw    string
		grant  []pdpp.GrantStream // nil: owner
		limits []int
		bad    fault
	}{
		{"default limits", "expand=lines,invoice", nil, []int{3, 1}, fault{}},
		{"a limit", "expand=lines&expand_limit[lines]=20", nil, []int{20}, fault{}},
		{"granted", "expand=lines", []pdpp.GrantStream{parent, lines}, []int{3}, fault{}},
		{"too many", "expand=lines&expand_limit[lines]=21", nil, nil, bad("expand_limit")},
		{"none", "expand=lines&expand_limit[lines]=0", nil, nil, bad("expand_limit")},
		{"no number", "expand=lines&expand_limit[lines]=two", nil, nil, bad("expand_limit")},
		{"limit of one record", "expand=invoice&expand_limit[invoice]=1", nil, nil, bad("expand_limit")},
		{"undeclared", "expand=nope", nil, nil, bad("expand")},
		{"declared, not for expansion", "expand=silent", nil, nil, bad("expand")},
		{"stream not granted", "expand=lines", []pdpp.GrantStream{parent}, nil, denied},
		{"foreign key not granted", "expand=lines", []pdpp.GrantStream{parent, blind}, nil, denied},
		{"undeclared before ungranted", "expand=lines,nope", []pdpp.GrantStream{parent}, nil, bad("expand")},
		{"ungranted before limits", "expand=lines&expand_limit[lines]=99", []pdpp.GrantStream{parent}, nil, denied},
	} {
		t.Run(tc.name, func(t *testing.T) {
			e, err := parse(t, tc.raw).Expand()
			if err != nil {
				t.Fatal(err)
			}
			r := shop(t, tc.grant...)
			got, err := Expansions(e, r, r.Rows[0])
			var limits []int
			for _, x := range got {
				limits = append(limits, x.Limit)
			}
			if diff := cmp.Diff(tc.limits, limits); diff != "" || faultOf(err) != tc.bad {
				t.Errorf("Expansions(%q): %v, want %+v\n%s", tc.raw, err, tc.bad, diff)
			}
		})
	}
}
