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
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlread"
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

// TestPlansAgree: whichever plan the compiler chooses, the rows are those of the
// model.
func TestPlansAgree(t *testing.T) {
	t.Parallel()
	db := openDB(t, t.TempDir())
	storetest.EachModel(t, db, func(rt *rapid.T, m *storetest.Model) {
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

// probed is a transaction whose probes are answered by a test.
type probed struct {
	*tx
	fresh   probe
	current func(sqlgen.Statement) (int64, error)
}

// Stale is called once for every source, before its probes: each begins with the first.
func (p *probed) Stale() (map[int64]*store.Stale, error) {
	p.current = p.fresh()
	return p.tx.Stale()
}

func (p *probed) Probe(s sqlgen.Statement) (int64, error) { return p.current(s) }

// readerWith reads a view with the plans that a probe leads to.
func readerWith(v store.View, p probe) *sqlread.Reader {
	t := v.(*tx)
	r := sqlread.New(dialect{}, &probed{tx: t, fresh: p}, &t.db.bindings)
	return &r
}

// readWith reads all pages of a list, with the plans that a probe leads to, and
// counts its records.
func readWith(t *rapid.T, db *DB, q query.List, p probe) (got []string, n int64, err error) {
	err = db.View(t.Context(), func(v store.View) error {
		r := readerWith(v, p)
		if n, err = r.Count(q); err != nil {
			return err
		}
		for more := true; more; {
			page := 0
			more, err = r.List(q, func(rec *store.Record) (bool, error) {
				if page == q.Limit {
					return false, nil
				}
				page++
				connection := q.Sources[rec.Source].Connection
				got = append(got, string(rec.ID)+"@"+string(connection))
				q.After = &query.Position{Key: slices.Clone(rec.Order), Connection: connection}
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		return nil
	})
	return got, n, err
}

// explain returns the steps of a statement's plan.
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
		src, _, err := tx.Source(w.subject, w.source(where...))
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
		src, _, err := tx.Source(w.subject, w.source(condition(t, s, "parent", pdpp.OpEq, "p")))
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
		src, _, err := tx.Source(w.subject, w.source(condition(t, s, "amount", pdpp.OpGte, "1"), condition(t, s, "memo", pdpp.OpEq, "x")))
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
