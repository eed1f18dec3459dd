package bench

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime/pprof"
	"strings"
	"time"
)

// Suite describes a run: its sizes and its folder.
type Suite struct {
	Dir    string // a folder for stores; the caller removes it
	Corpus *Corpus

	Small, Large int           // records of the two stores
	Rounds       int           // of each side of a ratio
	Round        time.Duration // of requests
	Samples      int           // requests per store when latencies are compared
	Calls        int           // tool calls before the memory of the adapter is measured
	Clients      int           // concurrent clients of Crowd
	CrowdTime    time.Duration // how long they run

	// Profiles, when not "", is the folder for a CPU profile per measurement.
	Profiles string
	// Progress reports the current step. It may be called often.
	Progress func(format string, args ...any)
}

// folder creates a new folder for a store.
func (s *Suite) folder() (string, error) { return os.MkdirTemp(s.Dir, "store-") }

// Build creates a store of n records through the real path of ingest and closes it. It
// returns its folder and the rate of ingest.
func (s *Suite) Build(ctx context.Context, n int) (dir string, row Row, err error) {
	if dir, err = s.folder(); err != nil {
		return "", row, err
	}
	w, err := NewWorld(ctx, dir)
	if err != nil {
		return "", row, err
	}
	took, err := w.Ingest(ctx, s.Corpus.Lines(0, n), n, func(done int) {
		s.Progress("building a store: %s of %s records", count(done), count(n))
	})
	if err == nil {
		err = w.tidy(ctx)
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	return dir, state(fmt.Sprintf("build of %s records, generating their lines", count(n)), "rows/s", perSecond(n, took), nil), err
}

func perSecond(n int, took time.Duration) float64 { return float64(n) / took.Seconds() }

// profiled runs fn, under the CPU profiler if Profiles is set and the round is measured.
func (s *Suite) profiled(name string, measured bool, fn func() error) (err error) {
	if s.Profiles == "" || !measured {
		return fn()
	}
	f, err := os.Create(filepath.Join(s.Profiles, strings.NewReplacer("/", "-", " ", "-").Replace(name)+".pprof"))
	if err != nil {
		return err
	}
	defer func() {
		if closed := f.Close(); err == nil {
			err = closed
		}
	}()
	if err := pprof.StartCPUProfile(f); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	return fn()
}

// count formats a number with separators between thousands.
func count(n int) string {
	if n < 1000 {
		return fmt.Sprint(n)
	}
	return count(n/1000) + fmt.Sprintf(",%03d", n%1000)
}
