package archtest

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestLanguage(t *testing.T) {
	found, err := CheckLanguage(root, Phrases)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestLanguageOnDisk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "internal/a/a.go", "package a\n\n// open waits. Who\n// asks twice waits longer.\nfunc lentRoom() {}\n\nvar silent int\n")
	write(t, dir, "internal/b/b.go", "package b\n\nconst message = `limit goes with sort`\n")
	write(t, dir, "internal/b/b_test.go", "package b\n\nconst data = `limit goes with sort`\n")
	found, err := CheckLanguage(dir, Phrases)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range found {
		got = append(got, v.File+": "+v.What)
	}
	want := []string{`internal/a/a.go: says "lent"`, `internal/a/a.go: says "who asks"`, `internal/b/b.go: says "goes with"`}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CheckLanguage (-want +got)\n%s", diff)
	}
}
