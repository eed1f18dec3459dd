package archtest

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// violations has at least one file for every rule that violates it.
var violations = []struct {
	rule string
	file File
	what string
}{
	{"vocabulary", importing("pdpp", "golang.org/x/text/cases"), "imports golang.org/x/text/cases"},
	{"vocabulary", importing("pdpp", "pdpp/internal/grant"), "imports pdpp/internal/grant"},
	{"pure", importing("pdpp/internal/grant", "net/http"), "imports net/http"},
	{"pure", importing("pdpp/internal/query", "os"), "imports os"},
	{"pure", importing("pdpp/internal/manifest", "pdpp/internal/store"), "imports pdpp/internal/store"},
	{"pure", importing("pdpp/internal/evidence", "pdpp/internal/rs"), "imports pdpp/internal/rs"},
	{"store contract", importing("pdpp/internal/store", "pdpp/internal/store/sqlite"), "imports pdpp/internal/store/sqlite"},
	{"sql compiler", importing("pdpp/internal/store/sqlgen", "os"), "imports os"},
	{"sql reads", importing("pdpp/internal/store/sqlread", "pdpp/internal/store/sqlite"), "imports pdpp/internal/store/sqlite"},
	{"engines below", importing("pdpp/internal/store/sqlite", "pdpp/internal/rs"), "imports pdpp/internal/rs"},
	{"engines apart", importing("pdpp/internal/store/sqlite", "pdpp/internal/store/postgres"), "imports pdpp/internal/store/postgres"},
	{"contract suite", importing("pdpp/internal/store/storetest", "pdpp/internal/store/sqlite"), "imports pdpp/internal/store/sqlite"},
	{"resource server", importing("pdpp/internal/rs", "pdpp/internal/store/sqlite"), "imports pdpp/internal/store/sqlite"},
	{"authentication", importing("pdpp/internal/auth", "pdpp/internal/rs"), "imports pdpp/internal/rs"},
	{"authorization server", importing("pdpp/internal/as", "pdpp/internal/signin"), "imports pdpp/internal/signin"},
	{"composition", importing("pdpp/internal/server", "pdpp/internal/mcphttp"), "imports pdpp/internal/mcphttp"},
	{"mcp endpoint", importing("pdpp/internal/mcphttp", "pdpp/internal/rs"), "imports pdpp/internal/rs"},
	{"tools read like clients", importing("pdpp/internal/mcp", "pdpp/internal/store"), "imports pdpp/internal/store"},
	{"texts below tools", importing("pdpp/internal/mcp/recordtext", "pdpp/internal/rsclient"), "imports pdpp/internal/rsclient"},
	{"http edge", importing("pdpp/internal/httpx", "pdpp/internal/grant"), "imports pdpp/internal/grant"},
	{"demo data", importing("pdpp/internal/demo", "pdpp/internal/store"), "imports pdpp/internal/store"},
	{"top", importing("pdpp/internal/rs", "pdpp/internal/cli"), "imports pdpp/internal/cli"},
	{"sqlite home", importing("pdpp/internal/ingest", "modernc.org/sqlite/lib"), "imports modernc.org/sqlite/lib"},
	{"no database/sql", importing("pdpp/internal/store/sqlite", "database/sql"), "imports database/sql"},
	{"no mcp sdk", importing("pdpp/internal/mcpserve", "github.com/modelcontextprotocol/go-sdk/mcp"), "imports github.com/modelcontextprotocol/go-sdk/mcp"},
	{"telemetry home", importing("pdpp/internal/rs", "go.opentelemetry.io/otel/trace"), "imports go.opentelemetry.io/otel/trace"},
	{"command line home", importing("pdpp/internal/rs", "github.com/alecthomas/kong"), "imports github.com/alecthomas/kong"},
	{"sign-in home", importing("pdpp/internal/cli", "golang.org/x/crypto/argon2"), "imports golang.org/x/crypto/argon2"},
	{"sign-in below pages", importing("pdpp/internal/signin", "net/http"), "imports net/http"},
	{"test libraries", importing("pdpp/internal/rs", "pgregory.net/rapid"), "imports pgregory.net/rapid"},
	{"test libraries", importing("pdpp/internal/demo", "pdpp/internal/store/storetest"), "imports pdpp/internal/store/storetest"},
	{"no cgo", importing("pdpp/internal/store/sqlite", "C"), "imports C"},
	{"settings", importing("pdpp/internal/httpx", "flag"), "imports flag"},
	{"settings", using("pdpp/internal/rs", "os.Getenv"), "uses os.Getenv"},
	{"settings", using("pdpp/internal/demo", "os.Exit"), "uses os.Exit"},
	{"clock", using("pdpp/internal/demo", "time.Now"), "uses time.Now"},
}

func importing(pkg, imp string) File {
	return File{Package: pkg, Name: nameIn(pkg), Imports: []string{imp}}
}

func using(pkg, use string) File {
	return File{Package: pkg, Name: nameIn(pkg), Uses: []string{use}}
}

func nameIn(pkg string) string {
	return strings.TrimPrefix(strings.TrimPrefix(pkg, Module)+"/x.go", "/")
}

func TestEachRuleFindsViolations(t *testing.T) {
	tested := make(map[string]bool)
	for _, b := range violations {
		tested[b.rule] = true
		want := Violation{File: b.file.Name, Rule: b.rule, What: b.what, Because: because(b.rule)}
		got := Check(rulesNamed(b.rule), []File{b.file})
		if diff := cmp.Diff([]Violation{want}, got); diff != "" {
			t.Errorf("%s: %s (-want +got)\n%s", b.rule, b.what, diff)
		}
	}
	for _, r := range Rules {
		if !tested[r.Name] {
			t.Errorf("rule %q has no violation in this table", r.Name)
		}
		if r.Because == "" {
			t.Errorf("rule %q has no reason", r.Name)
		}
	}
}

func rulesNamed(name string) []Rule {
	var list []Rule
	for _, r := range Rules {
		if r.Name == name {
			list = append(list, r)
		}
	}
	return list
}

func because(rule string) string {
	for _, r := range rulesNamed(rule) {
		return r.Because
	}
	return ""
}

func TestAllowedImports(t *testing.T) {
	inTest := importing("pdpp/internal/grant", "os")
	inTest.Name = "internal/grant/reach_test.go"
	allowed := []File{
		importing("pdpp", "encoding/json"),
		importing("pdpp/internal/analyzer", "golang.org/x/text/unicode/norm"),
		importing("pdpp/internal/query", "net/url"),
		inTest,
		importing("pdpp/internal/store", "pdpp/internal/query"),
		importing("pdpp/internal/store/sqlite", "modernc.org/sqlite/lib"),
		importing("pdpp/internal/store/sqlite", "os"),
		importing("pdpp/internal/store/storetest", "pgregory.net/rapid"),
		importing("pdpp/internal/rs", "pdpp/internal/store"),
		importing("pdpp/internal/cli", "github.com/alecthomas/kong"),
		importing("pdpp/cmd/pdpp", "pdpp/internal/cli"),
		using("pdpp/cmd/pdpp", "os.Exit"),
		using("pdpp/internal/cli", "time.Now"),
		using("pdpp/internal/httpx", "time.Now"),
	}
	for _, v := range Check(Rules, allowed) {
		t.Error(v)
	}
}

func TestIndirectImports(t *testing.T) {
	files := []File{
		importing("pdpp/internal/query", "pdpp/internal/cut"),
		importing("pdpp/internal/cut", "pdpp/internal/file"),
		importing("pdpp/internal/file", "os"),
	}
	got := Check(rulesNamed("pure"), files)
	want := []Violation{{
		File: "internal/query/x.go", Rule: "pure", Because: because("pure"),
		What: "imports pdpp/internal/cut -> pdpp/internal/file -> os",
	}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Check (-want +got)\n%s", diff)
	}
}

// A violation is reported for the file with the import, not for all importers of its
// package.
func TestIndirectViolationIsReportedOnce(t *testing.T) {
	files := []File{
		importing("pdpp/internal/schemadoc", "pdpp/internal/query"),
		importing("pdpp/internal/query", "pdpp/internal/grant"),
		importing("pdpp/internal/grant", "os"),
	}
	got := Check(rulesNamed("pure"), files)
	want := []Violation{{File: "internal/grant/x.go", Rule: "pure", Because: because("pure"), What: "imports os"}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Check (-want +got)\n%s", diff)
	}
}

// TestForbiddenImportOnDisk tests the whole process, from files to violations with reasons.
func TestForbiddenImportOnDisk(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, "internal/grant/doc.go", "// Package grant decides.\npackage grant\n")
	write(t, dir, "internal/grant/reach.go", `package grant

import (
	"fmt"
	web "net/http"
	"time"
)

func init() { fmt.Println(web.StatusText(200), time.Now()) }
`)
	write(t, dir, "internal/rs/list.go", "package rs\n\nimport . \"pdpp/internal/grant\"\n")
	write(t, dir, "internal/rs/testdata/skipped.go", "not Go\n")
	write(t, dir, "tools/go.mod", "module other\n")
	write(t, dir, "tools/skipped.go", "package tools\n\nfunc init() {}\n")

	files, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range append(Check(Rules, files), CheckShape(files)...) {
		if v.Because == "" {
			t.Errorf("%v has no reason", v)
		}
		got = append(got, v.File+": "+v.Rule+": "+v.What)
	}
	want := []string{
		"internal/grant/reach.go: pure: imports net/http",
		"internal/grant/reach.go: clock: uses time.Now",
		"internal/rs/doc.go: package doc: has no package comment",
		"internal/grant/reach.go: no init: declares init",
		"internal/rs/list.go: no dot imports: has a dot import",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("violations (-want +got)\n%s", diff)
	}
}

func write(t *testing.T, dir, name, text string) {
	t.Helper()
	name = filepath.Join(dir, filepath.FromSlash(name))
	if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestShapeOfSyntheticFiles(t *testing.T) {
	files := []File{
		{Package: "pdpp/cmd/pdpp", Name: "cmd/pdpp/main.go", Main: true, HasDoc: true},
		{Package: "pdpp/internal/a", Name: "internal/a/doc.go", HasDoc: true},
		{Package: "pdpp/internal/a", Name: "internal/a/a.go", Lines: MaxLines},
		{Package: "pdpp/internal/b", Name: "internal/b/b.go", HasDoc: true, Lines: MaxLines + 1},
		{Package: "pdpp/internal/b", Name: "internal/b/c.go"},
		{Package: "pdpp/internal/only", Name: "internal/only/only_test.go"},
	}
	var got []string
	for _, v := range CheckShape(files) {
		got = append(got, v.File+": "+v.What)
	}
	want := []string{
		"internal/b/doc.go: has no package comment",
		"internal/b/b.go: has 701 lines, more than 700",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("CheckShape (-want +got)\n%s", diff)
	}
}

func TestMatch(t *testing.T) {
	tests := []struct {
		pattern, s string
		want       bool
	}{
		{"os", "os", true},
		{"os", "os/exec", false},
		{"os/...", "os", true},
		{"os/...", "os/exec", true},
		{"os/...", "ossify", false},
		{"pdpp/internal/...test", "pdpp/internal/store/storetest", true},
		{"pdpp/internal/...test", "pdpp/internal/store", false},
		{"os.User...Dir", "os.UserHomeDir", true},
		{"std", "encoding/json", true},
		{"std", "pdpp", false},
		{"std", "pdpp/internal/rs", false},
		{"std", "C", false},
		{"std", "golang.org/x/text", false},
	}
	for _, tt := range tests {
		if got := match(tt.pattern, tt.s); got != tt.want {
			t.Errorf("match(%q, %q) = %v, want %v", tt.pattern, tt.s, got, tt.want)
		}
	}
}

func TestUnlistedFolders(t *testing.T) {
	var files []File
	for _, name := range []string{"grant.go", "internal/a/x.go", "internal/b/x.go", "internal/b/c/x.go", "internal/d/x_test.go"} {
		files = append(files, File{Name: name})
	}
	doc := "See `internal/b`.\n\n| folder | what |\n|---|---|\n| `internal/a` | Letters. |\n"
	if diff := cmp.Diff([]string{"internal/b"}, Unlisted(files, doc)); diff != "" {
		t.Errorf("Unlisted (-want +got)\n%s", diff)
	}
}
