package storetest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"pdpp/internal/analyzer"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

func testSearchAfterChanges(t *testing.T, open Opener) {
	w := newWorld(t, open)
	long := strings.Repeat("old ", store.LongValue)
	w.ingest(connA, put("a", `{"memo":"old","note":"`+long+`"}`, 1), put("b", `{"memo":"old"}`, 2))
	w.ingest(connB, put("a", `{"memo":"old"}`, 3))
	w.ingest(connA, put("a", `{"memo":"new"}`, 4))
	check := func(when, text, want string) {
		t.Helper()
		if got := w.words(text, w.both()...); got != want {
			t.Errorf("%s: %q finds %q, want %q", when, text, got, want)
		}
	}
	check("changed", "old", "a@b b@a")
	check("changed", "new", "a@a")
	w.ingest(connA, drop("b", 5), put("c", `{"memo":"new"}`, 5), drop("c", 6), put("c", `{"memo":"old"}`, 6))
	check("deleted", "old", "c@a a@b")
	check("deleted", "new", "a@a")
	// More than are removed from the index one by one.
	var in, out []store.Input
	for i := range 60 {
		in = append(in, put(fmt.Sprint("m", i), `{"memo":"many"}`, i))
		out = append(out, drop(fmt.Sprint("m", i), i))
	}
	w.ingest(connA, in...)
	w.ingest(connA, out[:59]...)
	check("most deleted at once", "many", "m59@a")
	b := w.binding(connA, "entries")
	w.update(func(tx store.Tx) error { _, err := tx.DeleteAll(b, math.MaxInt64, at(9)); return err })
	check("all deleted", "many", "")
	check("all deleted", "old", "a@b")
	w.ingest(connA, put("m0", `{"memo":"many"}`, 1))
	check("stored again", "many", "m0@a")
}

func testSearchAfterDeclaring(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"rent","note":"flat","parent":"house"}`, 1))
	find := func(text string, fields ...string) string {
		t.Helper()
		var out []string
		q := query.Search{Terms: analyzer.Query(text), Sources: []query.SearchSource{searched(w.from(connA, "entries"), fields...)}}
		for _, f := range w.search(q) {
			out = append(out, fmt.Sprint(f.ID, f.Times, f.Length))
		}
		return strings.Join(out, " ")
	}
	d := entries()
	d.lexical = []string{"note", "parent"}
	w.declare(d)
	w.ingest(connA, put("b", `{"memo":"rent","note":"flat house"}`, 2))
	for _, c := range []struct{ text, field, want string }{
		{"house", "parent", "a[1] 1"}, {"flat", "note", "b[1] 2 a[1] 1"}, {"rent", "memo", ""},
	} {
		if got := find(c.text, c.field); got != c.want {
			t.Errorf("%s is searchable now: %q finds %q, want %q", c.field, c.text, got, c.want)
		}
	}
	w.declare(entries())
	if got := find("rent flat", "memo", "note"); got != "b[1 1] 3 a[1 1] 2" {
		t.Errorf("declared as before: %q", got)
	}
	if got := find("house", "memo", "note"); got != "b[1] 3" {
		t.Errorf("a field that is no longer searchable is: %q", got)
	}
}

// testLargestSearch: 32 terms over 250 fields, each in some of them.
func testLargestSearch(t *testing.T, open Opener) {
	d := decl{name: "entries", fields: []string{"id string"}}
	var data, terms []string
	for i := range 250 {
		name := fmt.Sprintf("f%d", i)
		d.fields, d.lexical = append(d.fields, name+" string"), append(d.lexical, name)
		data = append(data, fmt.Sprintf(`"%s":"word%d"`, name, i%query.MaxSearchTerms))
	}
	for i := range query.MaxSearchTerms {
		terms = append(terms, fmt.Sprint("word", i))
	}
	w := newWorld(t, open, d)
	w.ingest(connA, put("all", `{`+strings.Join(data, ",")+`}`, 1), put("less", `{`+strings.Join(data[1:32], ",")+`}`, 2))
	got := w.search(query.Search{Terms: terms, Sources: []query.SearchSource{searched(w.from(connA, "entries"), d.lexical...)}})
	if len(got) != 1 || got[0].ID != "all" || got[0].Length != 250 || got[0].Times[0] != 8 || got[0].Times[31] != 7 {
		t.Errorf("found %+v", got)
	}
}

func testSearchSubjects(t *testing.T, open Opener) {
	ann := newWorld(t, open)
	bea := subjectIn(t, ann.store, "bea")
	ann.ingest(connA, put("a", `{"memo":"rent"}`, 1))
	bea.ingest(connA, put("b", `{"memo":"rent tea"}`, 2))
	if got := ann.words("rent", ann.both()...); got != "a@a" {
		t.Errorf("ann finds %q", got)
	}
	if got := bea.words("rent", bea.both()...); got != "b@a" {
		t.Errorf("bea finds %q", got)
	}
}
