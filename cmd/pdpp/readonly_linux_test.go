package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// mountData mounts an empty disk for a data folder and returns a function that makes it
// read-only.
func mountData(t *testing.T) (dir string, protect func()) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "disk")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, "size=64m,mode=700"); err != nil {
		t.Skipf("a disk cannot be mounted here: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return dir, func() {
		t.Helper()
		if err := syscall.Mount("tmpfs", dir, "tmpfs", syscall.MS_REMOUNT|syscall.MS_RDONLY, ""); err != nil {
			t.Fatal(err)
		}
	}
}

// On a read-only disk commands that only read work, and commands that write report why they
// cannot (H-3), also after a killed server left its write-ahead log.
func TestReadOnlyDisk(t *testing.T) {
	for name, killed := range map[string]bool{"closed": false, "killed": true} {
		t.Run(name, func(t *testing.T) {
			dir, protect := mountData(t)
			pkg := makePackage(t, dir)
			p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0")
			p.await(t, p.stderr, listening)
			if killed {
				// This change is only in the log, not yet in the database file.
				run(t, "--data", dir, "grants", "revoke", pkg.Members[0].Grant)
				p.kill(t)
				if info, err := os.Stat(filepath.Join(dir, "pdpp.db-wal")); err != nil || info.Size() == 0 {
					t.Fatalf("there is no log: %v", err)
				}
			} else {
				p.cmd.Process.Signal(syscall.SIGTERM)
				p.exit(t)
			}
			protect()
			grants := run(t, "--data", dir, "grants", "list", "--status", "all", "--json")
			if got := strings.Count(grants, `"status":"revoked"`) == 1; got != killed {
				t.Errorf("grants list: %s", grants)
			}
			run(t, "--data", dir, "grants", "show", pkg.Members[1].Grant)
			run(t, "--data", dir, "packages", "list")
			run(t, "--data", dir, "connections", "list")
			run(t, "--data", dir, "owner", "list")
			run(t, "--data", dir, "owner", "token", "list")
			run(t, "--data", dir, "doctor")
			copied := filepath.Join(t.TempDir(), "copy")
			run(t, "--data", dir, "backup", copied)
			if again := run(t, "--data", copied, "grants", "list", "--status", "all", "--json"); again != grants {
				t.Errorf("the backup has %s, want %s", again, grants)
			}
			for _, args := range [][]string{{"grants", "revoke", pkg.Members[1].Grant}, {"owner", "create", "mara"}, {"serve", "--listen", "127.0.0.1:0"}} {
				cmd := exec.Command("pdpp", append([]string{"--data", dir}, args...)...)
				out, _ := cmd.CombinedOutput()
				if code := cmd.ProcessState.ExitCode(); code != 73 || !strings.Contains(string(out), "read-only") {
					t.Errorf("%v: exit code %d, want 73: %s", args, code, out)
				}
			}
		})
	}
}
