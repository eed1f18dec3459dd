package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/sortkey"
)

func TestFilters(t *testing.T) { // REC-18
	form := func(field string) fault { return fault{pdpp.CodeInvalidRequest, "filter", field} }
	for _, tc := range []struct {
		raw  string
		want []Filter
		bad  fault
	}{
		{"", nil, fault{}},
		{"filter[a]=1", []Filter{{"a", pdpp.OpEq, "1"}}, fault{}},
		{"filter[a]=", []Filter{{"a", pdpp.OpEq, ""}}, fault{}},
		{"filter[a][gte]=1&filter[a][lt]=2&filter[b]=3", []Filter{{"a", pdpp.OpGte, "1"}, {"a", pdpp.OpLt, "2"}, {"b", pdpp.OpEq, "3"}}, fault{}},
		{"filter[a]=" + strings.Repeat("x", 1024), []Filter{{"a", pdpp.OpEq, strings.Repeat("x", 1024)}}, fault{}},
		{"filter[a]=" + strings.Repeat("x", 1025), nil, form("a")},
		{"filter=x", nil, form("")},
		{"filter[]=x", nil, form("")},
		{"filter[a][eq]=1", nil, form("a")},
		{"filter[a][GTE]=1", nil, form("a")},
		{"filter[a]=1&filter[a]=2", nil, form("a")},
		{"filter[a]=1&filter[a][gte]=2", nil, form("a")},
		{"filter[a][gte]=2&filter[a]=1", nil, form("a")},
		{"filter[a][gte]=1&filter[a][gte]=1", nil, form("a")},
		{manyFilters(17), nil, form("f16")},
	} {
		got, err := parse(t, tc.raw).Filters()
		if diff := cmp.Diff(tc.want, got); diff != "" && err == nil || faultOf(err) != tc.bad {
			t.Errorf("Filters(%.60q): %v, want %+v\n%s", tc.raw, err, tc.bad, diff)
		}
	}
	if _, err := parse(t, manyFilters(16)).Filters(); err != nil {
		t.Errorf("16 fields: %v", err)
	}
}

func manyFilters(n int) string {
	var parts []string
	for i := range n {
		parts = append(parts, fmt.Sprintf("filter[f%d]=1", i))
	}
	return strings.Join(parts, "&")
}

func TestWhere(t *testing.T) { // REC-19, REC-20, REC-21
	a := orders(t, "id", "title", "total", "qty", "paid", "day", "at", "mixed", "meta", "a.b")
	when := sortkey.FromTime(time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC))
	number := func(s string) []byte { key, _ := sortkey.FromText(pdpp.KindNumber, s); return key }
	text := func(s string) []byte { key, _ := sortkey.FromText(pdpp.KindString, s); return key }
	form := func(field string) fault { return fault{pdpp.CodeInvalidRequest, "filter", field} }
	for _, tc := range []struct {
		raw string
		key []byte
		bad fault
	}{
		{"filter[title]=Rent", text("Rent"), fault{}},
		{"filter[title]=", text(""), fault{}},
		{"filter[a.b]=x", text("x"), fault{}},
		{"filter[total]=12", number("12.0"), fault{}},
		{"filter[total]=1.2e1", number("12"), fault{}},
		{"filter[total][gte]=-3", number("-3"), fault{}},
		{"filter[qty]=12.0", number("12"), fault{}},
		{"filter[qty]=1.5", nil, form("qty")},
		{"filter[at]=2026-01-02T05:04:05%2B02:00", when, fault{}},
		{"filter[at][lte]=2026-01-02T03:04:05", when, fault{}},
		{"filter[day]=2026-01-02", sortkey.FromTime(time.Date(2026, 1, 2, 0, 0, 0, 0, time.UTC)), fault{}},
		{"filter[at]=yesterday", nil, form("at")},
		{"filter[total]=NaN", nil, form("total")},
		{"filter[total]=", nil, form("total")},
		{"filter[paid]=True", nil, form("paid")},
		{"filter[mixed]=x", nil, form("mixed")},
		{"filter[meta]=x", nil, form("meta")},
		{"filter[total][gt]=1", nil, form("total")}, // declared, but not with gt
		{"filter[title][gte]=a", nil, form("title")},
		{"filter[nope]=1", nil, fault{pdpp.CodeUnknownField, "filter", "nope"}},
		{"filter[meta.x]=1", nil, fault{pdpp.CodeUnknownField, "filter", "meta.x"}},
	} {
		filters, err := parse(t, tc.raw).Filters()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Where(filters, a)
		if faultOf(err) != tc.bad || err == nil && string(got[0].Key) != string(tc.key) {
			t.Errorf("Where(%q) = %v, %v, want key %x, %+v", tc.raw, got, err, tc.key, tc.bad)
		}
	}
}

func TestWhereShowsHowATimeIsWritten(t *testing.T) {
	filters, err := parse(t, "filter[at]=yesterday").Filters()
	if err != nil {
		t.Fatal(err)
	}
	_, err = Where(filters, orders(t))
	var e *pdpp.Error
	if want := "The value is not a date or time, such as 2026-05-01 or 2026-05-01T08:00:00Z."; !errors.As(err, &e) || e.Message != want {
		t.Errorf("Where = %v, want %q", err, want)
	}
}

// Unknown names come before ungranted ones, and those before what is not
// declared, wherever they stand (C-20).
func TestWhereOrder(t *testing.T) {
	a := orders(t, "id", "title")
	for raw, want := range map[string]fault{
		"filter[title][gte]=a&filter[total]=1":                {pdpp.CodeFieldNotGranted, "filter", "total"},
		"filter[total]=1&filter[title][gte]=a&filter[nope]=1": {pdpp.CodeUnknownField, "filter", "nope"},
		"filter[meta]=1": {pdpp.CodeFieldNotGranted, "filter", "meta"},
	} {
		filters, err := parse(t, raw).Filters()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := Where(filters, a); faultOf(err) != want {
			t.Errorf("Where(%q) = %v, want %+v", raw, err, want)
		}
	}
}

// No message repeats a value: operands may be personal data.
func TestFilterErrorsHideOperands(t *testing.T) {
	for _, raw := range []string{
		"filter[qty]=sekret", "filter[at]=sekret", "filter[paid]=sekret", "filter[mixed]=sekret", "filter[title][gte]=sekret",
		"filter[total][gt]=sekret", "filter[nope]=sekret", "filter=sekret", "filter[a]=sekret&filter[a]=sekret",
	} {
		filters, err := parse(t, raw).Filters()
		if err == nil {
			_, err = Where(filters, orders(t))
		}
		if err == nil || strings.Contains(err.Error(), "sekret") {
			t.Errorf("%q: %v", raw, err)
		}
	}
}

func TestFirst(t *testing.T) {
	unknown := pdpp.Errorf(pdpp.CodeUnknownField, "")
	relation := &pdpp.Error{Code: pdpp.CodeInvalidExpand, Param: "expand"}
	denied, scope := pdpp.Errorf(pdpp.CodeFieldNotGranted, ""), pdpp.Errorf(pdpp.CodeInsufficientScope, "")
	undeclared := &pdpp.Error{Code: pdpp.CodeInvalidExpand, Param: "expand_limit"}
	for _, tc := range []struct {
		errs []error
		want error
	}{
		{nil, nil},
		{[]error{nil, nil}, nil},
		{[]error{nil, undeclared, scope, denied}, scope},
		{[]error{denied, scope, unknown}, unknown},
		{[]error{undeclared, relation, unknown}, relation},
	} {
		if got := First(tc.errs...); got != tc.want {
			t.Errorf("First(%v) = %v, want %v", tc.errs, got, tc.want)
		}
	}
}

func TestUndeclared(t *testing.T) { // C-25
	for _, tc := range []struct {
		err  error
		want bool
	}{
		{pdpp.Errorf(pdpp.CodeUnknownField, ""), true},
		{pdpp.Errorf(pdpp.CodeInvalidSort, ""), true},
		{pdpp.Errorf(pdpp.CodeInvalidExpand, ""), true},
		{badFilter("a", ""), true},
		{pdpp.BadParam("view", ""), true},
		{badFilter("", ""), false},
		{pdpp.Errorf(pdpp.CodeFieldNotGranted, ""), false},
		{fmt.Errorf("disk"), false},
	} {
		if got := Undeclared(tc.err); got != tc.want {
			t.Errorf("Undeclared(%v) = %t", tc.err, got)
		}
	}
}
