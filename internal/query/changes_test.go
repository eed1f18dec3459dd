package query_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
)

func changeSealer(t *testing.T) *query.Sealer {
	t.Helper()
	s, err := query.NewSealer([]byte(strings.Repeat("k", 32)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Whatever a session is, its cursor gives it back.
func TestSessionRoundTrip(t *testing.T) {
	s := changeSealer(t)
	scope := query.BookmarkScope("own_1", "grt_1", "entries")
	now := time.UnixMilli(1_700_000_000_000).UTC()
	rapid.Check(t, func(rt *rapid.T) {
		number := rapid.Int64Min(0)
		mark := func(name string) query.Mark {
			return query.Mark{Number: number.Draw(rt, name), Generation: number.Draw(rt, name)}
		}
		want := query.Session{
			Began: now.Add(-time.Duration(rapid.IntRange(0, 1e6).Draw(rt, "ago")) * time.Millisecond),
			Since: mark("since"), Until: mark("until"), After: number.Draw(rt, "after"), Start: rapid.Bool().Draw(rt, "start"),
		}
		if want.Start {
			want.At = &query.Position{
				Connection: pdpp.ConnectionID(rapid.StringMatching(`[a-z]{0,128}`).Draw(rt, "connection")),
				Key:        []byte(rapid.StringN(1, 120, 512).Draw(rt, "key")),
			}
		}
		text := s.SealSession(scope, want, now)
		if len(text) > 2048 {
			rt.Errorf("the cursor has %d bytes", len(text))
		}
		got, err := s.OpenSession(scope, text, now.Add(24*time.Hour))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			rt.Errorf("%v (-want +got):\n%s", err, diff)
		}
		if _, err := s.OpenSession(scope, text, now.Add(24*time.Hour+time.Millisecond)); pdpp.CodeOf(err) != pdpp.CodeCursorExpired {
			rt.Errorf("later: %v, want cursor_expired", err)
		}
	})
}

// A number is in no cursor as it is, and never twice in the same form (C-37).
func TestChangeNumbersAreHidden(t *testing.T) {
	s := changeSealer(t)
	scope := query.BookmarkScope("own_1", "", "entries")
	now := time.UnixMilli(1_700_000_000_000)
	const n = 0x0102030405060708
	plain := binary.BigEndian.AppendUint64(nil, n)
	m := query.Mark{Number: n, Generation: n}
	seen := map[string]bool{}
	for range 100 {
		for _, text := range []string{
			s.SealBookmark(scope, query.Shown{}, m, now),
			s.SealSession(scope, query.Session{Began: now, Since: m, Until: m, After: n}, now),
		} {
			raw, err := base64.RawURLEncoding.DecodeString(text[4:])
			if err != nil {
				t.Fatal(err)
			}
			if bytes.Contains(raw, plain) {
				t.Fatalf("the number is in %x", raw)
			}
			blocks := raw[8+16+8 : len(raw)-32] // after time, scope, and the state shown or the beginning
			for ; len(blocks) >= 16; blocks = blocks[16:] {
				if seen[string(blocks[:16])] {
					t.Fatalf("the same block twice: %x", blocks[:16])
				}
				seen[string(blocks[:16])] = true
			}
		}
	}
	if len(seen) != 100*(2+5) {
		t.Errorf("%d blocks, want 700", len(seen))
	}
	got, err := s.OpenBookmark(scope, query.Shown{}, s.SealBookmark(scope, query.Shown{}, m, now), now)
	if got != m || err != nil {
		t.Errorf("OpenBookmark = %+v, %v", got, err)
	}
	if _, err := s.OpenBookmark(scope, query.Shown{1}, s.SealBookmark(scope, query.Shown{}, m, now), now); pdpp.CodeOf(err) != pdpp.CodeCursorExpired {
		t.Errorf("shown differently: %v, want cursor_expired", err)
	}
	// What was sealed with fewer bytes than a bookmark has is no bookmark.
	if _, err := s.OpenBookmark(scope, query.Shown{}, s.Seal(query.Bookmarks, scope, []byte("short"), now), now); pdpp.CodeOf(err) != pdpp.CodeInvalidCursor {
		t.Errorf("short: %v, want invalid_cursor", err)
	}
	if _, err := s.OpenSession(scope, s.Seal(query.ChangePages, scope, []byte("short"), now), now); pdpp.CodeOf(err) != pdpp.CodeInvalidCursor {
		t.Errorf("short: %v, want invalid_cursor", err)
	}
}
