package sqlite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/storetest"
)

// TestAggregatePlansAgree: whichever plan the compiler chooses, an aggregate is that
// of the model.
func TestAggregatePlansAgree(t *testing.T) {
	t.Parallel()
	db := openDB(t, t.TempDir())
	storetest.EachModel(t, db, func(rt *rapid.T, m *storetest.Model) {
		m.Counted(rt)
		for range 4 {
			q := m.Question(rt)
			a := m.Aggregate(rt, q)
			want := m.Aggregated(q, a)
			for name, probe := range probes {
				err := db.View(rt.Context(), func(v store.View) error {
					got, err := readerWith(v, probe).Aggregate(a)
					if diff := cmp.Diff(want, storetest.Lines(got)); diff != "" && err == nil {
						rt.Errorf("%s: %+v; %s (-want +got):\n%s", name, a, q, diff)
					}
					return err
				})
				if err != nil {
					rt.Fatalf("%s: %v", name, err)
				}
			}
		}
	})
}

// TestExplainAggregate: without conditions, no record is read and the index has the values
// in their order; under a time range only entries within it are read.
func TestExplainAggregate(t *testing.T) {
	w := newWorld(t)
	s := w.binding.Stream
	err := w.db.View(t.Context(), func(v store.View) error {
		tx := v.(*tx)
		source := func(src query.Source) sqlgen.Source {
			out, _, err := tx.Source(w.subject, src)
			if err != nil {
				t.Fatal(err)
			}
			return out
		}
		entries, ok := sqlgen.Entries(dialect{}, source(w.source()), s.Field("memo"))
		if !ok {
			t.Fatal("a source without conditions is not read by its entries")
		}
		bounded := w.source(condition(t, s, "amount", pdpp.OpGte, "1"))
		bounded.Time = &pdpp.TimeConstraint{Field: "due", Since: epoch}
		timed, err := sqlgen.ForAggregate(dialect{}, source(bounded), false, always(1))
		if err != nil {
			return err
		}
		pairs := sqlgen.Pairs{Group: s.Field("memo"), Metric: s.Field("amount")}
		const value = " USING PRIMARY KEY (record=? AND field=?)"
		for _, c := range []struct {
			name string
			s    sqlgen.Statement
			want []string
		}{
			{"values", entries.Values(), []string{"SEARCH i USING PRIMARY KEY (field=?)"}},
			{"interval", entries.Within([]byte("a"), []byte("b")), []string{"SEARCH i USING PRIMARY KEY (field=? AND value>? AND value<?)"}},
			{"first", entries.First([]byte("a")), []string{"SEARCH i USING PRIMARY KEY (field=? AND value>?)"}},
			{"last", entries.Last([]byte("b")), []string{"SEARCH i USING PRIMARY KEY (field=? AND value<?)"}},
			{"pairs", entries.Pairs(pairs), []string{
				"SEARCH i USING PRIMARY KEY (field=?)", "SEARCH m" + value + " LEFT-JOIN", "USE TEMP B-TREE FOR GROUP BY",
			}},
			{"within a time range", timed.Pairs(pairs), []string{
				"SEARCH i USING PRIMARY KEY (field=? AND value>?)", "SEARCH g" + value + " LEFT-JOIN", "SEARCH x EXISTS" + value,
				"SEARCH m" + value + " LEFT-JOIN", "USE TEMP B-TREE FOR GROUP BY",
			}},
		} {
			if diff := cmp.Diff(strings.Join(c.want, "\n"), strings.Join(explain(t, tx, c.s), "\n")); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
