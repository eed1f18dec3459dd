package storetest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

var longTests = []test{
	{"stub and pieces", testStubAndPieces},
	{"the limit", testLongLimit},
	{"long from a character", testLongFrom},
	{"updates of long values", testLongUpdates},
	{"reading stops", testLongStops},
}

// pieces reads a long value of the only record in a source.
func pieces(w *world, field string) (stub store.Stub, parts [][]byte) {
	w.Helper()
	w.view(func(v store.View) error {
		q := query.Get{Subject: w.subject, Sources: w.both(), ID: "1"}
		return v.Get(q, func(r *store.Record) error {
			value, ok := rawjson.Get(r.Body, field)
			if !ok || rawjson.KindOf(value) != rawjson.KindStub {
				w.Fatalf("%s is stored as %.100q, want a stub", field, value)
			}
			stub = store.ParseStub(value)
			return v.Long(r.Ref, stub, 0, func(p []byte) bool {
				parts = append(parts, bytes.Clone(p))
				return true
			})
		})
	})
	return stub, parts
}

func testStubAndPieces(t *testing.T, open Opener) {
	for name, value := range map[string]string{
		"plain":      `"` + strings.Repeat("word ", 20000) + `"`,
		"escapes":    `"` + strings.Repeat(`\u00e9\\\"\n`, 9000) + `"`,
		"surrogates": `"x` + strings.Repeat(`\ud83d\ude00`, 17000) + `"`,
		"wide":       `"ab` + strings.Repeat("😀é", 20000) + `"`,
		"array":      `["a` + strings.Repeat(`é","\n😀`, 9000) + `"]`,
		"object":     `{"k":"` + strings.Repeat("é", 30000) + `"}`,
		"number":     strings.Repeat("7", 40000),
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, open)
			body := `{"id":"1","memo":` + value + `,"amount":1}`
			w.ingest(connA, put("1", body, 1))
			stub, parts := pieces(w, "memo")
			joined := string(bytes.Join(parts, nil))
			content := value
			if value[0] == '"' {
				content = value[1 : len(value)-1]
			}
			if joined != content {
				t.Errorf("the pieces give %d bytes, want the %d of the value", len(joined), len(content))
			}
			if stub.Bytes != len(content) || stub.Text != (value[0] == '"') || len(parts) < 2 {
				t.Errorf("stub = %+v in %d pieces of %d bytes", stub, len(parts), len(content))
			}
			chars := utf8.RuneCountInString(content)
			if stub.Text {
				chars = rawjson.CharCount([]byte(content))
			}
			if stub.Chars != chars {
				t.Errorf("stub has %d characters, want %d", stub.Chars, chars)
			}
			wholeCharacters(t, stub, parts)
		})
	}
}

// wholeCharacters: a piece is valid by itself, so it was not cut within a
// character or an escape.
func wholeCharacters(t *testing.T, stub store.Stub, parts [][]byte) {
	t.Helper()
	for i, p := range parts {
		if !utf8.Valid(p) {
			t.Errorf("piece %d is not valid UTF-8", i)
		}
		if !stub.Text {
			continue
		}
		text := `"` + string(p) + `"`
		if !json.Valid([]byte(text)) {
			t.Errorf("piece %d is cut within an escape: %.20s … %s", i, p, p[max(0, len(p)-20):])
		}
		if s, _ := rawjson.String([]byte(text)); strings.ContainsRune(s, utf8.RuneError) {
			t.Errorf("piece %d is cut within a surrogate pair", i)
		}
	}
}

func testLongLimit(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for _, size := range []int{store.LongValue - 1, store.LongValue, store.LongValue + 1} {
		value := `"` + strings.Repeat("x", size-2) + `"`
		w.ingest(connA, put("1", `{"memo":`+value+`}`, size))
		w.view(func(v store.View) error {
			return v.Get(query.Get{Subject: w.subject, Sources: w.both(), ID: "1"}, func(r *store.Record) error {
				stored, _ := rawjson.Get(r.Body, "memo")
				if stub := rawjson.KindOf(stored) == rawjson.KindStub; stub != (size > store.LongValue) {
					t.Errorf("a value of %d bytes is a stub: %v", size, stub)
				}
				return nil
			})
		})
	}
}

func testLongUpdates(t *testing.T, open Opener) {
	w := newWorld(t, open)
	long := func(c string) string { return `"` + strings.Repeat(c, 2*store.LongValue) + `"` }
	bodies := []string{
		`{"id":"1","memo":` + long("a") + `,"note":` + long("b") + `}`,
		`{"id":"1","memo":` + long("b") + `,"note":` + long("b") + `}`, // same size, other content
		`{"id":"1","memo":` + long("b") + `}`,
		`{"id":"1","memo":"short"}`,
		`{"id":"1","note":` + long("c") + `,"memo":` + long("d") + `,"tags":[` + long("e") + `]}`,
	}
	for i, body := range bodies {
		if out := w.ingest(connA, put("1", body, i)); out[0] != store.Stored {
			t.Errorf("update %d = %v, want stored", i, out[0])
		}
		if out := w.ingest(connA, put("1", body, 99)); out[0] != store.Unchanged {
			t.Errorf("update %d again = %v, want unchanged", i, out[0])
		}
		if rows := w.get("1", w.both()...); len(rows) != 1 || rows[0].Body != body {
			t.Errorf("after update %d: %.80v", i, rows)
		}
	}
	w.ingest(connA, drop("1", 100), put("1", bodies[2], 4))
	if rows := w.get("1", w.both()...); len(rows) != 1 || rows[0].Body != bodies[2] {
		t.Errorf("after delete and insert: %.80v", rows)
	}
}

// testLongStops: reading a window reads no more pieces than it needs, also during a list.
func testLongStops(t *testing.T, open Opener) {
	w := newWorld(t, open)
	body := `{"memo":"` + strings.Repeat("x", 5*store.LongValue) + `"}`
	w.ingest(connA, put("1", body, 1), put("2", body, 2))
	w.view(func(v store.View) error {
		calls, records := 0, 0
		q := query.List{Subject: w.subject, Sources: w.both(), Order: query.Order{By: query.ByID}, Limit: 10}
		_, err := v.List(q, func(r *store.Record) (bool, error) {
			records++
			value, _ := rawjson.Get(r.Body, "memo")
			err := v.Long(r.Ref, store.ParseStub(value), 0, func([]byte) bool {
				calls++
				return calls%2 != 0
			})
			return true, err
		})
		if records != 2 || calls != 4 {
			t.Errorf("%d records and %d pieces were read, want 2 and 4", records, calls)
		}
		return err
	})
	if n := w.count(w.from(connA, "entries")); n != 2 {
		t.Errorf("Count = %d, want 2", n)
	}
	src := w.from(connA, "entries")
	src.Where = []query.Condition{w.where(src.Stream, "memo", pdpp.OpEq, strings.Repeat("x", 1024))}
	if n := w.count(src); n != 0 {
		t.Errorf("a prefix of a long value equals it: %d records", n)
	}
}

// testLongFrom: reading may begin at any character, with the piece that contains it.
func testLongFrom(t *testing.T, open Opener) {
	w := newWorld(t, open)
	text := strings.Repeat("äb\\n", 3*store.PieceChars)
	w.ingest(connA, put("1", `{"memo":"`+text+`"}`, 1))
	w.view(func(v store.View) error {
		q := query.Get{Subject: w.subject, Sources: w.both()[:1], ID: "1"}
		return v.Get(q, func(r *store.Record) error {
			value, _ := rawjson.Get(r.Body, "memo")
			stub := store.ParseStub(value)
			for _, from := range []int{0, 1, store.PieceChars - 1, store.PieceChars, 5*store.PieceChars + 7, stub.Chars - 1, stub.Chars + store.PieceChars} {
				var got []byte
				err := v.Long(r.Ref, stub, from, func(p []byte) bool {
					got = append(got, p...)
					return true
				})
				if err != nil {
					return err
				}
				skipped := rawjson.Prefix([]byte(text), from-from%store.PieceChars)
				if string(got) != text[len(skipped):] {
					t.Errorf("from %d: %d bytes, want %d", from, len(got), len(text)-len(skipped))
				}
			}
			return nil
		})
	})
}
