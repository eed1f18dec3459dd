package query

import (
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/grant"
)

var sameParams = cmp.AllowUnexported(Params{}, param{}, member{})

func TestParse(t *testing.T) { // C-4
	for _, tc := range []struct {
		raw  string
		want []param
	}{
		{"", nil},
		{"&&", nil},
		{"limit=5", []param{{name: "limit", values: []string{"5"}}}},
		{"limit", []param{{name: "limit", values: []string{""}}}},
		{"limit=", []param{{name: "limit", values: []string{""}}}},
		{"fields=a&fields=b&fields[]=c", []param{{name: "fields", values: []string{"a", "b", "c"}}}},
		{"filter[a]=1", []param{{name: "filter", members: []member{{key: "a", value: "1"}}}}},
		{"filter%5Ba%5D%5Bgte%5D=x+y%26", []param{{name: "filter", members: []member{{key: "a", sub: "gte", value: "x y&"}}}}},
		{"filter[a.b]=", []param{{name: "filter", members: []member{{key: "a.b"}}}}},
		{"filter=x&filter[a]=y", []param{{name: "filter", values: []string{"x"}, members: []member{{key: "a", value: "y"}}}}},
		{"expand_limit[r]=3&limit=1=2", []param{
			{name: "expand_limit", members: []member{{key: "r", value: "3"}}}, {name: "limit", values: []string{"1=2"}},
		}},
		{"connection_id=c&connector_id=k&connector_instance_id=i", []param{
			{name: "connection_id", values: []string{"c"}},
			{name: "connector_id", values: []string{"k"}},
			{name: "connector_instance_id", values: []string{"i"}},
		}},
	} {
		got := parse(t, tc.raw)
		if diff := cmp.Diff(tc.want, got.list, sameParams); diff != "" {
			t.Errorf("Parse(%q) (-want +got):\n%s", tc.raw, diff)
		}
	}
}

func TestParseRefuses(t *testing.T) { // C-4, C-5
	for _, tc := range []struct {
		raw, param, message string
	}{
		{"limit=%zz", "", "percent"},
		{"%=1", "", "percent"},
		{"limit=%ff", "", "UTF-8"},
		{"%c3%28=1", "", "UTF-8"},
		{"filter[a][b][c]=1", "filter", "deeper"},
		{"filter[a][]=1", "filter", "empty bracket"},
		{"filter[][a]=1", "filter", "empty bracket"},
		{"filter[a=1", "filter", "unbalanced"},
		{"filter]a=1", "filter]a", "unbalanced"},
		{"filter[a[b]]=1", "filter", "unbalanced"},
		{"filter[a]b=1", "filter", "text after"},
		{"nope=1", "nope", "nope"},
		{"zz[a]=1&limit=1&yy=2", "zz", "zz, yy"},
		{"=1", "", ""},
		{strings.Repeat("a", MaxQueryBytes+1), "", "longer"},
		{strings.Repeat("limit=1&", MaxParams+1), "", "more than 128"},
	} {
		_, err := Parse(tc.raw, "limit", "filter")
		var e *pdpp.Error
		if e, _ = err.(*pdpp.Error); e == nil {
			t.Errorf("Parse(%.40q) = %v, want an error", tc.raw, err)
			continue
		}
		if e.Code != pdpp.CodeInvalidRequest || e.Param != tc.param || !strings.Contains(e.Message, tc.message) {
			t.Errorf("Parse(%.40q) = %+v, want param %q and a message about %q", tc.raw, e, tc.param, tc.message)
		}
	}
	if _, err := Parse(strings.Repeat("limit=1&", MaxParams), "limit"); err != nil {
		t.Errorf("%d parameters: %v", MaxParams, err)
	}
}

func TestOneAndList(t *testing.T) { // C-8
	p := parse(t, "limit=5&order=&sort=a&sort=b&count[x]=1&fields=a,b&fields[]=b&fields=c,a&expand=a,&streams[a]=b")
	if v, err := p.One("limit"); v != "5" || err != nil {
		t.Errorf("One(limit) = %q, %v", v, err)
	}
	if v, err := p.One("view"); v != "" || err != nil {
		t.Errorf("One of a parameter that was not sent = %q, %v", v, err)
	}
	for _, name := range []string{"order", "sort", "count"} {
		if _, err := p.One(name); faultOf(err) != (fault{pdpp.CodeInvalidRequest, name, ""}) {
			t.Errorf("One(%s) = %v, want invalid_request", name, err)
		}
	}
	got, err := p.List("fields")
	if diff := cmp.Diff([]string{"a", "b", "c"}, got); diff != "" || err != nil {
		t.Errorf("List(fields): %v\n%s", err, diff)
	}
	for _, name := range []string{"expand", "streams"} {
		if _, err := p.List(name); faultOf(err) != (fault{pdpp.CodeInvalidRequest, name, ""}) {
			t.Errorf("List(%s) = %v, want invalid_request", name, err)
		}
	}
}

func TestSelector(t *testing.T) { // C-6, C-7
	for _, tc := range []struct {
		raw  string
		want grant.Selector
		bad  fault
	}{
		{"", grant.Selector{}, fault{}},
		{"connection_id=c&connector_id=k", grant.Selector{Connection: "c", Connector: "k"}, fault{}},
		{"connector_instance_id=c", grant.Selector{Connection: "c"}, fault{}},
		{"connector_instance_id=c&connection_id=c", grant.Selector{Connection: "c"}, fault{}},
		{"connector_instance_id=d&connection_id=c", grant.Selector{}, fault{pdpp.CodeInvalidArgument, "connector_instance_id", ""}},
		{"connection_id=c&connection_id=c", grant.Selector{}, fault{pdpp.CodeInvalidRequest, "connection_id", ""}},
		{"connection_id=", grant.Selector{}, fault{pdpp.CodeInvalidRequest, "connection_id", ""}},
		{"connector_id[a]=b", grant.Selector{}, fault{pdpp.CodeInvalidRequest, "connector_id", ""}},
	} {
		got, err := parse(t, tc.raw).Selector()
		if faultOf(err) != tc.bad || err == nil && got != tc.want {
			t.Errorf("Selector(%q) = %+v, %v, want %+v, %+v", tc.raw, got, err, tc.want, tc.bad)
		}
	}
}

func TestLimit(t *testing.T) { // C-9
	bad := fault{pdpp.CodeInvalidRequest, "limit", ""}
	for _, tc := range []struct {
		raw  string
		want Limit
		bad  fault
	}{
		{"", Limit{N: 25}, fault{}},
		{"limit=1", Limit{N: 1}, fault{}},
		{"limit=007", Limit{N: 7}, fault{}},
		{"limit=100", Limit{N: 100}, fault{}},
		{"limit=101", Limit{N: 100, Requested: 101}, fault{}},
		{"limit=99999999999999999999999", Limit{N: 100, Requested: 1 << 62}, fault{}},
		{"limit=0", Limit{}, bad},
		{"limit=-5", Limit{}, bad},
		{"limit=-99999999999999999999999", Limit{}, bad},
		{"limit=%2B5", Limit{}, bad},
		{"limit=5.0", Limit{}, bad},
		{"limit=0x5", Limit{}, bad},
		{"limit=1_0", Limit{}, bad},
		{"limit=five", Limit{}, bad},
		{"limit=", Limit{}, bad},
		{"limit=1&limit=1", Limit{}, bad},
	} {
		got, err := parse(t, tc.raw).Limit()
		if faultOf(err) != tc.bad || err == nil && got != tc.want {
			t.Errorf("Limit(%q) = %+v, %v, want %+v, %+v", tc.raw, got, err, tc.want, tc.bad)
		}
	}
}

// encode writes a tree as a query string again.
func encode(p *Params) string {
	var parts []string
	for _, q := range p.list {
		for _, v := range q.values {
			parts = append(parts, url.QueryEscape(q.name)+"="+url.QueryEscape(v))
		}
		for _, m := range q.members {
			name := q.name + "[" + m.key + "]"
			if m.sub != "" {
				name += "[" + m.sub + "]"
			}
			parts = append(parts, url.QueryEscape(name)+"="+url.QueryEscape(m.value))
		}
	}
	return strings.Join(parts, "&")
}

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"", "limit=5&cursor=pc1.x", "filter[a]=1&filter[b][gte]=2", "fields=a,b&fields[]=c", "filter[a][b][c]=", "filter[[a]]=1",
		"%5B%5D=%5D", "a%00b=c", "=", "&=&", "filter[]=1", "expand_limit[r]=3&expand=r", "%ff=1", "filter[a]]=1", "filter[%5D]=1",
	} {
		f.Add(seed)
	}
	allowed := []string{"filter", "fields", "expand", "expand_limit", "limit", "sort", "order", "view", "cursor", "count"}
	f.Fuzz(func(t *testing.T, raw string) {
		p, err := Parse(raw, allowed...)
		if err != nil {
			if pdpp.CodeOf(err) != pdpp.CodeInvalidRequest {
				t.Fatalf("Parse(%q): %v", raw, err)
			}
			return
		}
		for _, q := range p.list {
			if !slices.Contains(allowed, q.name) && !slices.Contains(selectors, q.name) {
				t.Fatalf("Parse(%q) let %q through", raw, q.name)
			}
		}
		again, err := Parse(encode(p), allowed...)
		if err != nil {
			if len(encode(p)) > MaxQueryBytes { // escapes made it longer
				return
			}
			t.Fatalf("Parse(%q) re-encoded as %q: %v", raw, encode(p), err)
		}
		if diff := cmp.Diff(p.list, again.list, sameParams); diff != "" {
			t.Fatalf("Parse(%q) re-encoded as %q (-want +got):\n%s", raw, encode(p), diff)
		}
		readAll(t, p)
	})
}

// readAll reads every parameter: nothing may panic, and no operand gets in
// that is longer than the bounds say.
func readAll(t *testing.T, p *Params) {
	access := orders(t)
	p.Limit()
	p.Selector()
	if s, err := p.Sort(); err == nil {
		CheckSort(s, access)
	}
	if s, err := p.Selection(); err == nil {
		Project(s, access)
	}
	if filters, err := p.Filters(); err == nil {
		if len(filters) > pdpp.MaxFilterFields*len(pdpp.RangeOps) {
			t.Fatalf("%d filters", len(filters))
		}
		Where(filters, access)
	}
	if e, err := p.Expand(); err == nil {
		r := shop(t)
		Expansions(e, r, r.Rows[0])
	}
}
