package archtest

import (
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
)

// root is the module root relative to this package.
const root = "../.."

func load(t *testing.T) []File {
	t.Helper()
	files, err := Load(root)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.ContainsFunc(files, func(f File) bool { return f.Name == "internal/archtest/doc.go" }) {
		t.Fatalf("Load(%q) did not find this package among %d files", root, len(files))
	}
	return files
}

func read(t *testing.T, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.FromSlash(name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func report(t *testing.T, found []Violation) {
	t.Helper()
	for _, v := range found {
		t.Error(v)
	}
}

func TestImportDirections(t *testing.T) { report(t, Check(Rules, load(t))) }

func TestShape(t *testing.T) { report(t, CheckShape(load(t))) }

func TestNoMachinePaths(t *testing.T) {
	found, err := CheckText(root)
	if err != nil {
		t.Fatal(err)
	}
	report(t, found)
}

func TestDependenciesAreDocumented(t *testing.T) {
	direct := Direct(Requirements(read(t, root+"/go.mod")), load(t))
	for _, m := range Undocumented(direct, read(t, root+"/docs/dependencies.md")) {
		t.Errorf("%s is a direct dependency without a line in docs/dependencies.md: its purpose, the reason for it, the alternatives", m)
	}
}

func TestFoldersAreDocumented(t *testing.T) {
	for _, dir := range Unlisted(load(t), read(t, root+"/docs/architecture.md")) {
		t.Errorf("%s has no row in the folder table of docs/architecture.md", dir)
	}
}

// modernc.org/sqlite is generated for one version of modernc.org/libc. With another it
// builds but may misbehave, so `go get -u` must not update one without the other.
func TestLibcMatchesSQLite(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skip("no go command")
	}
	ours := version(t, read(t, root+"/go.mod"), "modernc.org/libc")
	cmd := exec.CommandContext(t.Context(), "go", "list", "-m", "-json", "modernc.org/sqlite")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		var exit *exec.ExitError
		if errors.As(err, &exit) {
			t.Logf("%s", exit.Stderr)
		}
		t.Fatalf("go list -m -json modernc.org/sqlite: %v", err)
	}
	var module struct{ GoMod string }
	if err := json.Unmarshal(out, &module); err != nil {
		t.Fatal(err)
	}
	if theirs := version(t, read(t, module.GoMod), "modernc.org/libc"); ours != theirs {
		t.Errorf("go.mod requires modernc.org/libc %s, modernc.org/sqlite requires %s", ours, theirs)
	}
}

func version(t *testing.T, gomod, module string) string {
	t.Helper()
	for _, r := range Requirements(gomod) {
		if r.Path == module {
			return r.Version
		}
	}
	t.Fatalf("go.mod does not require %s:\n%s", module, gomod)
	return ""
}
