package sqlite

import (
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/storetest"
)

// TestSearchPlansAgree: by words or one by one, the matches are those of the model.
func TestSearchPlansAgree(t *testing.T) {
	t.Parallel()
	db := openDB(t, t.TempDir())
	storetest.EachModel(t, db, func(rt *rapid.T, m *storetest.Model) {
		for range 4 {
			q, ok := m.SearchQuestion(rt)
			if !ok {
				return
			}
			want := m.SearchAnswer(q)
			for _, name := range []string{"gather", "walk"} {
				got, err := searchWith(rt, db, q.Search, probes[name])
				if err != nil {
					rt.Fatalf("%s: %v", name, err)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					rt.Errorf("%s: %s (-want +got):\n%s", name, q, diff)
				}
			}
		}
	})
}

// searchWith reads all matches with the plans that a probe leads to.
func searchWith(t *rapid.T, db *DB, q query.Search, p probe) (out []storetest.Found, err error) {
	err = db.View(t.Context(), func(v store.View) error {
		return readerWith(v, p).Search(q, func(m *store.Match) (bool, error) {
			out = append(out, storetest.Found{
				Connection: q.Sources[m.Source].Connection, ID: string(m.ID), EmittedAt: m.EmittedAt,
				Times: slices.Clone(m.Times), Length: m.Length,
			})
			return true, nil
		})
	})
	return out, err
}

// TestExplainSearch: the index of terms comes first, backwards (192), and only its
// matches are looked up, without sorting; where records are read one by one, only visible ones are.
func TestExplainSearch(t *testing.T) {
	w := newWorld(t)
	s := w.binding.Stream
	const words, record = "SCAN i VIRTUAL TABLE INDEX 192:M1", "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"
	const value, sorted = "USING PRIMARY KEY (record=? AND field=?)", "USE TEMP B-TREE FOR ORDER BY"
	byCursor := &pdpp.TimeConstraint{Field: "posted_at", Since: epoch}
	byDue := &pdpp.TimeConstraint{Field: "due", Since: epoch}
	id, amount := condition(t, s, "id", pdpp.OpEq, "x"), condition(t, s, "amount", pdpp.OpGte, "1")
	parent := condition(t, s, "parent", pdpp.OpEq, "p")
	for _, c := range []struct {
		name    string
		where   []query.Condition
		time    *pdpp.TimeConstraint
		chosen  []pdpp.RecordID
		visible int64
		want    []string
	}{
		{name: "words", want: []string{words, record}},
		{name: "words and a range", where: []query.Condition{amount}, want: []string{words, record, value}},
		{name: "words and a token", where: []query.Condition{parent}, want: []string{words, record}},
		{name: "many in time", time: byCursor, visible: sqlgen.Gather + 1, want: []string{words, record}},
		{name: "many in time by another field", time: byDue, visible: sqlgen.Gather + 1, want: []string{words, record, value}},
		{
			name: "few in time", time: byCursor, visible: sqlgen.Gather,
			want: []string{"SEARCH r USING INDEX records_by_order (binding=? AND order_key>? AND order_key<?)", sorted},
		},
		{
			name: "few in time by another field", time: byDue, visible: sqlgen.Gather,
			want: []string{"SEARCH i USING PRIMARY KEY (field=? AND value>?)", record, sorted},
		},
		{
			name: "resources", chosen: []pdpp.RecordID{"a"},
			want: []string{"SEARCH r USING INDEX records_by_id (binding=? AND id=?", "LIST SUBQUERY", "SCAN json_each VIRTUAL TABLE INDEX 1:", sorted},
		},
		{name: "an id", where: []query.Condition{id}, want: []string{"SEARCH r USING INDEX records_by_id (binding=? AND id=?"}},
		{
			name: "an id in time", where: []query.Condition{id}, time: byCursor, visible: -1,
			want: []string{"SEARCH r USING INDEX records_by_id (binding=? AND id=?"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			src := w.source(c.where...)
			src.Time, src.Resources = c.time, c.chosen
			oldest := int64(1)
			for _, from := range []*int64{nil, &oldest} {
				steps := w.explainSearch(t, src, from, c.visible)
				if !slices.EqualFunc(steps, c.want, strings.Contains) {
					t.Errorf("plan:\n%s\nwant:\n%s", strings.Join(steps, "\n"), strings.Join(c.want, "\n"))
				}
			}
		})
	}
}

// explainSearch returns the plan of a search when the given number of records is visible
// in time; a negative number means that no probe is expected.
func (w *world) explainSearch(t *testing.T, src query.Source, oldest *int64, visible int64) (steps []string) {
	t.Helper()
	err := w.db.View(t.Context(), func(v store.View) error {
		tx := v.(*tx)
		s, _, err := tx.Source(w.subject, src)
		if err != nil {
			return err
		}
		way, err := sqlgen.CompileSearch(dialect{}, s, func(p sqlgen.Statement) (int64, error) {
			if visible < 0 {
				t.Errorf("a probe: %s", p.SQL)
			}
			if plan := strings.Join(explain(t, tx, p), "\n"); strings.Contains(plan, "(binding=?)") || strings.Contains(plan, "SCAN r") {
				t.Errorf("the probe goes through records that are not visible:\n%s", plan)
			}
			return visible, nil
		})
		if err != nil {
			return err
		}
		steps = explain(t, tx, way.Statement([][]string{{"1.rent", "2.rent"}, {"1.tea"}}, oldest))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return steps
}
