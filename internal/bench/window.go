package bench

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pdpp/internal/store"
)

// A message far longer than the limit of a line of ingest. A window of it must cost the
// same at any position.
const (
	letterBytes = 50 << 20
	letterID    = "letter"
	windowChars = 4096
)

// Windows compares a window at the end of a long field with one at its start.
func (s *Suite) Windows(ctx context.Context) (Row, error) {
	dir, err := s.folder()
	if err != nil {
		return Row{}, err
	}
	s.Progress("storing a message of %d MB", letterBytes>>20)
	chars, err := s.storeLetter(ctx, dir)
	if err != nil {
		return Row{}, err
	}
	target := fmt.Sprintf("%s/%s/field-window?field=body&limit_chars=%d&offset_chars=", recordsPath, letterID, windowChars)
	asks := [2][]byte{request(target + "0"), request(fmt.Sprint(target, chars-windowChars))}
	var ms [2][]float64
	serve := func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }
	err = serving(ctx, serve, func(addr string) error {
		c, err := dial(addr)
		if err != nil {
			return err
		}
		defer c.close()
		s.Progress("windows of a message of %d MB", letterBytes>>20)
		for i := -s.Samples / 4; i < s.Samples; i++ {
			for j := range asks {
				side := (i + j) & 1
				took, err := c.timed(asks[side])
				if err := errors.Join(err, ctx.Err()); err != nil {
					return err
				}
				if i >= 0 {
					ms[side] = append(ms[side], float64(took)/float64(time.Millisecond))
				}
			}
		}
		return nil
	})
	what := fmt.Sprintf("window of %d characters, end / start of %d MB", windowChars, letterBytes>>20)
	return compare(what, "ms", median(ms[1]), median(ms[0]), AtMost(1.5)), err
}

// storeLetter creates a store with one long message and returns its length in characters.
func (s *Suite) storeLetter(ctx context.Context, dir string) (chars int, err error) {
	w, err := NewWorld(ctx, dir)
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	data := []byte(`{"id":"` + letterID + `","sent_at":"2026-01-01T00:00:00Z","body":"`)
	start := len(data)
	for d := (dice{state: 3}); len(data) < letterBytes; {
		data = append(s.Corpus.appendText(data, &d, 1000, false), ' ')
	}
	chars = len([]rune(string(data[start:])))
	data = append(data, `"}`...)
	return chars, w.Store.Update(ctx, func(tx store.Tx) error {
		b, err := tx.Binding(w.Subject, connection, w.Manifest.Stream(stream))
		if err != nil {
			return err
		}
		doc := store.Prepare(b, store.Input{ID: letterID, Data: data, EmittedAt: firstEmitted})
		_, err = tx.Ingest(b, []store.Document{doc}, firstEmitted)
		return err
	})
}
