package archtest

import (
	"flag"
	"os"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/requirements.md")

const coveragePath = root + "/docs/requirements.md"

// TestRequirementsTable checks that docs/requirements.md is current, and that each
// requirement has a test in the short form.
func TestRequirementsTable(t *testing.T) {
	found, err := Proofs(root)
	if err != nil {
		t.Fatal(err)
	}
	spec := SpecRequirements(read(t, root+"/docs/spec/requirements.md"))
	got := Coverage(spec, found)
	if *update {
		if err := os.WriteFile(coveragePath, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff(read(t, coveragePath), got); diff != "" {
		t.Errorf("docs/requirements.md is outdated; run go test ./internal/archtest -run Requirements -update (-file +tests):\n%s", diff)
	}
	if len(spec) == 0 {
		t.Error("docs/spec/requirements.md has no ids")
	}
	for _, r := range spec {
		list := found[r.ID]
		if len(list) > 0 && !slices.ContainsFunc(list, func(p Proof) bool { return !p.Long }) {
			t.Errorf("%s: make test runs no test of it, only make check does", r.ID)
		}
	}
}

func TestProofs(t *testing.T) {
	found := map[string][]Proof{}
	err := proofsIn(found, "internal/x/x_test.go", []byte(`package x
func TestID1Handles(t *testing.T) { t.Run("ID-5 again", nil) }
func TestTable(t *testing.T) {
	for _, c := range []struct{ name string }{{"AGG-1 AGG-2 both"}, {name: "AGG-1 " + x}, {"no AGG-3"}} { t.Run(c.name, nil) }
	for name := range map[string]int{"TEXT-1 key": 1} { t.Run(name, nil) }
	t.Errorf("PAGE-1 is only printed")
}
func TestWithoutSubtests(t *testing.T) { _ = []string{"ERR-1 a value"} }
func helper(t *testing.T) { t.Run("ERR-2 not a test", nil) }
func TestLong(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	t.Run("ERR-3 in the long form", nil)
}
`))
	if err != nil {
		t.Fatal(err)
	}
	table := func(n int) []Proof { return []Proof{{"internal/x", "TestTable", n, false}} }
	want := map[string][]Proof{
		"ID-5": {{"internal/x", "TestID1Handles", 1, false}}, "AGG-1": table(2), "AGG-2": table(1), "TEXT-1": table(1),
		"ERR-3": {{"internal/x", "TestLong", 1, true}},
	}
	if diff := cmp.Diff(want, found); diff != "" {
		t.Errorf("proofsIn (-want +got):\n%s", diff)
	}
}
