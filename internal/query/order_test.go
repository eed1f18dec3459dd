package query

import (
	"testing"

	"pdpp"
	"pdpp/internal/grant"
)

func TestSort(t *testing.T) { // REC-8
	for _, tc := range []struct {
		raw  string
		want Sort
		bad  fault
	}{
		{"", Sort{Desc: true}, fault{}},
		{"order=desc", Sort{Desc: true}, fault{}},
		{"order=asc", Sort{}, fault{}},
		{"sort=at", Sort{Field: "at"}, fault{}},
		{"sort=-at", Sort{Field: "at", Desc: true}, fault{}},
		{"sort=at&order=asc", Sort{Field: "at"}, fault{}},
		{"sort=-at&order=desc", Sort{Field: "at", Desc: true}, fault{}},
		{"sort=at&order=desc", Sort{Field: "at", Desc: true}, fault{}},
		{"sort=-at&order=asc", Sort{}, fault{pdpp.CodeInvalidSort, "sort", ""}},
		{"order=up", Sort{}, fault{pdpp.CodeInvalidRequest, "order", ""}},
		{"order=", Sort{}, fault{pdpp.CodeInvalidRequest, "order", ""}},
		{"sort=", Sort{}, fault{pdpp.CodeInvalidRequest, "sort", ""}},
		{"sort=a&sort=b", Sort{}, fault{pdpp.CodeInvalidRequest, "sort", ""}},
	} {
		got, err := parse(t, tc.raw).Sort()
		if faultOf(err) != tc.bad || err == nil && got != tc.want {
			t.Errorf("Sort(%q) = %+v, %v, want %+v, %+v", tc.raw, got, err, tc.want, tc.bad)
		}
	}
}

func TestCheckSort(t *testing.T) {
	withTime, without := orders(t, "id", "title", "at"), orders(t, "id", "title")
	for _, tc := range []struct {
		name   string
		field  string
		access *grant.Access
		want   fault
	}{
		{"default", "", without, fault{}},
		{"cursor field", "at", withTime, fault{}},
		{"owner", "at", orders(t), fault{}},
		{"ungranted cursor field", "at", without, fault{pdpp.CodeFieldNotGranted, "sort", "at"}},
		{"other field", "title", withTime, fault{pdpp.CodeInvalidSort, "sort", "title"}},
		{"ungranted other field", "total", withTime, fault{pdpp.CodeFieldNotGranted, "sort", "total"}},
		{"undeclared", "nope", withTime, fault{pdpp.CodeInvalidSort, "sort", "nope"}},
		{"a lone minus", "-", withTime, fault{pdpp.CodeInvalidSort, "sort", "-"}},
	} {
		if err := CheckSort(Sort{Field: tc.field}, tc.access); faultOf(err) != tc.want {
			t.Errorf("%s: CheckSort(%q) = %v, want %+v", tc.name, tc.field, err, tc.want)
		}
	}
}

func TestOrderOf(t *testing.T) { // REC-7, REC-9
	row := func(fields ...string) grant.Row {
		a := orders(t, fields...)
		return grant.Row{Stream: a.Stream, Access: a}
	}
	owner := row()
	for _, tc := range []struct {
		name string
		sort Sort
		rows []grant.Row
		want Order
	}{
		{"granted cursor field", Sort{Desc: true}, []grant.Row{row("id", "at")}, Order{ByCursor, true}},
		// Its values must not show through the order.
		{"ungranted cursor field", Sort{Desc: true}, []grant.Row{row("id", "title")}, Order{ByID, true}},
		{"owner", Sort{}, []grant.Row{owner}, Order{ByCursor, false}},
		{"several connectors", Sort{Desc: true}, []grant.Row{owner, owner}, Order{ByEmitted, true}},
		{"several connectors by a field", Sort{Field: "at"}, []grant.Row{owner, owner}, Order{ByCursor, false}},
		{"a stream without a cursor field", Sort{}, shop(t).Rows[1:2], Order{ByCursor, false}},
	} {
		if got := OrderOf(tc.sort, tc.rows); got != tc.want {
			t.Errorf("%s: OrderOf = %+v, want %+v", tc.name, got, tc.want)
		}
	}
}
