package archtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

const sampleMod = `module sample

go 1.26.0

replace example.org/c => example.org/c v0.9.0

require example.org/a v1.0.0

require (
	example.org/b/v2 v2.3.0
	example.org/c v1.1.0 // indirect
	example.org/d v0.1.0 // indirect; pulled in by b
)

retract v0.0.1 // broken
`

func TestRequirements(t *testing.T) {
	want := []Requirement{
		{Path: "example.org/a", Version: "v1.0.0"},
		{Path: "example.org/b/v2", Version: "v2.3.0"},
		{Path: "example.org/c", Version: "v1.1.0", Indirect: true},
		{Path: "example.org/d", Version: "v0.1.0", Indirect: true},
	}
	if diff := cmp.Diff(want, Requirements(sampleMod)); diff != "" {
		t.Errorf("Requirements (-want +got)\n%s", diff)
	}
}

func TestUndocumented(t *testing.T) {
	files := []File{importing("pdpp/internal/x", "example.org/d/sub")}
	direct := Direct(Requirements(sampleMod), files)
	if diff := cmp.Diff([]string{"example.org/a", "example.org/b/v2", "example.org/d"}, direct); diff != "" {
		t.Errorf("Direct (-want +got)\n%s", diff)
	}
	doc := "- `example.org/a`: parses a format of its own\n" +
		"Compared with `example.org/b/v2` at some length.\n" +
		"| `example.org/d` | |\n"
	if diff := cmp.Diff([]string{"example.org/b/v2", "example.org/d"}, Undocumented(direct, doc)); diff != "" {
		t.Errorf("Undocumented (-want +got)\n%s", diff)
	}
}

func TestMachinePaths(t *testing.T) {
	home := "/" + "home" + "/"
	tests := []struct {
		text string
		want int
	}{
		{"see " + home + "me/notes", 1},
		{home + "me\n\"" + "/" + "root" + "/x\"", 2},
		{"file://" + "/" + "work" + "/x", 1},
		{"https://data.example" + home + "x", 0},
		{"a/b" + home + "x and $WORK" + home, 0},
		{"binary\x00" + home + "me", 0},
	}
	for _, tt := range tests {
		if got := MachinePaths([]byte(tt.text)); len(got) != tt.want {
			t.Errorf("MachinePaths(%q) = %q, want %d places", tt.text, got, tt.want)
		}
	}
}
