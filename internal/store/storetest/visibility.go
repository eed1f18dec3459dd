package storetest

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var visibilityTests = []test{
	{"resources", testResources},
	{"time constraint", testTimeConstraint},
	{"time field of another type", testTimeFieldRetyped},
	{"two subjects", testTwoSubjects},
	{"absent bindings", testAbsentBindings},
}

func day(month time.Month, d int) time.Time { return time.Date(2026, month, d, 0, 0, 0, 0, time.UTC) }

func testResources(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"x"}`, 3), put("b", `{"memo":"x","posted_at":"2026-01-01"}`, 2), put("c", `{"memo":"y"}`, 1))
	for _, c := range []struct {
		resources []pdpp.RecordID
		conds     []cond
		want      string
	}{
		{nil, nil, "a b c"},
		{[]pdpp.RecordID{}, nil, ""},
		{[]pdpp.RecordID{"c", "a", "nobody", "c"}, nil, "a c"},
		{[]pdpp.RecordID{"c", "a"}, one("memo", pdpp.OpEq, "x"), "a"},
		{[]pdpp.RecordID{"b", "c"}, one("posted_at", pdpp.OpGte, "2025-01-01"), "b"},
		{[]pdpp.RecordID{"A", "a' OR 1"}, nil, ""},
	} {
		src := w.from(connA, "entries")
		src.Resources = c.resources
		if got := w.found(src, c.conds...); strings.Join(got, " ") != c.want {
			t.Errorf("resources %v, %v: %v, want %v", c.resources, c.conds, got, c.want)
		}
	}
	many := make([]pdpp.RecordID, 1000)
	for i := range many {
		many[i] = pdpp.RecordID(strings.Repeat("x", i%500+1))
	}
	src := w.from(connA, "entries")
	src.Resources = append(many, "b")
	if got := w.found(src); !cmp.Equal(got, []string{"b"}) {
		t.Errorf("with 1001 resources: %v, want b", got)
	}
}

// testTimeConstraint covers the field being the cursor, the consent time, another
// field, and not declared (REC-28).
func testTimeConstraint(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("a", `{"posted_at":"2026-02-01","due":"2026-02-01","seen_at":"2026-02-01"}`, 1),
		put("b", `{"posted_at":"2026-02-01T00:00:01Z","due":"2026-02-02","seen_at":"2026-02-01T01:00:01+01:00"}`, 2),
		put("c", `{"posted_at":"2026-03-01","due":"2026-03-01","seen_at":"2026-03-01"}`, 3),
		put("d", `{"posted_at":"2026-01-31T23:59:59Z","due":"2026-01-31","seen_at":"2026-01-31"}`, 4),
		put("e", `{"posted_at":null,"due":"some day","seen_at":20260201}`, 5), put("f", `{}`, 6))
	for _, field := range []string{"posted_at", "due", "seen_at"} {
		for _, c := range []struct {
			since, until time.Time
			want         string
		}{
			{day(2, 1), time.Time{}, "a b c"},
			{time.Time{}, day(3, 1), "a b d"},
			{day(2, 1), day(3, 1), "a b"},
			{day(4, 1), day(5, 1), ""},
		} {
			src := w.from(connA, "entries")
			src.Time = &pdpp.TimeConstraint{Field: field, Since: c.since, Until: c.until}
			if got := w.found(src); strings.Join(got, " ") != c.want {
				t.Errorf("%s from %v until %v: %v, want %v", field, c.since, c.until, got, c.want)
			}
			// Together with a condition of the request on the same field.
			if got := w.found(src, cond{field, pdpp.OpEq, "2026-02-01"}); strings.Join(got, " ") != firstIf(c.want, "a") {
				t.Errorf("%s from %v until %v and equality: %v", field, c.since, c.until, got)
			}
		}
	}
	w.declare(entries().without("seen_at"))
	src := w.from(connA, "entries")
	src.Time = &pdpp.TimeConstraint{Field: "seen_at", Since: day(1, 1)}
	if got := w.found(src); len(got) != 0 {
		t.Errorf("with a time field that is no longer declared: %v", got)
	}
}

// firstIf returns s when the list starts with it.
func firstIf(list, s string) string {
	if strings.HasPrefix(list, s) {
		return s
	}
	return ""
}

// testTimeFieldRetyped: a new declaration never widens a grant (M-11). When a field is no
// longer a time, no record is visible.
func testTimeFieldRetyped(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"seen_at":"2026-02-01"}`, 1), put("b", `{"seen_at":"ÿÿÿÿ"}`, 2), put("c", `{"seen_at":1e9}`, 3))
	for _, field := range []string{"seen_at string", "seen_at number", "seen_at array"} {
		d := entries().with(field)
		w.declare(d)
		for _, cursor := range []string{d.cursor, "seen_at"} {
			if cursor == "seen_at" && field != "seen_at number" {
				continue
			}
			d.cursor = cursor
			w.declare(d)
			src := w.from(connA, "entries")
			src.Time = &pdpp.TimeConstraint{Field: "seen_at", Since: day(1, 1)}
			if got := w.found(src); len(got) != 0 {
				t.Errorf("declared as %s, cursor %s: %v, want nothing", field, cursor, got)
			}
			src.Time = &pdpp.TimeConstraint{Field: "seen_at", Until: day(12, 1)}
			if got := w.found(src); len(got) != 0 {
				t.Errorf("declared as %s, cursor %s, until: %v, want nothing", field, cursor, got)
			}
		}
	}
}

// testTwoSubjects: with equal names everywhere, no subject sees the other (C-21).
func testTwoSubjects(t *testing.T, open Opener) {
	ann := newWorld(t, open)
	bea := subjectIn(t, ann.store, "bea")
	for _, w := range []*world{ann, bea} {
		word := "anns"
		if w == bea {
			word = "beas"
		}
		w.ingest(connA, put("1", `{"id":"1","memo":"same","note":"`+word+`","posted_at":"2026-01-01"}`, 1))
		w.ingest(connA, put("only "+word, `{"memo":"same"}`, 1))
	}
	ann.ingest(connB, put("1", `{"memo":"same"}`, 1))
	for w, word := range map[*world]string{ann: "anns", bea: "beas"} {
		src := w.from(connA, "entries")
		if got := w.found(src, cond{"memo", pdpp.OpEq, "same"}); !cmp.Equal(got, []string{"1", "only " + word}) {
			t.Errorf("%s records: %v", word, got)
		}
		if rows := w.get("1", src); len(rows) != 1 || !strings.Contains(rows[0].Body, word) {
			t.Errorf("%s record 1: %v", word, rows)
		}
	}
	if rows := bea.list(query.List{Sources: bea.both()}); len(rows) != 2 {
		t.Errorf("bea sees %v", rows)
	}
	b := bea.binding(connA, "entries")
	bea.update(func(tx store.Tx) error { _, err := tx.DeleteAll(b, math.MaxInt64, at(9)); return err })
	if n := ann.count(ann.both()...); n != 3 {
		t.Errorf("ann has %d records after bea deleted hers, want 3", n)
	}
	foreign := *ann.binding(connA, "entries")
	foreign.Owner = b.Owner
	err := ann.store.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.DeleteAll(&foreign, math.MaxInt64, at(9))
		return err
	})
	if err == nil {
		t.Error("a binding of another subject was written to")
	}
}

// testAbsentBindings: a connection that does not exist has no records, and is not an
// error.
func testAbsentBindings(t *testing.T, open Opener) {
	w := newWorld(t, open)
	src := query.Source{Connection: "cin_nowhere", Stream: w.stream("entries")}
	if got := w.found(src); len(got) != 0 {
		t.Errorf("an unknown connection has %v", got)
	}
	other := declare(t, "ledger", decl{name: "others", fields: []string{"id string"}}).Stream("others")
	if got := w.found(query.Source{Connection: connA, Stream: other}); len(got) != 0 {
		t.Errorf("an unknown stream has %v", got)
	}
	err := w.store.View(t.Context(), func(v store.View) error {
		_, err := v.Binding(w.subject, pdpp.Connection{ID: "cin_nowhere"}, src.Stream)
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeConnectionNotFound {
		t.Errorf("Binding of an unknown connection = %v, want connection_not_found", err)
	}
}
