package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/storetest"
)

// probes answer how many index entries a condition has, so that small data meets
// every plan.
var probes = map[string]probe{
	"gather":     func() func(sqlgen.Statement) (int64, error) { return always(1) },
	"walk":       func() func(sqlgen.Statement) (int64, error) { return always(sqlgen.Gather + 1) },
	"first many": func() func(sqlgen.Statement) (int64, error) { return counting(sqlgen.Gather+1, -1) },
	"first few":  func() func(sqlgen.Statement) (int64, error) { return counting(1, 1) },
}

func always(n int64) func(sqlgen.Statement) (int64, error) {
	return func(sqlgen.Statement) (int64, error) { return n, nil }
}

func counting(n, step int64) func(sqlgen.Statement) (int64, error) {
	return func(sqlgen.Statement) (int64, error) {
		n += step
		return n - step, nil
	}
}

// eachModel tries something on many subjects of one store, each with a few changes
// behind it.
func eachModel(t *testing.T, db *DB, try func(rt *rapid.T, m *storetest.Model)) {
	run := 0
	rapid.Check(t, func(rt *rapid.T) {
		run++
		m := storetest.NewModel(rt, db, fmt.Sprint("subject ", run))
		for range rapid.IntRange(1, 3).Draw(rt, "changes") {
			m.Change(rt)
		}
		try(rt, m)
	})
}

// TestPlansAgree: whichever way the compiler chooses, the rows are those of the
// model.
func TestPlansAgree(t *testing.T) {
	t.Parallel()
	db := openDB(t, t.TempDir())
	eachModel(t, db, func(rt *rapid.T, m *storetest.Model) {
		for range 4 {
			q := m.Question(rt)
			var want []string
			for _, r := range m.Answer(q) {
				want = append(want, r.ID+"@"+string(r.Connection))
			}
			for name, probe := range probes {
				got, n, err := readWith(rt, db, q.List, probe)
				if err != nil {
					rt.Fatalf("%s: %v", name, err)
				}
				if diff := cmp.Diff(want, got, cmpopts.EquateEmpty()); diff != "" {
					rt.Errorf("%s: %s (-want +got):\n%s", name, q, diff)
				}
				if n != int64(len(want)) {
					rt.Errorf("%s: %s: Count = %d, want %d", name, q, n, len(want))
				}
			}
		}
	})
}

type probe func() func(sqlgen.Statement) (int64, error)

// readWith reads all pages of a list, with the plans that a probe leads to, and
// counts its records.
func readWith(t *rapid.T, db *DB, q query.List, p probe) (got []string, n int64, err error) {
	err = db.View(t.Context(), func(v store.View) error {
		for {
			walkers, count, err := walkersWith(v.(*tx), q, p)
			if err != nil {
				return err
			}
			last, page, err := merge(walkers, q.Limit)
			got, n = append(got, page...), count
			if err != nil || last == nil {
				return err
			}
			q.After = last
		}
	})
	return got, n, err
}

func walkersWith(tx *tx, q query.List, p probe) (out []*walker, n int64, err error) {
	for i, src := range q.Sources {
		s, ok, err := tx.source(q.Subject, src)
		if err != nil {
			return nil, 0, err
		}
		if !ok { // the record it asks for is hidden
			continue
		}
		c, err := sqlgen.Compile(dialect{}, s, q.Order.By, p())
		if err != nil {
			return nil, 0, err
		}
		if c.Empty() {
			continue
		}
		one, err := tx.countWith(c, s)
		if err != nil {
			return nil, 0, err
		}
		n += one
		out = append(out, &walker{
			t: tx, q: c, order: q.Order, after: q.After, limit: q.Limit, source: i, conn: src.Connection,
			segments: sqlgen.Segments(q.Order, src.Stream, q.After),
		})
	}
	return out, n, nil
}

// merge takes one page; last is nil when it is not full.
func merge(walkers []*walker, limit int) (last *query.Position, page []string, err error) {
	var live []*walker
	for _, w := range walkers {
		defer w.close()
		ok, err := w.next()
		if err != nil {
			return nil, nil, err
		}
		if ok {
			live = append(live, w)
		}
	}
	for len(live) > 0 && len(page) < limit {
		first := 0
		for i := range live {
			if live[i].before(live[first]) {
				first = i
			}
		}
		w := live[first]
		page = append(page, string(w.cur.ID)+"@"+string(w.conn))
		last = &query.Position{Key: append([]byte(nil), w.cur.Order...), Connection: w.conn}
		ok, err := w.next()
		if err != nil {
			return nil, nil, err
		}
		if !ok {
			live = append(live[:first], live[first+1:]...)
		}
	}
	if len(page) < limit {
		last = nil
	}
	return last, page, nil
}

// explain gives the steps of a statement's plan.
func explain(t *testing.T, tx *tx, s sqlgen.Statement) []string {
	t.Helper()
	stmt, err := tx.conn.Query("EXPLAIN QUERY PLAN "+s.SQL, s.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	var steps []string
	for {
		row, err := stmt.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !row {
			return steps
		}
		steps = append(steps, stmt.Text(3))
	}
}

func condition(t *testing.T, s *pdpp.Stream, field string, op pdpp.Op, operand string) query.Condition {
	t.Helper()
	f := s.Field(field)
	key, ok := sortkey.FromText(f.Kind, operand)
	if !ok {
		t.Fatalf("%q is no operand of %s", operand, field)
	}
	return query.Condition{Field: f, Op: op, Key: key}
}

// TestExplain: pages are walks of an index from a position; nothing is sorted.
func TestExplain(t *testing.T) {
	w := newWorld(t)
	s := w.binding.Stream
	key := store.OrderKey(condition(t, s, "posted_at", pdpp.OpEq, "2026-01-01").Key, "b")
	byCursor := query.Order{By: query.ByCursor, Desc: true}
	const entryWalk = "SEARCH i USING PRIMARY KEY (field=? AND value=?"
	const record = "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"
	for _, c := range []struct {
		name  string
		where []query.Condition
		order query.Order
		after *query.Position
		want  []string
	}{
		{
			"first page", nil, byCursor, nil,
			[]string{"SEARCH r USING INDEX records_by_order (binding=? AND order_key>? AND order_key<?)"},
		},
		{
			"deep page", nil, byCursor, &query.Position{Key: key, Connection: "cin_a"},
			[]string{"SEARCH r USING INDEX records_by_order (binding=? AND order_key>? AND order_key<?)"},
		},
		{
			"by id", nil,
			query.Order{By: query.ByID},
			&query.Position{Key: []byte("b"), Connection: "cin_a"},
			[]string{"SEARCH r USING INDEX records_by_id (binding=? AND id>?)"},
		},
		{
			"by emitted_at", nil,
			query.Order{By: query.ByEmitted, Desc: true},
			&query.Position{Key: sqlgen.EmittedKey(5, []byte("b")), Connection: "cin_a"},
			[]string{"SEARCH r USING INDEX records_by_emitted (binding=? AND (emitted_at,id)<(?,?))"},
		},
		{
			"range of the cursor field",
			[]query.Condition{condition(t, s, "posted_at", pdpp.OpGte, "2026-01-01")},
			byCursor,
			&query.Position{Key: key, Connection: "cin_a"},
			[]string{"SEARCH r USING INDEX records_by_order (binding=? AND order_key>? AND order_key<?)"},
		},
		{
			"equality",
			[]query.Condition{condition(t, s, "memo", pdpp.OpEq, "x")},
			byCursor, nil,
			[]string{entryWalk + " AND order_key>? AND order_key<?)", record},
		},
		{
			"many of a field without entries",
			[]query.Condition{condition(t, s, "parent", pdpp.OpEq, "p")},
			byCursor,
			&query.Position{Key: key, Connection: "cin_a"},
			[]string{"SEARCH r USING INDEX records_by_order (binding=? AND order_key>? AND order_key<?)"},
		},
		{
			"two conditions",
			[]query.Condition{condition(t, s, "memo", pdpp.OpEq, "x"), condition(t, s, "amount", pdpp.OpGte, "1")},
			byCursor, nil,
			[]string{entryWalk + " AND order_key>? AND order_key<?)", record, "SEARCH x EXISTS USING PRIMARY KEY (record=? AND field=?)"},
		},
		{
			"equality by id",
			[]query.Condition{condition(t, s, "memo", pdpp.OpEq, "x")},
			query.Order{By: query.ByID},
			nil,
			[]string{
				"SEARCH r USING INDEX records_by_id (binding=?)",
				"SEARCH x EXISTS USING PRIMARY KEY (record=? AND field=?)",
			},
		},
		{
			"key field",
			[]query.Condition{condition(t, s, "id", pdpp.OpEq, "x")},
			query.Order{By: query.ByID},
			nil,
			[]string{"SEARCH r USING INDEX records_by_id (binding=? AND id=?)"},
		},
	} {
		t.Run(c.name, func(t *testing.T) { checkPlan(t, w, c.where, c.order, c.after, c.want) })
	}
}

func checkPlan(t *testing.T, w *world, where []query.Condition, o query.Order, after *query.Position, want []string) {
	err := w.db.View(t.Context(), func(v store.View) error {
		tx := v.(*tx)
		src, _, err := tx.source(w.subject, w.source(where...))
		if err != nil {
			return err
		}
		c, err := sqlgen.Compile(dialect{}, src, o.By, always(sqlgen.Gather+1))
		if err != nil {
			return err
		}
		for _, seg := range sqlgen.Segments(o, src.Stream, after) {
			steps := explain(t, tx, c.List(o, seg, after, 26))
			if diff := cmp.Diff(want, steps); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExplainToken: the children of a parent are found by the token of the
// foreign key.
func TestExplainToken(t *testing.T) {
	w := newWorld(t)
	s := w.binding.Stream
	err := w.db.View(t.Context(), func(v store.View) error {
		tx := v.(*tx)
		src, _, err := tx.source(w.subject, w.source(condition(t, s, "parent", pdpp.OpEq, "p")))
		if err != nil {
			return err
		}
		c, err := sqlgen.Compile(dialect{}, src, query.ByCursor, always(3))
		if err != nil {
			return err
		}
		o := query.Order{By: query.ByCursor, Desc: true}
		steps := strings.Join(explain(t, tx, c.List(o, sqlgen.Segments(o, s, nil)[0], nil, 26)), "\n")
		if !strings.Contains(steps, "SCAN i VIRTUAL TABLE INDEX 0:M1") || strings.Contains(steps, "SCAN r") {
			t.Errorf("plan does not go by the search index:\n%s", steps)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExplainGather: what is gathered is looked up in the index and only record
// numbers are sorted.
func TestExplainGather(t *testing.T) {
	w := newWorld(t)
	s := w.binding.Stream
	err := w.db.View(t.Context(), func(v store.View) error {
		tx := v.(*tx)
		src, _, err := tx.source(w.subject, w.source(condition(t, s, "amount", pdpp.OpGte, "1"), condition(t, s, "memo", pdpp.OpEq, "x")))
		if err != nil {
			return err
		}
		c, err := sqlgen.Compile(dialect{}, src, query.ByCursor, counting(5, 1))
		if err != nil {
			return err
		}
		o := query.Order{By: query.ByCursor}
		steps := strings.Join(explain(t, tx, c.List(o, sqlgen.Segments(o, s, nil)[0], nil, 26)), "\n")
		for _, want := range []string{
			"SEARCH i USING PRIMARY KEY (field=? AND value>?)", "USING PRIMARY KEY (record=? AND field=?)",
		} {
			if !strings.Contains(steps, want) {
				t.Errorf("plan lacks %q:\n%s", want, steps)
			}
		}
		if strings.Contains(steps, "SCAN r") || strings.Contains(steps, "SCAN i") {
			t.Errorf("plan scans a table:\n%s", steps)
		}
		get := sqlgen.ForGet(dialect{}, src).Get("a")
		steps = strings.Join(explain(t, tx, get), "\n")
		if !strings.Contains(steps, "records_by_id (binding=? AND id=?)") || strings.Contains(steps, "SCAN") {
			t.Errorf("plan of Get:\n%s", steps)
		}
		src.Resources = []pdpp.RecordID{"a", "b"}
		c, err = sqlgen.Compile(dialect{}, src, query.ByCursor, counting(5, 1))
		if err != nil {
			return err
		}
		steps = strings.Join(explain(t, tx, c.Count()), "\n")
		if !strings.Contains(steps, "records_by_id (binding=? AND id=?)") {
			t.Errorf("plan by resources:\n%s", steps)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestExplainRights: what every request pays for looks up single rows, and the
// members of a package come in their order without being sorted.
func TestExplainRights(t *testing.T) {
	w := newWorld(t)
	err := w.db.View(t.Context(), func(v store.View) error {
		for sql, want := range map[string][]string{
			selectPrincipal: {
				"SEARCH t USING PRIMARY KEY (hash=?)", "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)",
				"SEARCH g USING PRIMARY KEY (grant_id=?) LEFT-JOIN", "SEARCH p USING PRIMARY KEY (package_id=?) LEFT-JOIN",
				"SCALAR SUBQUERY 1", "SEARCH meta USING PRIMARY KEY (name=?)",
			},
			selectMembers: {
				"SEARCH s USING COVERING INDEX sqlite_autoindex_subjects_1 (subject_id=?)", "SEARCH m USING PRIMARY KEY (package_id=?)",
				"SEARCH c USING PRIMARY KEY (subject=? AND connection_id=?) LEFT-JOIN", "SEARCH g USING PRIMARY KEY (grant_id=?) LEFT-JOIN",
			},
		} {
			if diff := cmp.Diff(want, explain(t, v.(*tx), sqlgen.Statement{SQL: sql})); diff != "" {
				t.Errorf("plan (-want +got):\n%s", diff)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
