package storetest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/analyzer"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var searchTests = []test{
	{"Q-10 newest first", testNewestFirst},
	{"Q-4 every term, in the fields together", testEveryTerm},
	{"Q-2 only the given fields", testOnlyGivenFields},
	{"Q-5 times and length", testTimesAndLength},
	{"Q-7 matched fields", testMatchedFields},
	{"Q-11 oldest", testOldest},
	{"REC-22 filters", testSearchFilters},
	{"REC-30 few and many visible records", testFewAndMany},
	{"Q-4 words that share a short hash", testHashes},
	{"Q-12 after changes", testSearchAfterChanges},
	{"M-11 after a new declaration", testSearchAfterDeclaring},
	{"Q-4 the most that can be asked", testLargestSearch},
	{"C-21 two subjects", testSearchSubjects},
	{"visit ends it", testSearchStops},
	{"a match is the record", testMatchedRecord},
	{"tidy", testTidy},
	{"equals a model", testSearchEqualsModel},
}

// search runs a search in its own View.
func (w *world) search(q query.Search) []Found {
	w.Helper()
	q.Subject = w.subject
	var out []Found
	last := int64(0)
	w.view(func(v store.View) error {
		return v.Search(q, func(m *store.Match) (bool, error) {
			if len(out) > 0 && m.Number() >= last {
				w.Errorf("match %s has number %d after %d", m.ID, m.Number(), last)
			}
			last = m.Number()
			out = append(out, Found{q.Sources[m.Source].Connection, string(m.ID), m.EmittedAt, slices.Clone(m.Times), m.Length})
			return true, nil
		})
	})
	return out
}

// words searches memo and note of sources and returns "id@connection" of the matches.
func (w *world) words(text string, sources ...query.Source) string {
	w.Helper()
	q := query.Search{Terms: analyzer.Query(text)}
	for _, src := range sources {
		q.Sources = append(q.Sources, searched(src, "memo", "note"))
	}
	var out []string
	for _, f := range w.search(q) {
		out = append(out, f.ID+"@"+string(f.Connection[len(f.Connection)-1:]))
	}
	return strings.Join(out, " ")
}

func testNewestFirst(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"rent"}`, 3), put("b", `{"memo":"rent"}`, 1), put("c", `{"memo":"tea"}`, 9), put("d", `{"note":"rent"}`, 3))
	w.ingest(connB, put("a", `{"memo":"rent"}`, 2), put("e", `{"memo":"rent"}`, 3), put("old", `{"memo":"rent"}`, -400_000_000))
	const want = "e@b d@a a@a a@b b@a old@b" // of one emitted_at, the last stored is first
	if got := w.words("rent", w.both()...); got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	backwards := w.both()
	slices.Reverse(backwards)
	if got := w.words("rent", backwards...); got != want {
		t.Errorf("sources in another order: %q, want %q", got, want)
	}
	if got := w.words("rent", w.from(connB, "entries")); got != "e@b a@b old@b" {
		t.Errorf("one source: %q", got)
	}
	if got := w.words("rent", query.Source{Connection: "cin_nowhere", Stream: w.stream("entries")}); got != "" {
		t.Errorf("an unknown connection: %q", got)
	}
	if got := w.words("rent"); got != "" {
		t.Errorf("no source: %q", got)
	}
}

func testEveryTerm(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("both", `{"memo":"April rent","note":"for the flat"}`, 1), put("memo", `{"memo":"rent of a flat"}`, 2),
		put("half", `{"memo":"rent"}`, 3), put("number", `{"memo":7,"note":["flat rent"]}`, 4),
		put("folded", `{"memo":"RENT: Flât","note":null}`, 5), put("part", `{"memo":"rental flats"}`, 6))
	for text, want := range map[string]string{
		"rent": "folded@a half@a memo@a both@a", "rent flat": "folded@a memo@a both@a", "flat rent april the": "both@a",
		"ren": "", "rent missing": "", "7": "", `"rent" OR (NOT flat*) -april`: "",
	} {
		if got := w.words(text, w.both()...); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
}

func testOnlyGivenFields(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"rent","note":"flat flat"}`, 1), put("b", `{"memo":"flat","note":"rent"}`, 2), put("c", `{"parent":"rent"}`, 3))
	for _, c := range []struct {
		text   string
		fields []string
		want   []Found
	}{
		{"rent", []string{"memo"}, []Found{{connA, "a", at(1), []int{1}, 1}}},
		{"flat", []string{"note"}, []Found{{connA, "a", at(1), []int{2}, 2}}},
		{"rent flat", []string{"memo"}, nil},
		{"rent flat", []string{"note", "memo"}, []Found{{connA, "b", at(2), []int{1, 1}, 2}, {connA, "a", at(1), []int{1, 2}, 3}}},
	} {
		q := query.Search{Terms: analyzer.Query(c.text), Sources: []query.SearchSource{searched(w.from(connA, "entries"), c.fields...)}}
		if diff := cmp.Diff(c.want, w.search(q)); diff != "" {
			t.Errorf("%q in %v (-want +got):\n%s", c.text, c.fields, diff)
		}
	}
}

func testTimesAndLength(t *testing.T, open Opener) {
	w := newWorld(t, open)
	long := strings.Repeat("tea and milk ", store.LongValue/5)
	many := make([]string, analyzer.MaxFieldTerms+1)
	for i := range many {
		many[i] = fmt.Sprint("w", i)
	}
	w.ingest(connA,
		put("a", `{"memo":"Rent, rent! RENT","note":"the rent"}`, 1),
		put("b", `{"memo":"tea","note":"`+long+`"}`, 2),
		put("c", `{"note":"`+strings.Join(many, " ")+` w0 w20000"}`, 3))
	repeats := store.LongValue / 5
	for text, want := range map[string][]Found{
		"rent": {{connA, "a", at(1), []int{4}, 5}}, "the rent": {{connA, "a", at(1), []int{1, 4}, 5}},
		"milk tea":  {{connA, "b", at(2), []int{repeats, repeats + 1}, 3*repeats + 1}},
		"w0 w19999": {{connA, "c", at(3), []int{2, 1}, analyzer.MaxFieldTerms + 3}}, "w20000": nil,
	} {
		q := query.Search{Terms: analyzer.Query(text), Sources: []query.SearchSource{searched(w.from(connA, "entries"), "memo", "note")}}
		if diff := cmp.Diff(want, w.search(q)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", text, diff)
		}
	}
}

// testMatchedFields: Matched reports which fields of a match contain a term.
func testMatchedFields(t *testing.T, open Opener) {
	w := newWorld(t, open)
	long := strings.Repeat("word ", 20_000)
	w.ingest(connB,
		put("memo", `{"memo":"rent","note":"word"}`, 1),
		put("note", `{"memo":"word","note":"`+long+`rent"}`, 2),
		put("both", `{"memo":"april","note":"`+long+`rent"}`, 3))
	want := map[string][]bool{"memo": {true, false}, "note": {false, true}, "both": {true, true}}
	for terms, n := range map[string]int{"rent": 3, "rent april": 1} {
		q := query.Search{Subject: w.subject, Terms: analyzer.Query(terms)}
		for _, src := range w.both() {
			q.Sources = append(q.Sources, searched(src, "memo", "note"))
		}
		w.view(func(v store.View) error {
			return v.Search(q, func(m *store.Match) (bool, error) {
				n--
				got, err := v.Matched(q, &m.Record)
				expected := slices.Clone(want[string(m.ID)])
				if terms == "rent" && string(m.ID) == "both" {
					expected[0] = false
				}
				if diff := cmp.Diff(expected, got); diff != "" || err != nil {
					t.Errorf("%q matches fields of %s (-want +got), %v:\n%s", terms, m.ID, err, diff)
				}
				return true, nil
			})
		})
		if n != 0 {
			t.Errorf("%q: %d matches are missing", terms, n)
		}
	}
}

// testOldest: a search from a match on finds it and newer ones.
func testOldest(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for i := range 6 {
		w.ingest([]pdpp.ConnectionID{connA, connB}[i%2], put(fmt.Sprint("r", i), `{"memo":"rent"}`, i/2))
	}
	for _, narrow := range []func(*query.Source){
		func(*query.Source) {},
		func(s *query.Source) { s.Resources = []pdpp.RecordID{"r0", "r1", "r2", "r3", "r4", "r5"} },
	} {
		q := query.Search{Subject: w.subject, Terms: []string{"rent"}}
		for _, src := range w.both() {
			narrow(&src)
			q.Sources = append(q.Sources, searched(src, "memo"))
		}
		var numbers []int64
		w.view(func(v store.View) error {
			return v.Search(q, func(m *store.Match) (bool, error) {
				numbers = append(numbers, m.Number())
				return true, nil
			})
		})
		for i, n := range numbers {
			q.Oldest = &n
			var got []string
			for _, f := range w.search(q) {
				got = append(got, f.ID)
			}
			if diff := cmp.Diff([]string{"r5", "r4", "r3", "r2", "r1", "r0"}[:i+1], got); diff != "" {
				t.Errorf("from match %d on (-want +got):\n%s", i, diff)
			}
		}
		if len(numbers) != 6 {
			t.Errorf("%d matches, want 6", len(numbers))
		}
	}
}

// testSearchFilters: every slot that a condition can be looked up in, without a
// constraint, with one on the cursor field, one on another field, and with resources.
func testSearchFilters(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA,
		put("a", `{"id":"a","memo":"rent","note":"n","amount":1,"paid":true,"pieces":4,"posted_at":"2026-01-01","due":"2026-01-01"}`, 1),
		put("b", `{"id":"b","memo":"rent","note":"m","amount":2,"paid":false,"pieces":4,"posted_at":"2026-01-02","due":"2026-01-02"}`, 2),
		put("c", `{"memo":"rent c","note":"n","amount":3,"paid":true,"pieces":5,"posted_at":"2026-01-03","due":"2026-01-03"}`, 3),
		put("d", `{"id":"d","memo":"tea","note":"n","amount":1,"paid":true,"pieces":4,"posted_at":"2026-01-01","due":"2026-01-01"}`, 4))
	whole := query.Source{}
	byCursor := query.Source{Time: &pdpp.TimeConstraint{Field: "posted_at", Since: day(1, 1), Until: day(1, 3)}}
	byDue := query.Source{Time: &pdpp.TimeConstraint{Field: "due", Since: day(1, 2)}}
	gone := query.Source{Time: &pdpp.TimeConstraint{Field: "gone", Since: day(1, 1)}}
	chosen := query.Source{Resources: []pdpp.RecordID{"b", "c", "d", "nobody"}}
	nothing := query.Source{Resources: []pdpp.RecordID{}}
	for _, c := range []struct {
		name  string
		conds []cond
		want  [4]string // whole, byCursor, byDue, chosen
	}{
		{"none", nil, [4]string{"c b a", "b a", "c b", "c b"}},
		{"range", one("amount", pdpp.OpGte, "2"), [4]string{"c b", "b", "c b", "c b"}},
		{"token", one("pieces", pdpp.OpEq, "4"), [4]string{"b a", "b a", "b", "b"}},
		{"two tokens", []cond{{"pieces", pdpp.OpEq, "4"}, {"paid", pdpp.OpEq, "true"}}, [4]string{"a", "a", "", ""}},
		{"lexical field by value", one("memo", pdpp.OpEq, "rent"), [4]string{"b a", "b a", "b", "b"}},
		{"cursor field", one("posted_at", pdpp.OpGte, "2026-01-02"), [4]string{"c b", "b", "c b", "c b"}},
		{"time field", one("due", pdpp.OpEq, "2026-01-02"), [4]string{"b", "b", "b", "b"}},
		{"id", one("id", pdpp.OpEq, "b"), [4]string{"b", "b", "b", "b"}},
		{"id outside", one("id", pdpp.OpEq, "a"), [4]string{"a", "a", "", ""}},
		{"id not in the data", one("id", pdpp.OpEq, "c"), [4]string{}},
		{"id without the word", one("id", pdpp.OpEq, "d"), [4]string{}},
		{"id and token", []cond{{"id", pdpp.OpEq, "b"}, {"paid", pdpp.OpEq, "true"}}, [4]string{}},
		{"contradiction", []cond{{"pieces", pdpp.OpEq, "4"}, {"pieces", pdpp.OpEq, "5"}}, [4]string{}},
	} {
		for i, src := range []query.Source{whole, byCursor, byDue, chosen} {
			if got := w.filtered(src, c.conds); got != c.want[i] {
				t.Errorf("%s, source %d: %q, want %q", c.name, i, got, c.want[i])
			}
		}
		for _, src := range []query.Source{gone, nothing} {
			if got := w.filtered(src, c.conds); got != "" {
				t.Errorf("%s, nothing visible: %q", c.name, got)
			}
		}
	}
}

// filtered searches entries of connA for rent.
func (w *world) filtered(src query.Source, conds []cond) string {
	w.Helper()
	src.Connection, src.Stream = connA, w.stream("entries")
	for _, c := range conds {
		src.Where = append(src.Where, w.where(src.Stream, c.field, c.op, c.operand))
	}
	return strings.ReplaceAll(w.words("rent", src), "@a", "")
}

// manyRecords is more than any store reads one by one for a search.
const manyRecords = 2200

// testFewAndMany: under a time range a store may read few records one by one, and look
// up many by their words. Both find the same, with the same counts.
func testFewAndMany(t *testing.T, open Opener) {
	w := newWorld(t, open)
	var in []store.Input
	for i := range manyRecords {
		memo := "tea"
		if i%100 == 0 {
			memo = "rent rent"
		}
		when := fmt.Sprintf(`"2026-01-%02dT00:00:00Z"`, i*28/manyRecords+1)
		in = append(in, put(fmt.Sprintf("r%04d", i), `{"memo":"`+memo+`","note":"tea","pieces":`+fmt.Sprint(i%3)+`,"posted_at":`+when+`,"due":`+when+`,"seen_at":`+when+`}`, i))
	}
	w.ingest(connA, in...)
	for _, field := range []string{"posted_at", "due", "seen_at"} {
		for _, conds := range [][]cond{nil, one("pieces", pdpp.OpEq, "0"), one("amount", pdpp.OpGte, "0")} {
			// Up to 8 January few are visible; without an end, all.
			few, many := w.inTime(field, 8, conds), w.inTime(field, 40, conds)
			var want []Found
			for _, f := range many {
				if f.ID < fmt.Sprintf("r%04d", manyRecords*7/28) {
					want = append(want, f)
				}
			}
			if diff := cmp.Diff(want, few); diff != "" {
				t.Errorf("%s, %v (-by words +read):\n%s", field, conds, diff)
			}
			if n := len(many); conds == nil && n != 22 || len(conds) == 1 && conds[0].field == "pieces" && n != 8 {
				t.Errorf("%s, %v: %d matches", field, conds, n)
			}
		}
	}
}

func (w *world) inTime(field string, until int, conds []cond) []Found {
	w.Helper()
	src := w.from(connA, "entries")
	src.Time = &pdpp.TimeConstraint{Field: field, Since: day(1, 1), Until: day(1, until)}
	for _, c := range conds {
		src.Where = append(src.Where, w.where(src.Stream, c.field, c.op, c.operand))
	}
	return w.search(query.Search{Terms: []string{"rent", "tea"}, Sources: []query.SearchSource{searched(src, "memo", "note")}})
}

// testHashes: words are distinguished even if they share a short hash.
func testHashes(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"liquid liquid liquid costarring"}`, 1), put("b", `{"memo":"costarring"}`, 2), put("c", `{"memo":"zinke altarage altarage"}`, 3))
	for _, resources := range [][]pdpp.RecordID{nil, {"a", "b", "c"}} {
		src := w.from(connA, "entries")
		src.Resources = resources
		for text, want := range map[string][]Found{
			"liquid":            {{connA, "a", at(1), []int{3}, 4}},
			"costarring":        {{connA, "b", at(2), []int{1}, 1}, {connA, "a", at(1), []int{1}, 4}},
			"altarage zinke":    {{connA, "c", at(3), []int{2, 1}, 3}},
			"liquid costarring": {{connA, "a", at(1), []int{3, 1}, 4}},
		} {
			q := query.Search{Terms: analyzer.Query(text), Sources: []query.SearchSource{searched(src, "memo")}}
			if diff := cmp.Diff(want, w.search(q)); diff != "" {
				t.Errorf("%q, resources %v (-want +got):\n%s", text, resources, diff)
			}
		}
	}
}

func testSearchStops(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"rent"}`, 1), put("b", `{"memo":"rent"}`, 2))
	w.ingest(connB, put("c", `{"memo":"rent"}`, 3))
	q := query.Search{Subject: w.subject, Terms: []string{"rent"}}
	for _, src := range w.both() {
		q.Sources = append(q.Sources, searched(src, "memo"))
	}
	for stop := range 4 {
		n := 0
		w.view(func(v store.View) error {
			err := v.Search(q, func(*store.Match) (bool, error) {
				n++
				return n <= stop, nil
			})
			if want := min(stop+1, 3); err != nil || n != want {
				t.Errorf("refused after %d: %d visits, %v, want %d", stop, n, err, want)
			}
			return nil
		})
	}
	err := w.store.View(t.Context(), func(v store.View) error {
		return v.Search(q, func(*store.Match) (bool, error) { return true, fmt.Errorf("broken") })
	})
	if err == nil || err.Error() != "broken" {
		t.Errorf("the error of visit comes back as %v", err)
	}
}

// testMatchedRecord: a match is the record, with its long values.
func testMatchedRecord(t *testing.T, open Opener) {
	w := newWorld(t, open)
	body := `{"id":"a","memo":"rent","note":"` + strings.Repeat("long ", store.LongValue) + `","extra":[1]}`
	w.ingest(connA, put("a", body, 1), put("b", `{"memo":"tea"}`, 2))
	q := query.Search{Subject: w.subject, Terms: []string{"rent"}, Sources: []query.SearchSource{searched(w.from(connA, "entries"), "memo")}}
	read := 0
	w.view(func(v store.View) error {
		return v.Search(q, func(m *store.Match) (bool, error) {
			read++
			got, err := whole(v, &m.Record)
			if got != body || string(m.ID) != "a" || !m.EmittedAt.Equal(at(1)) {
				t.Errorf("found %s of %v with %d bytes", m.ID, m.EmittedAt, len(got))
			}
			return true, err
		})
	})
	if read != 1 {
		t.Errorf("%d records were found, want 1", read)
	}
}

// testTidy: housekeeping comes to an end and changes nothing that can be read.
func testTidy(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for i := range 40 {
		w.ingest(connA, put(fmt.Sprint("r", i), fmt.Sprintf(`{"memo":"rent for month %d"}`, i), i))
	}
	w.ingest(connA, drop("r3", 41))
	q := query.Search{Subject: w.subject, Terms: []string{"rent"}, Sources: []query.SearchSource{searched(w.from(connA, "entries"), "memo")}}
	find := func() (ids []string) {
		w.view(func(v store.View) error {
			return v.Search(q, func(m *store.Match) (bool, error) {
				ids = append(ids, string(m.ID))
				return true, nil
			})
		})
		return ids
	}
	before := find()
	more, steps := true, 0
	for ; more && steps < 1000; steps++ {
		w.update(func(tx store.Tx) (err error) {
			more, err = tx.Tidy()
			return err
		})
	}
	if more {
		t.Fatalf("housekeeping goes on after %d steps", steps)
	}
	if diff := cmp.Diff(before, find()); diff != "" || len(before) != 39 {
		t.Errorf("%d records found; housekeeping changed them (-before +after):\n%s", len(before), diff)
	}
}

// testSearchEqualsModel: after any operations, any search finds what reading every
// record finds.
func testSearchEqualsModel(t *testing.T, open Opener) {
	t.Parallel()
	EachModel(t, open(t), func(rt *rapid.T, m *Model) {
		for range 4 {
			q, ok := m.SearchQuestion(rt)
			if !ok {
				return
			}
			if diff := cmp.Diff(m.SearchAnswer(q), m.w.search(q.Search), cmpopts.EquateEmpty()); diff != "" {
				rt.Errorf("%s (-want +got):\n%s", q, diff)
			}
		}
	})
}
