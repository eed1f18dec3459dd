package mcp

import (
	"encoding/base64"
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// awkwardName draws names of connections, streams and records: ordinary ones, and those that
// need care in the grammar.
func awkwardName() *rapid.Generator[string] {
	parts := rapid.SampledFrom([]string{
		"a", "orders", "cin_a1", ":", "/", `\`, ".", "..", " ", `"`, "é", "日", "😀", "\x00", "\x1f", "\x7f", "\u0085", "\u202e", "%2F", "pdpp://record/", "e\u0301",
	})
	return rapid.Custom(func(t *rapid.T) string {
		return strings.Join(rapid.SliceOfN(parts, 0, 4).Draw(t, "parts"), "")
	})
}

// TestHandlesParseBack: every handle that is shown parses to the record it names (ID-1, ID-5,
// MS-52).
func TestHandlesParseBack(t *testing.T) {
	t.Run("ID-1 ID-5 handles parse back", func(t *testing.T) {
		rapid.Check(t, func(t *rapid.T) {
			h := Handle{awkwardName().Draw(t, "connection"), awkwardName().Draw(t, "stream"), awkwardName().Draw(t, "record")}
			id, embedded := h.String()
			if id == "" {
				if h.isNamed() {
					t.Fatalf("%+v has no handle", h)
				}
				return
			}
			want := h
			if !embedded {
				want.Connection = ""
			}
			got, err := parseHandle(id)
			if err != nil || got != want {
				t.Fatalf("ParseHandle(%q) = %+v, %v, want %+v", id, got, err, want)
			}
			if again, _ := got.String(); again != id {
				t.Fatalf("%q is shown again as %q", id, again)
			}
			if got, err := parseHandle(h.URI()); err != nil || got != h {
				t.Fatalf("ParseHandle(%q) = %+v, %v, want %+v", h.URI(), got, err, h)
			}
		})
	})
}

// TestHandleForms: MS-52 in the order of its cases.
func TestHandleForms(t *testing.T) {
	uri := func(h Handle) string { return h.URI() }
	tests := []struct {
		h        Handle
		want     string
		embedded bool
	}{
		{Handle{"cin_a1", "", "ent_31"}, "", false},
		{Handle{"cin_a1", "entries", ""}, "", false},
		{Handle{"cin_a1", "entries", ".."}, "", false},
		{Handle{"cin_a1", "entries", "a\x00b"}, "", false},
		{Handle{"cin_a1", "..", "ent_31"}, "", false},
		{Handle{"cin_a1", "en:tries", "ent_31"}, uri(Handle{"cin_a1", "en:tries", "ent_31"}), true},
		{Handle{"cin_a1", "entries", "a/b"}, uri(Handle{"cin_a1", "entries", "a/b"}), true},
		{Handle{"cin/a1", "entries", `a\b`}, uri(Handle{"cin/a1", "entries", `a\b`}), true},
		{Handle{"cin_a1", "entries", "a..b"}, uri(Handle{"cin_a1", "entries", "a..b"}), true},
		{Handle{"cin_a1", "entries", "a\nb"}, uri(Handle{"cin_a1", "entries", "a\nb"}), true},
		{Handle{"cin/a1", "entries", "ent_31"}, "entries:ent_31", false},
		{Handle{"cin:a1", "entries", "ent_31"}, "entries:ent_31", false},
		{Handle{"..", "entries", "ent_31"}, "entries:ent_31", false},
		{Handle{"cin_a1", "entries", "ent:31:b"}, "cin_a1/entries:ent:31:b", true},
		{Handle{"cin_a1", "entries", `["acc 1","2026-04"]`}, `cin_a1/entries:["acc 1","2026-04"]`, true},
		{Handle{"", "entries", "ent_31"}, "entries:ent_31", true},
	}
	for _, tt := range tests {
		if got, embedded := tt.h.String(); got != tt.want || embedded != tt.embedded {
			t.Errorf("%+v is shown as %q, embedded %v, want %q, %v", tt.h, got, embedded, tt.want, tt.embedded)
		}
	}
}

func encoded(payload string) string {
	return recordURI + base64.RawURLEncoding.EncodeToString([]byte(payload))
}

func TestHandlesRejected(t *testing.T) {
	t.Run("ID-5 handles rejected", func(t *testing.T) {
		ids := []string{
			"", "noseparator", "orders:", ":o1", "c1/", "/orders:o1", "c1/orders", "c1/x/orders:o1", "../c1/orders:o1",
			"c1/orders:../../etc", "c1/orders:a..b", "c1/..:o1", "./orders:o1", "c1/.:o1", "c1/orders:.", `c1\x/orders:o1`, `c1/orders:a\b`,
			"c1/orders:a\nb", "c1/orders:a\x00", "c1/or\x7fders:a", "c1/orders:\xff", "orders:a/b",
			"pdpp://", "pdpp://record", "pdpp://record/", "pdpp://record/!!", "pdpp://blob/" + encoded(`{}`)[len(recordURI):], "PDPP://record/x",
			encoded(`null`), encoded(`{}`), encoded(`[1]`), encoded(`{"v":1`),
			encoded(`{"v":2,"kind":"record","stream":"s","record_id":"r"}`),
			encoded(`{"v":"1","kind":"record","stream":"s","record_id":"r"}`),
			encoded(`{"v":1,"kind":"blob","stream":"s","record_id":"r"}`),
			encoded(`{"v":1,"kind":"record","stream":"s"}`),
			encoded(`{"v":1,"kind":"record","stream":"s","record_id":".."}`),
			encoded(`{"v":1,"kind":"record","stream":"s","record_id":"a\u0000"}`),
			encoded(`{"v":1,"kind":"record","stream":"s","record_id":5}`),
			encoded(`{"v":1,"kind":"record","connection_id":5,"stream":"s","record_id":"r"}`),
			encoded(`{"v":1,"kind":"record","connection_id":"","stream":"s","record_id":"r"}`),
			encoded(`{"v":1,"kind":"record","stream":"s","record_id":"r","grant_id":"g"}`),
			encoded(`{"kind":"record","v":1,"stream":"s","record_id":"r"}`),
			encoded(`{"v":1, "kind":"record","stream":"s","record_id":"r"}`),
			encoded(`{"v":1,"kind":"record","stream":"s","record_id":"r"}`) + "=",
			encoded(`{"v":1,"kind":"record","stream":"s","record_id":"r"}`) + "\n",
		}
		for _, id := range ids {
			h, err := parseHandle(id)
			var f *adapterError
			if !errors.As(err, &f) || f.Code != "invalid_id" || f.Param != "id" {
				t.Errorf("ParseHandle(%q) = %+v, %v, want invalid_id", id, h, err)
			}
		}
	})
}

func FuzzParseHandle(f *testing.F) {
	for _, s := range []string{"cin_a1/entries:ent_31", "entries:a:b", "", "../a:b", Handle{"c", "s", "a/b"}.URI(), "pdpp://record/e30"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, err := parseHandle(s)
		if err != nil {
			return
		}
		if !h.isNamed() {
			t.Fatalf("ParseHandle(%q) = %+v, which names nothing", s, h)
		}
		if again, err := parseHandle(h.URI()); err != nil || again != h {
			t.Fatalf("the URI of %+v is read as %+v, %v", h, again, err)
		}
	})
}

// TestRecordTemplate: the record template expanded with an id names the record of that id
// (MS-53).
func TestRecordTemplate(t *testing.T) {
	for uri, want := range map[string]Handle{
		"pdpp://record/cin_a1%2Fentries%3Aent_31":  {"cin_a1", "entries", "ent_31"},
		"pdpp://record/cin_a1%2fentries:a%3Ab%20c": {"cin_a1", "entries", "a:b c"},
		"pdpp://record/entries%3Aent_31":           {"", "entries", "ent_31"},
	} {
		if got, err := parseHandle(uri); err != nil || got != want {
			t.Errorf("RES-1 ParseHandle(%q) = %+v, %v, want %+v", uri, got, err, want)
		}
	}
	for _, uri := range []string{
		"pdpp://record/cin_a1%2F..%2Fentries%3Aent_31", "pdpp://record/%zz", "pdpp://record/entries%3A", "pdpp://record/%3Aent",
		"pdpp://record/pdpp%3A%2F%2Frecord%2Fx", "pdpp://other/a:b",
	} {
		if got, err := parseHandle(uri); err == nil {
			t.Errorf("ID-5 ParseHandle(%q) = %+v", uri, got)
		}
	}
}
