package npmtest

import (
	"bytes"
	"crypto/sha256"
	_ "embed" // package.json
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

//go:embed package.json
var spec []byte

// Folder is the folder of the installed packages.
type Folder string

// Install installs the packages of package.json.
func Install(t testing.TB) Folder {
	t.Helper()
	return install(t, spec)
}

// InstallPackage installs one version of one package, which others do not need: hosts are
// large.
func InstallPackage(t testing.TB, name, version string) Folder {
	t.Helper()
	return install(t, fmt.Appendf(nil, `{"private": true, "dependencies": {%q: %q, "node": "24.21.0"}}`, name, version))
}

// install installs packages once, outside of the repository. It skips the test without npm or
// without access to the packages.
func install(t testing.TB, spec []byte) Folder {
	t.Helper()
	npm, err := exec.LookPath("npm")
	if err != nil {
		t.Skip("npm is not installed")
	}
	sum := sha256.Sum256(spec)
	root, err := os.UserCacheDir()
	if err != nil {
		root = os.TempDir()
	}
	dir := filepath.Join(root, "pdpp-test-clients", hex.EncodeToString(sum[:8]))
	done := filepath.Join(dir, "installed")
	if _, err := os.Stat(done); err == nil {
		return Folder(dir)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "package.json"), spec, 0o644); err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), npm, "install", "--no-audit", "--no-fund", "--no-package-lock")
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Skipf("the clients cannot be installed: %v\n%s", err, out)
	}
	if err := os.WriteFile(done, nil, 0o644); err != nil {
		t.Fatal(err)
	}
	return Folder(dir)
}

// Bin returns the path of a program of the packages, such as node.
func (f Folder) Bin(name string) string {
	return filepath.Join(string(f), "node_modules", ".bin", name)
}

// Script copies a script into the folder, where it finds the packages, and returns its path.
func (f Folder) Script(t testing.TB, file string) string {
	t.Helper()
	script := filepath.Join(string(f), filepath.Base(file))
	text, err := os.ReadFile(file)
	if err == nil {
		err = os.WriteFile(script, text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	return script
}

// Command returns a command that runs a script or program with the installed Node. It ends
// with the test.
func (f Folder) Command(t testing.TB, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(t.Context(), f.Bin("node"), args...)
	cmd.Dir = string(f)
	return cmd
}

// Run runs a script or program with additional variables, and returns its output.
func (f Folder) Run(t testing.TB, env []string, args ...string) (stdout, stderr []byte) {
	t.Helper()
	cmd := f.Command(t, args...)
	cmd.Env = append(os.Environ(), env...)
	var out, errOut bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &errOut
	if err := cmd.Run(); err != nil {
		t.Fatalf("%s: %v\n%s\n%s", args[0], err, out.Bytes(), errOut.Bytes())
	}
	return out.Bytes(), errOut.Bytes()
}
