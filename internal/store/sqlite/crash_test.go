package sqlite

import (
	"bufio"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

// crashDir is the environment variable that turns the test binary into a process
// that ingests until it is killed.
const crashDir = "PDPP_TEST_CRASH_DIR"

const crashBatch = 25

// ingestUntilKilled writes batch after batch and prints the number of each one
// that was acknowledged.
func ingestUntilKilled(dir string) {
	ctx := context.Background()
	db, err := Open(ctx, dir)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	w := world{db: db}
	if err := w.find(ctx); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	for n := w.batches(ctx); ; n++ {
		var docs []store.Document
		for i := range crashBatch {
			docs = append(docs, store.Prepare(w.binding, store.Input{
				ID:   pdpp.RecordID(fmt.Sprintf("%06d-%02d", n, i)),
				Data: fmt.Appendf(nil, `{"memo":"batch %d","posted_at":"2026-01-01"}`, n), EmittedAt: epoch,
			}))
		}
		if err := w.ingest(ctx, docs...); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		fmt.Println(n)
	}
}

// batches returns the number of complete batches in the store; an incomplete one is an
// error.
func (w *world) batches(ctx context.Context) int {
	var n int64
	err := w.db.View(ctx, func(v store.View) (err error) {
		n, err = v.Count(query.List{Subject: w.subject, Sources: []query.Source{w.source()}})
		return err
	})
	if err != nil || n%crashBatch != 0 {
		panic(fmt.Sprintf("%d records, %v", n, err))
	}
	return int(n / crashBatch)
}

// TestKilled: after SIGKILL at any moment, every acknowledged batch is in the store, and
// no batch is there in part.
func TestKilled(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	func() {
		db, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		newWorldIn(t, db)
	}()
	done := 0
	for round := range 4 {
		done = max(done, runAndKill(t, dir))
		db, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatalf("round %d: %v", round, err)
		}
		w := world{db: db}
		if err := w.find(t.Context()); err != nil {
			t.Fatal(err)
		}
		if got := w.batches(t.Context()); got < done {
			t.Errorf("round %d: %d batches are there, %d were acknowledged", round, got, done)
		}
		w.consistent(t)
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}
}

// runAndKill returns the number of batches that the process acknowledged.
func runAndKill(t *testing.T, dir string) (acknowledged int) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), crashDir+"="+dir)
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(out)
	enough := rand.IntN(12) + 1
	for n := 0; lines.Scan(); n++ {
		last, err := strconv.Atoi(lines.Text())
		if err != nil {
			t.Errorf("the process said %q", lines.Text())
		}
		acknowledged = last + 1
		if n == enough {
			// Some way into one of the next batches.
			time.AfterFunc(time.Duration(rand.IntN(20000))*time.Microsecond, func() { _ = cmd.Process.Kill() })
		}
	}
	if err := cmd.Wait(); err == nil {
		t.Error("the process ended by itself")
	}
	if acknowledged == 0 {
		t.Error("the process acknowledged nothing")
	}
	return acknowledged
}
