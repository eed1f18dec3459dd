package blobfile

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// putForever puts blobs of all sizes and writes the hash of each one after Put returned.
func putForever(dir string) error {
	s, err := Open(dir, noon)
	if err != nil {
		return err
	}
	for {
		content := make([]byte, rand.IntN(300_000))
		for i := range content {
			content[i] = byte(rand.Uint32())
		}
		blob, err := s.Put(context.Background(), 1+rand.Int64N(2), bytes.NewReader(content), plenty)
		if err != nil {
			return err
		}
		fmt.Println(blob.SHA256)
	}
}

// child starts this test program with another task.
func child(t *testing.T, task, dir string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Skipf("cannot start a child: %v", err)
	}
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(os.Environ(), childEnv+"="+task+":"+dir)
	return cmd
}

// A process that is killed during Put leaves complete files or none, and every blob whose
// Put returned.
func TestKilled(t *testing.T) {
	rounds := 15
	if testing.Short() {
		rounds = 3
	}
	dir := filepath.Join(t.TempDir(), "blobs")
	stored := map[string]bool{}
	for range rounds {
		for _, hash := range killAfter(t, dir, 1+rand.IntN(8)) {
			stored[hash] = true
		}
		s := open(t, dir)
		wantWhole(t, s)
		for hash := range stored {
			if !has(s, hash) {
				t.Errorf("%s was stored and is gone", hash)
			}
		}
	}
	s, err := Open(dir, time.Now().Add(2*abandoned))
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, name := range files(t, dir) {
		if strings.HasPrefix(name, tempFolder) {
			t.Errorf("%s is left", name)
		}
	}
}

func has(s *Store, hash string) bool {
	for _, owner := range []int64{1, 2} {
		if f, _, err := s.Open(owner, hash); err == nil {
			f.Close()
			return true
		}
	}
	return false
}

// killAfter runs a child and kills it some time after its n-th blob. It returns the
// blobs the child reported.
func killAfter(t *testing.T, dir string, n int) []string {
	t.Helper()
	cmd := child(t, "put forever", dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var hashes []string
	for lines := bufio.NewScanner(out); lines.Scan(); {
		if validHash(lines.Text()) { // the last line may be cut
			hashes = append(hashes, lines.Text())
		}
		if len(hashes) == n {
			// Somewhere within the next Put, not always at its beginning.
			time.Sleep(rand.N(3 * time.Millisecond))
			if err := cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := cmd.Wait(); err == nil || len(hashes) < n {
		t.Fatalf("the child ended by itself after %d blobs: %v", len(hashes), err)
	}
	return hashes
}

// The next Put of the same content completes what a killed process began.
func TestPutAfterAbandonedTemp(t *testing.T) {
	s, dir := fresh(t)
	if err := os.WriteFile(filepath.Join(dir, tempFolder, "put_0123456789abcdef"), []byte("re"), 0o600); err != nil {
		t.Fatal(err)
	}
	wantNone(t, s, 7, sum("rent"))
	put(t, s, 7, "rent")
	wantContent(t, s, 7, "rent")
}
