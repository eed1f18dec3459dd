package main

import (
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"
)

// A server whose store was removed or replaced no longer answers from the old store. It
// ends, so that a new start opens the current one (H-4).
func TestStoreReplaced(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("open files cannot be removed on this system")
	}
	for _, c := range []struct {
		name  string
		spoil func(store, copied string) error
		again int // the exit code of a new start that finds no store
	}{
		{"removed", func(store, _ string) error { return os.Remove(store) }, 78},
		{"replaced", func(store, copied string) error { return os.Rename(copied, store) }, 0},
	} {
		t.Run("H-4 "+c.name, func(t *testing.T) {
			dir, copied := t.TempDir(), filepath.Join(t.TempDir(), "copy")
			run(t, "--data", dir, "ingest", "--manifest", shared("manifest.json"), "--connection", "giro", shared("entries.jsonl"))
			token := regexp.MustCompile(`pdpp_ot_[\w-]+`).FindString(run(t, "--data", dir, "owner", "token", "create"))
			run(t, "--data", dir, "backup", copied)
			p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0")
			url := p.await(t, p.stderr, listening)
			if status := readStatus(t, url, token); status != http.StatusOK {
				t.Fatalf("before: %d", status)
			}

			if err := c.spoil(filepath.Join(dir, "pdpp.db"), filepath.Join(copied, "pdpp.db")); err != nil {
				t.Fatal(err)
			}
			// The server may have noticed it and ended already.
			for _, path := range []string{"/v1/schema", "/readyz"} {
				req, err := http.NewRequest("GET", url+path, http.NoBody)
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Authorization", "Bearer "+token)
				res, err := http.DefaultClient.Do(req)
				if err != nil {
					continue
				}
				res.Body.Close()
				if res.StatusCode != http.StatusServiceUnavailable {
					t.Errorf("%s: %d, want 503", path, res.StatusCode)
				}
			}
			if code := p.exit(t); code != 75 {
				t.Errorf("exit code %d, want 75:\n%s", code, p.stderr)
			}
			p.await(t, p.stderr, "removed or replaced while the server was running.*\n +Start it again")
			if c.again != 0 {
				if code := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0").exit(t); code != c.again {
					t.Errorf("a new start ends with %d, want %d", code, c.again)
				}
			}
		})
	}
}
