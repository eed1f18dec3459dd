package grant

import (
	"fmt"
	"strings"
	"testing"
)

// Messages contain values of the input. They must stay short and on one line.
func TestShow(t *testing.T) {
	if got, want := Show("a\"b\n"), `"a\"b\n"`; got != want {
		t.Errorf("Show = %s, want %s", got, want)
	}
	long := Show(strings.Repeat("é", 500))
	if len(long) > maxShown+8 || !strings.HasSuffix(long, `é…"`) {
		t.Errorf("show of a long value = %s (%d bytes)", long, len(long))
	}
}

func TestList(t *testing.T) {
	if got := list([]string(nil)); got != "none" {
		t.Errorf("list(nil) = %q", got)
	}
	var names []string
	for i := range maxNames + 3 {
		names = append(names, fmt.Sprint("n", i))
	}
	if got := list(names[:2]); got != "n0, n1" {
		t.Errorf("list = %q", got)
	}
	if got := list(names); !strings.HasSuffix(got, "n18, n19 and 3 more") {
		t.Errorf("list of many = %q", got)
	}
}

// The path of a duplicate key is found at any depth, also in an object with more keys
// than the scanner keeps, which notices it only at the end.
func TestDuplicatePath(t *testing.T) {
	var many strings.Builder
	for i := range 40 {
		fmt.Fprintf(&many, `"k%d":[{"x":%d}],`, i, i)
	}
	tests := []struct{ text, want string }{
		{`{"a":1,"a":2}`, "a"},
		{`[{"a":{}},{"b":[1,{"c":null,"\u0063":2}]}]`, "[1].b[1].c"},
		{`{"":1,"":2}`, `[""]`},
		{`{` + many.String() + `"k7":0}`, "k7"},
	}
	for _, tt := range tests {
		_, err := parse([]byte(tt.text))
		f, ok := err.(*fault)
		if !ok || f.at != tt.want || !strings.Contains(f.what, "duplicate key") {
			t.Errorf("parse(%.60s) = %v, want a fault at %s", tt.text, err, tt.want)
		}
	}
}
