package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"
)

// Changes compares reading a session of n changes, in pages of 100, with paging
// through a plain list of the same records.
func (s *Suite) Changes(ctx context.Context, n int) (Row, error) {
	dir, err := s.folder()
	if err != nil {
		return Row{}, err
	}
	w, err := NewWorld(ctx, dir)
	if err != nil {
		return Row{}, err
	}
	if err := w.Close(); err != nil {
		return Row{}, err
	}
	serve := func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }
	var bookmark string
	err = serving(ctx, serve, func(addr string) error {
		c, err := dial(addr)
		if err != nil {
			return err
		}
		defer c.close()
		err = c.do(request(recordsPath + "?changes_since=beginning"))
		bookmark = valueOf(c.body, "next_changes_since")
		return err
	})
	if err != nil {
		return Row{}, err
	}
	if err := s.fill(ctx, dir, n); err != nil {
		return Row{}, err
	}
	var changes, list []float64
	err = serving(ctx, serve, func(addr string) error {
		for i := range s.Rounds + 1 {
			s.Progress("%s changes in pages, round %d of %d", count(n), i, s.Rounds)
			log, err1 := readAllPages(addr, "limit=100", "&changes_since="+bookmark, n)
			plain, err2 := readAllPages(addr, "limit=100", "", n)
			if err := errors.Join(err1, err2, ctx.Err()); err != nil {
				return err
			}
			if i > 0 { // the first round is a warm-up
				changes, list = append(changes, perSecond(n, log)), append(list, perSecond(n, plain))
			}
		}
		return nil
	})
	what := fmt.Sprintf("%s changes in pages of 100 / list paging", count(n))
	return compare(what, "records/s", median(changes), median(list), AtLeast(0.5)), err
}

// fill adds n records to an existing store.
func (s *Suite) fill(ctx context.Context, dir string, n int) error {
	w, err := OpenWorld(ctx, dir)
	if err != nil {
		return err
	}
	_, err = w.Ingest(ctx, s.Corpus.Lines(0, n), n, func(done int) {
		s.Progress("writing changes: %s of %s", count(done), count(n))
	})
	return errors.Join(err, w.Close())
}

// readAllPages follows the cursors of a list to its end and checks the number of records.
func readAllPages(addr, params, first string, n int) (time.Duration, error) {
	c, err := dial(addr)
	if err != nil {
		return 0, err
	}
	defer c.close()
	start := time.Now()
	records, next := 0, first
	for {
		if err := c.do(request(recordsPath + "?" + params + next)); err != nil {
			return 0, err
		}
		records += bytes.Count(c.body, []byte(`{"object":"record"`))
		cursor := valueOf(c.body, "next_cursor")
		if cursor == "" {
			break
		}
		next = "&cursor=" + cursor
	}
	took := time.Since(start)
	if records != n {
		return 0, fmt.Errorf("%d records in all pages, want %d", records, n)
	}
	return took, nil
}

// valueOf returns a string member near the end of an answer; "" if it is missing.
func valueOf(body []byte, name string) string {
	key := []byte(`"` + name + `":"`)
	i := bytes.LastIndex(body, key)
	if i < 0 {
		return ""
	}
	value, _, _ := bytes.Cut(body[i+len(key):], []byte{'"'})
	return string(value)
}
