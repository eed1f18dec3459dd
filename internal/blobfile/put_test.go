package blobfile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"testing"
	"testing/iotest"
	"time"

	"pgregory.net/rapid"

	"pdpp"
)

func TestLimit(t *testing.T) {
	tests := []struct {
		size  int
		limit int64
		ok    bool
	}{
		{0, 0, true},
		{1, 0, false},
		{10, 10, true},
		{11, 10, false},
		{65536, 65536, true},
		{65537, 65536, false},
		{65535, 65536, true},
		{200_000, 65536, false},
		{200_000, 200_000, true},
		{10, math.MaxInt64, true},
		{0, -1, true}, // nothing is never too much
		{1, -1, false},
	}
	for _, tt := range tests {
		s, dir := fresh(t)
		content := strings.Repeat("x", tt.size)
		r := strings.NewReader(content)
		_, err := s.Put(t.Context(), 7, r, tt.limit)
		if tt.ok && err != nil || !tt.ok && pdpp.CodeOf(err) != pdpp.CodeResourceLimit {
			t.Errorf("Put of %d bytes, limit %d: %v", tt.size, tt.limit, err)
		}
		if tt.ok {
			wantContent(t, s, 7, content)
			continue
		}
		wantFiles(t, dir, 0)
		if read := int64(tt.size - r.Len()); read > max(tt.limit, 0)+1 {
			t.Errorf("Put with limit %d read %d bytes", tt.limit, read)
		}
	}
}

func TestLimitIsNamed(t *testing.T) {
	for limit, want := range map[int64]string{50 << 20: "50 MiB", 1000: "1000 bytes", 1<<20 + 1: "1048577 bytes"} {
		if msg := tooLarge(limit).Error(); !strings.Contains(msg, want) {
			t.Errorf("tooLarge(%d) = %q, want %q in it", limit, msg, want)
		}
	}
}

func TestReaderFails(t *testing.T) {
	broken := errors.New("connection reset")
	for name, err := range map[string]error{"other": broken, "cut": io.ErrUnexpectedEOF, "wrapped end": fmt.Errorf("half: %w", io.EOF)} {
		t.Run(name, func(t *testing.T) {
			s, dir := fresh(t)
			r := io.MultiReader(strings.NewReader(strings.Repeat("x", 100_000)), iotest.ErrReader(err))
			if _, got := s.Put(t.Context(), 7, r, plenty); !errors.Is(got, err) {
				t.Errorf("Put = %v, want %v", got, err)
			}
			wantFiles(t, dir, 0)
		})
	}
}

func TestOddReaders(t *testing.T) {
	s, _ := fresh(t)
	content := strings.Repeat("rent ", 1000)
	for name, r := range map[string]io.Reader{
		"byte by byte":  iotest.OneByteReader(strings.NewReader(content)),
		"half":          iotest.HalfReader(strings.NewReader(content)),
		"data with end": iotest.DataErrReader(strings.NewReader(content)),
	} {
		if blob, err := s.Put(t.Context(), 7, r, int64(len(content))); err != nil || blob.SHA256 != sum(content) {
			t.Errorf("%s: Put = %v, %v", name, blob, err)
		}
	}
}

// cancelling cancels ctx at the n-th Read.
type cancelling struct {
	n      int
	cancel context.CancelFunc
}

func (c *cancelling) Read(p []byte) (int, error) {
	if c.n--; c.n == 0 {
		c.cancel()
		return 1, io.EOF
	}
	return len(p), nil
}

func TestCancel(t *testing.T) {
	for _, reads := range []int{1, 2, 5} { // the end comes with the cancellation
		s, dir := fresh(t)
		ctx, cancel := context.WithCancel(t.Context())
		if _, err := s.Put(ctx, 7, &cancelling{reads, cancel}, plenty); !errors.Is(err, context.Canceled) {
			t.Errorf("Put cancelled at read %d = %v, want %v", reads, err, context.Canceled)
		}
		wantFiles(t, dir, 0)
	}
}

func TestCancelEndlessReader(t *testing.T) {
	s, dir := fresh(t)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Millisecond)
	defer cancel()
	if _, err := s.Put(ctx, 7, endless{}, math.MaxInt64); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Put = %v, want %v", err, context.DeadlineExceeded)
	}
	if _, err := s.Put(ctx, 7, strings.NewReader("rent"), plenty); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Put after the deadline = %v, want %v", err, context.DeadlineExceeded)
	}
	wantFiles(t, dir, 0)
}

// endless reads zero bytes, forever.
type endless struct{}

func (endless) Read([]byte) (int, error) { return 0, nil }

func TestConcurrentPuts(t *testing.T) {
	s, dir := fresh(t)
	other := open(t, dir) // as another process would
	content := strings.Repeat("rent ", 50_000)
	var group sync.WaitGroup
	for i := range 16 {
		group.Go(func() {
			st := s
			if i%2 == 0 {
				st = other
			}
			if blob, err := st.Put(t.Context(), 1+int64(i%2), strings.NewReader(content), plenty); err != nil || blob.SHA256 != sum(content) {
				t.Errorf("Put = %v, %v", blob, err)
			}
			wantContent(t, st, 1+int64(i%2), content)
		})
	}
	group.Wait()
	wantFiles(t, dir, 2)
}

func TestConcurrentPutsAndRemoves(t *testing.T) {
	s, dir := fresh(t)
	content := strings.Repeat("rent ", 1000)
	var group sync.WaitGroup
	for i := range 4 {
		group.Go(func() {
			for range 20 {
				if i%2 == 0 {
					if _, err := s.Put(t.Context(), 7, strings.NewReader(content), plenty); err != nil {
						t.Errorf("Put: %v", err)
					}
				} else if err := s.Remove(7, sum(content)); err != nil {
					t.Errorf("Remove: %v", err)
				}
				wantWholeOrNone(t, s, content)
			}
		})
	}
	group.Wait()
	put(t, s, 7, content)
	wantContent(t, s, 7, content)
	wantFiles(t, dir, 1)
}

func wantWholeOrNone(t *testing.T, s *Store, content string) {
	t.Helper()
	f, _, err := s.Open(7, sum(content))
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return
	}
	if err != nil {
		t.Errorf("Open: %v", err)
		return
	}
	defer f.Close()
	if got, err := io.ReadAll(f); err != nil || string(got) != content {
		t.Errorf("read %d bytes, %v, want %d", len(got), err, len(content))
	}
}

// Any sequence of calls leaves the same content as in a map.
func TestLikeAMap(t *testing.T) {
	contents := []string{"", "a", "b", strings.Repeat("c", 70_000)}
	rapid.Check(t, func(rt *rapid.T) {
		s, dir := fresh(t)
		type key struct {
			owner int64
			hash  string
		}
		model := map[key]string{}
		for range rapid.IntRange(1, 12).Draw(rt, "calls") {
			content := rapid.SampledFrom(contents).Draw(rt, "content")
			k := key{rapid.Int64Range(1, 2).Draw(rt, "owner"), sum(content)}
			if rapid.Bool().Draw(rt, "put") {
				put(t, s, k.owner, content)
				model[k] = content
			} else if err := s.Remove(k.owner, k.hash); err != nil {
				rt.Fatal(err)
			} else {
				delete(model, k)
			}
		}
		for k, content := range model {
			wantContent(t, s, k.owner, content)
		}
		if list := files(t, dir); len(list) != len(model) {
			rt.Fatalf("files %v, want %d", list, len(model))
		}
	})
}
