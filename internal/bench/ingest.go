package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"time"

	"pdpp/internal/store"
)

// Ingest compares ingest of n records, from lines in memory, with bare inserts
// of the same rows. The last round of ingest is profiled.
func (s *Suite) Ingest(ctx context.Context, n, rounds int) (Row, error) {
	lines, rows, err := s.input(ctx, n)
	if err != nil {
		return Row{}, err
	}
	var ours, bare []float64
	for i := range rounds {
		s.Progress("ingest of %s records, round %d of %d", count(n), i+1, rounds)
		var took time.Duration
		err := s.profiled("ingest", i == rounds-1, func() (err error) {
			took, err = s.ingestOnce(ctx, lines, n)
			return err
		})
		if err != nil {
			return Row{}, err
		}
		ours = append(ours, perSecond(n, took))
		if took, err = s.bareOnce(rows); err != nil {
			return Row{}, err
		}
		bare = append(bare, perSecond(n, took))
	}
	what := fmt.Sprintf("ingest, %s records / bare inserts", count(n))
	return compare(what, "rows/s", median(ours), median(bare), AtLeast(0.40)), nil
}

// input returns the lines, and the rows of the baseline for them.
func (s *Suite) input(ctx context.Context, n int) (lines []byte, rows []bareRow, err error) {
	for i := range n {
		lines = s.Corpus.AppendLine(lines, i)
	}
	err = s.inNewWorld(ctx, func(w *World) error {
		return w.Store.View(ctx, func(v store.View) error {
			b, err := v.Binding(w.Subject, connection, w.Manifest.Stream(stream))
			if err != nil {
				return err
			}
			rows, err = bareRows(b, lines)
			return err
		})
	})
	return lines, rows, err
}

func (s *Suite) ingestOnce(ctx context.Context, lines []byte, n int) (took time.Duration, err error) {
	err = s.inNewWorld(ctx, func(w *World) error {
		runtime.GC() // neither side collects the garbage of the other
		took, err = w.Ingest(ctx, bytes.NewReader(lines), n, nil)
		return err
	})
	return took, err
}

func (s *Suite) bareOnce(rows []bareRow) (took time.Duration, err error) {
	dir, err := s.folder()
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	runtime.GC()
	return insertBare(dir, rows)
}

// inNewWorld calls fn with an empty store and removes it afterwards.
func (s *Suite) inNewWorld(ctx context.Context, fn func(*World) error) (err error) {
	dir, err := s.folder()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	w, err := NewWorld(ctx, dir)
	if err != nil {
		return err
	}
	return errors.Join(fn(w), w.Close())
}
