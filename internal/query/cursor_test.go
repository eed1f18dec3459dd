package query

import (
	"bytes"
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
)

var cursorTime = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

func sealer(t testing.TB, key string) *Sealer {
	t.Helper()
	s, err := NewSealer([]byte(key))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestCursorRoundTrip(t *testing.T) {
	s := sealer(t, "key")
	rapid.Check(t, func(rt *rapid.T) {
		at := Position{
			Connection: pdpp.ConnectionID(rapid.StringMatching(`[A-Za-z0-9_-]{1,128}`).Draw(rt, "connection")),
			Key:        rapid.SliceOfN(rapid.Byte(), 1, 1100).Draw(rt, "key"),
		}
		scope := Scope(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(rt, "scope"))
		c := s.SealPosition(scope, at, cursorTime)
		if len(c) > maxCursor {
			rt.Fatalf("a cursor of %d bytes", len(c))
		}
		got, err := s.OpenPosition(scope, c, cursorTime.Add(RecordPages.age))
		if err != nil {
			rt.Fatal(err)
		}
		if diff := cmp.Diff(&at, got); diff != "" {
			rt.Fatal(diff)
		}
	})
}

func TestCursorRefuses(t *testing.T) { // C-37, C-39
	s := sealer(t, "key")
	scope := Scope{1}
	at := Position{Connection: "cin_1", Key: []byte("key of a record")}
	good := s.SealPosition(scope, at, cursorTime)
	raw, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(good, RecordPages.prefix))
	if err != nil {
		t.Fatal(err)
	}
	for i := range raw {
		forged := bytes.Clone(raw)
		forged[i] ^= 1
		if _, err := s.OpenPosition(scope, RecordPages.prefix+base64.RawURLEncoding.EncodeToString(forged), cursorTime); pdpp.CodeOf(err) != pdpp.CodeInvalidCursor {
			t.Fatalf("byte %d flipped: %v", i, err)
		}
	}
	for i := range good {
		if _, err := s.OpenPosition(scope, good[:i], cursorTime); faultOf(err) != (fault{pdpp.CodeInvalidCursor, "cursor", ""}) {
			t.Fatalf("cut at %d: %v", i, err)
		}
	}
	for name, c := range map[string]string{
		"empty": "", "prefix alone": "pc1.", "other space": "cc1." + good[4:], "upper case": "PC1." + good[4:], "padded": good + "=",
		"longer": good + "A", "white space": good + "\n", "other key": sealer(t, "other").SealPosition(scope, at, cursorTime),
		"other scope": s.SealPosition(Scope{2}, at, cursorTime), "too long": RecordPages.prefix + strings.Repeat("A", maxCursor),
		"standard alphabet": RecordPages.prefix + base64.RawStdEncoding.EncodeToString(append([]byte{0xff, 0xef}, raw...)),
	} {
		if _, err := s.OpenPosition(scope, c, cursorTime); pdpp.CodeOf(err) != pdpp.CodeInvalidCursor {
			t.Errorf("%s: %v", name, err)
		}
	}
	_, err = s.OpenPosition(scope, good, cursorTime.Add(RecordPages.age+time.Millisecond))
	if faultOf(err) != (fault{pdpp.CodeCursorExpired, "cursor", ""}) {
		t.Errorf("a day later: %v", err)
	}
	// Whether a foreign cursor is old is nobody's business.
	if _, err := s.OpenPosition(Scope{2}, good, cursorTime.Add(48*time.Hour)); pdpp.CodeOf(err) != pdpp.CodeInvalidCursor {
		t.Errorf("a foreign one, later: %v", err)
	}
}

func TestScope(t *testing.T) { // C-38
	base := ScopeOf("own_1", "grt_1", "/v1/x", "1/a:6", parse(t, "filter[a]=1&filter[b][gte]=2&fields=a,b&sort=a"))
	for _, raw := range []string{
		"filter[a]=1&filter[b][gte]=2&fields=a,b&sort=a&limit=5&count=exact&cursor=pc1.x",
		"sort=a&fields=a,b&filter[b][gte]=2&filter[a]=1",
		"filter%5Ba%5D=1&filter[b][gte]=2&fields=a%2Cb&sort=a",
	} {
		if got := ScopeOf("own_1", "grt_1", "/v1/x", "1/a:6", parse(t, raw)); got != base {
			t.Errorf("%q has another scope", raw)
		}
	}
	same := parse(t, "filter[a]=1&filter[b][gte]=2&fields=a,b&sort=a")
	seen := map[Scope]string{base: "base"}
	add := func(name string, s Scope) {
		if other, ok := seen[s]; ok {
			t.Errorf("%s and %s have one scope", name, other)
		}
		seen[s] = name
	}
	add("subject", ScopeOf("own_2", "grt_1", "/v1/x", "1/a:6", same))
	add("grant", ScopeOf("own_1", "grt_2", "/v1/x", "1/a:6", same))
	add("owner", ScopeOf("own_1", "", "/v1/x", "1/a:6", same))
	add("path", ScopeOf("own_1", "grt_1", "/v1/y", "1/a:6", same))
	add("order", ScopeOf("own_1", "grt_1", "/v1/x", "1/b:6", same))
	add("shifted border", ScopeOf("own_1g", "rt_1", "/v1/x", "1/a:6", same))
	for _, raw := range []string{
		"", "filter[a]=1&filter[b][gte]=2&fields=a,b", "filter[a]=2&filter[b][gte]=2&fields=a,b&sort=a", "filter[a]=1&filter[b][gt]=2&fields=a,b&sort=a",
		"filter[a]=1&filter[b]=2&fields=a,b&sort=a", "filter[a]=1&filter[b][gte]=2&fields=b,a&sort=a", "filter[a]=1&filter[b][gte]=2&fields=a,b&sort=-a",
		"filter[a]=1&filter[b][gte]=2&fields=a,b&sort=a&connection_id=c", "filter[a]=1&filter[b][gte]=2&view=a,b&sort=a",
	} {
		add(raw, ScopeOf("own_1", "grt_1", "/v1/x", "1/a:6", parse(t, raw)))
	}
}

func FuzzOpen(f *testing.F) {
	s := sealer(f, "key")
	good := s.SealPosition(Scope{1}, Position{Connection: "cin_1", Key: []byte("k")}, cursorTime)
	for _, seed := range []string{"", "pc1.", good, good[:40], "pc1." + strings.Repeat("A", 100), "pc1.____"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, cursor string) {
		at, err := s.OpenPosition(Scope{1}, cursor, cursorTime)
		if err == nil && (cursor != good || at == nil || string(at.Key) != "k" || at.Connection != "cin_1") {
			t.Fatalf("Open(%q) = %+v", cursor, at)
		}
		if err != nil && pdpp.CodeOf(err) != pdpp.CodeInvalidCursor {
			t.Fatalf("Open(%q): %v", cursor, err)
		}
	})
}
