package sqlite

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
)

// TestHiddenLikeMissing: under a time range, a hidden record is looked up by the same
// statements as a missing one, with as many rows each, and neither reads a body. So
// neither takes longer than the other.
func TestHiddenLikeMissing(t *testing.T) {
	w := newWorld(t)
	w.mustIngest(t,
		w.put("b", `{"id":"b","posted_at":"2026-01-01T00:00:00Z","due":"2026-01-01"}`),
		w.put("d", `{"id":"d","posted_at":"2026-02-01T00:00:00Z","due":"2026-02-01","memo":"`+strings.Repeat("x", 9000)+`"}`),
		w.put("f", `{"id":"f","posted_at":"2026-01-02T00:00:00Z","due":"2026-01-02"}`),
		w.put("h", `{"id":"h"}`))
	ids := map[pdpp.RecordID]bool{ // visible or not
		"a": false, "b": true, "c": false, "d": false, "e": false, "f": true, "g": false, "h": false, "i": false,
	}
	for _, field := range []string{"posted_at", "due"} {
		src := w.source()
		src.Time = &pdpp.TimeConstraint{Field: field, Until: epoch.AddDate(0, 0, 20)}
		t.Run("REC-30 by "+field, func(t *testing.T) {
			err := w.db.View(t.Context(), func(v store.View) error {
				s, _, err := v.(*tx).Source(w.subject, src)
				if err != nil {
					return err
				}
				for id, visible := range ids {
					w.lookUp(t, v.(*tx), sqlgen.ForGet(dialect{}, s), id, visible)
				}
				return nil
			})
			if err != nil {
				t.Fatal(err)
			}
		})
		t.Run("REC-30 by "+field+", an id as a condition", func(t *testing.T) {
			for id, visible := range ids {
				key, _ := sortkey.FromText(pdpp.KindString, string(id))
				src.Where = []query.Condition{{Field: src.Stream.Field("id"), Op: pdpp.OpEq, Key: key}}
				err := w.db.View(t.Context(), func(v store.View) error {
					_, ok, err := v.(*tx).Source(w.subject, src)
					if ok != visible {
						t.Errorf("Source may match %s: %t, want %t", id, ok, visible)
					}
					return err
				})
				if err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}

// lookUp does what Get does and checks the rows.
func (w *world) lookUp(t *testing.T, tx *tx, q *sqlgen.Query, id pdpp.RecordID, visible bool) {
	t.Helper()
	if !q.HidesByTime() {
		t.Fatal("a source with a time range is looked up like one without")
	}
	n := q.Near(id)
	near, err := tx.conn.Query(n.SQL, n.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	if row, err := near.Step(); err != nil || !row {
		t.Fatalf("near %s: %t %v", id, row, err)
	}
	record := near.Int(0)
	if near.IsNull(0) {
		record = near.Int(1)
	}
	s := q.Shown(record, id)
	stmt, err := tx.conn.Query(s.SQL, s.Args...)
	if err != nil {
		t.Fatal(err)
	}
	defer stmt.Close()
	if row, err := stmt.Step(); err != nil || !row || stmt.IsNull(3) == visible {
		t.Errorf("%s: row %t, without body %t, want %t, %v", id, row, stmt.IsNull(3), !visible, err)
	}
	steps := strings.Join(append(explain(t, tx, n), explain(t, tx, s)...), "\n")
	want := []string{"SEARCH r USING COVERING INDEX records_by_id (binding=? AND id>?)", "SEARCH r USING COVERING INDEX records_by_id (binding=?)", "SEARCH r USING INTEGER PRIMARY KEY (rowid=?)"}
	for _, step := range want {
		if !strings.Contains(steps, step) {
			t.Errorf("plan lacks %q:\n%s", step, steps)
		}
	}
}

// TestGetOfResources: an id that is not listed is not looked up at all.
func TestGetOfResources(t *testing.T) {
	w := newWorld(t)
	w.mustIngest(t, w.put("a", `{"id":"a"}`), w.put("b", `{"id":"b"}`))
	src := w.source()
	src.Resources = []pdpp.RecordID{"a", "x"}
	var got []string
	for _, id := range []pdpp.RecordID{"a", "b", "x", "y"} {
		err := w.db.View(t.Context(), func(v store.View) error {
			return v.Get(query.Get{Subject: w.subject, Sources: []query.Source{src}, ID: id}, func(r *store.Record) error {
				got = append(got, string(r.ID))
				return nil
			})
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if diff := cmp.Diff([]string{"a"}, got); diff != "" {
		t.Errorf("REC-29 visible (-want +got):\n%s", diff)
	}
	q := sqlgen.ForGet(dialect{}, sqlgen.Source{Source: src})
	if !q.AllowsID("a") || q.AllowsID("b") || q.AllowsID("y") {
		t.Error("REC-30 ids outside the resources are looked up")
	}
}
