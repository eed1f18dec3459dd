package storetest

import (
	"strconv"
	"strings"
	"testing"

	"pdpp/internal/query"
	"pdpp/internal/store"
)

var byteTests = []test{
	{"bodies come back exactly", testExactBodies},
	{"bodies with long values come back exactly", testExactLongBodies},
	{"odd ids", testOddIDs},
}

// oddBodies are compact objects that a decoder and encoder would change (C-33).
var oddBodies = []string{
	`{}`,
	`{"a":1e400,"b":12.50,"c":-0,"d":1E+2,"e":0.10e-7}`,
	`{"n":123456789012345678901234567890,"m":-9223372036854775809,"k":9007199254740993}`,
	`{"z":1,"a":2,"m":3,"b":4}`,
	`{"s":"\u0041\/\b\f\n\r\t\"\\","t":"é","u":"\u00e9","v":"e\u0301"}`,
	`{"lone":"\ud800","pair":"\ud83d\ude00","raw":"😀","low":"\udc00\ud800"}`,
	`{"nul":"\u0000","ls":"\u2028","rawls":"` + "\u2028" + `","del":"` + "\x7f" + `","html":"<&>"}`,
	`{"a":1,"A":2,"a ":3,"\u0430":4,"":5,"é":6,"e\u0301":7}`,
	`{"\u0061\u0062":"escaped key","a\tb":1,"\ud800":2,"\ud801x":3,"q\"q":4,"s\/s":5}`,
	`{"nested":{"b":[1.0,{"a":"\u0041"},[],{}],"a":null},"t":true,"f":false}`,
	`{"id":"7","memo":7,"amount":"7","posted_at":7,"due":{},"paid":"true","pieces":[7]}`,
}

func exactly(t *testing.T, w *world, bodies []string) {
	t.Helper()
	for i, body := range bodies {
		w.ingest(connA, put(strconv.Itoa(i), body, i))
	}
	for i, body := range bodies {
		rows := w.get(strconv.Itoa(i), w.both()...)
		if len(rows) != 1 || rows[0].Body != body {
			t.Errorf("stored %.300s\ngot    %.300v", body, rows)
		}
		if out := w.ingest(connA, put(strconv.Itoa(i), body, 900)); out[0] != store.Unchanged {
			t.Errorf("the same body again is %v, want unchanged: %.300s", out[0], body)
		}
	}
	rows := w.list(query.List{Sources: w.both(), Order: query.Order{By: query.ByEmitted}})
	for i, r := range rows {
		if r.Body != bodies[i] {
			t.Errorf("listed %.300s\nwant   %.300s", r.Body, bodies[i])
		}
	}
}

func testExactBodies(t *testing.T, open Opener) { exactly(t, newWorld(t, open), oddBodies) }

// testExactLongBodies repeats it with a long value before and after: cutting it out must
// not change the rest.
func testExactLongBodies(t *testing.T, open Opener) {
	long := `"` + strings.Repeat("long ", store.LongValue/4) + `"`
	var bodies []string
	for _, body := range oddBodies[1:] {
		bodies = append(bodies, `{"first":`+long+`,`+body[1:len(body)-1]+`,"last":`+long+`}`)
	}
	exactly(t, newWorld(t, open), bodies)
}

func testOddIDs(t *testing.T, open Opener) {
	w := newWorld(t, open, decl{name: "entries", fields: []string{"a string", "b string"}, key: []string{"a", "b"}})
	odd := []string{
		`["a","b"]`, `["a","<&>\""]`, " ", "%2e", "é", "e\u0301", "\u2028", "😀", "\x7f", "'; --", "A", "a", "0", "-1",
		strings.Repeat("é", 256),
	}
	var in []store.Input
	for _, id := range odd {
		in = append(in, put(id, `{"n":`+strconv.Itoa(len(id))+`}`, 1))
	}
	w.ingest(connA, in...)
	for _, id := range odd {
		if rows := w.get(id, w.both()...); len(rows) != 1 || rows[0].ID != id {
			t.Errorf("Get(%q) = %v", id, rows)
		}
		src := w.from(connA, "entries")
		src.Resources = append(src.Resources, in[0].ID, in[len(in)-1].ID)
		want := 0
		if id == odd[0] || id == odd[len(odd)-1] {
			want = 1
		}
		if rows := w.get(id, src); len(rows) != want {
			t.Errorf("Get(%q) with resources = %v, want %d records", id, rows, want)
		}
	}
	for size := 1; size <= 3; size++ {
		rows := w.pages(query.List{Sources: w.both(), Order: query.Order{By: query.ByID}}, size)
		if len(rows) != len(odd) {
			t.Errorf("pages of %d gave %d records, want %d", size, len(rows), len(odd))
		}
		for i := 1; i < len(rows); i++ {
			if rows[i-1].ID >= rows[i].ID {
				t.Errorf("%q comes before %q", rows[i-1].ID, rows[i].ID)
			}
		}
	}
}
