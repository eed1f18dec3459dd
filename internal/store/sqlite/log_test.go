package sqlite

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlite/engine"
)

// TestExplainChanges: the log is walked binding by binding, or by the ids of a
// resource list, and nothing is scanned or sorted but numbers.
func TestExplainChanges(t *testing.T) {
	w := newWorld(t)
	const next = "SEARCH n USING COVERING INDEX changes_by_record (binding=? AND id=? AND seq>?)"
	const record = "SEARCH r USING INTEGER PRIMARY KEY (rowid=?) LEFT-JOIN"
	timed := &pdpp.TimeConstraint{Field: "due", Since: epoch}
	for _, c := range []struct {
		name string
		edit func(*query.Source)
		want []string
	}{
		{"all", func(*query.Source) {}, []string{
			"SEARCH c USING PRIMARY KEY (binding=? AND seq>? AND seq<?)", record, "CORRELATED SCALAR SUBQUERY 1", next,
		}},
		{"in time", func(s *query.Source) { s.Time = timed }, []string{
			"SEARCH c USING PRIMARY KEY (binding=? AND seq>? AND seq<?)", record, "CORRELATED SCALAR SUBQUERY 2",
			"SEARCH x USING PRIMARY KEY (record=? AND field=?)", "CORRELATED SCALAR SUBQUERY 1", next,
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			w.explainLog(t, c.edit, func(tx *tx, q *sqlgen.Query) {
				if diff := cmp.Diff(c.want, explain(t, tx, q.Changes(1, 9, 50))); diff != "" {
					t.Errorf("plan (-want +got):\n%s", diff)
				}
			})
		})
	}
	w.explainLog(t, func(s *query.Source) { s.Resources = []pdpp.RecordID{"a", "b"} }, func(tx *tx, q *sqlgen.Query) {
		steps := strings.Join(explain(t, tx, q.Changes(1, 9, 50)), "\n")
		for _, want := range []string{"SEARCH m USING COVERING INDEX changes_by_record (binding=? AND id=? AND seq>? AND seq<?)", "SEARCH c USING PRIMARY KEY (binding=? AND seq=?)"} {
			if !strings.Contains(steps, want) {
				t.Errorf("plan lacks %q:\n%s", want, steps)
			}
		}
		if strings.Count(steps, "TEMP B-TREE") != 1 {
			t.Errorf("plan sorts more than numbers:\n%s", steps)
		}
	})
	w.explainLog(t, func(*query.Source) {}, func(tx *tx, q *sqlgen.Query) {
		for _, s := range []sqlgen.Statement{q.Step(3), q.FirstStep("a", 3)} {
			if steps := explain(t, tx, s); steps[0] != "SEARCH c USING PRIMARY KEY (binding=? AND seq=?)" || strings.Contains(strings.Join(steps, "\n"), "SCAN") {
				t.Errorf("plan of %s:\n%s", s.SQL, strings.Join(steps, "\n"))
			}
		}
	})
}

func (w *world) explainLog(t *testing.T, edit func(*query.Source), check func(*tx, *sqlgen.Query)) {
	t.Helper()
	err := w.db.View(t.Context(), func(v store.View) error {
		src := w.source()
		edit(&src)
		s, _, err := v.(*tx).Source(w.subject, src)
		if err == nil {
			check(v.(*tx), sqlgen.ForGet(dialect{}, s))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestLogIsUpgraded: a store of the first version keeps its log.
func TestLogIsUpgraded(t *testing.T) {
	dir := t.TempDir()
	c, err := engine.Open(filepath.Join(dir, "pdpp.db"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := migrations.ReadFile(migrationFiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, sql := range []string{
		string(first), `INSERT INTO changes VALUES (1, 1, 7, 'a', 0, 0, '[]', NULL, 5, 6), (1, 2, 8, 'b', 1, 1, '["x"]', x'01', 7, 8)`,
		`PRAGMA user_version = 1`,
	} {
		if err := c.Script(sql); err != nil {
			t.Fatal(err)
		}
	}
	if err := c.Close(); err != nil {
		t.Fatal(err)
	}
	w := world{db: openDB(t, dir)}
	w.raw(t, func(c *engine.Conn) {
		got := rows(t, c, 11, `SELECT subject, seq, binding, id, deleted, existed, fields, hex(before_time), emitted_at, committed_at, record FROM changes ORDER BY seq`)
		want := [][]string{{"1", "1", "7", "a", "0", "0", "[]", "", "5", "6", ""}, {"1", "2", "8", "b", "1", "1", `["x"]`, "01", "7", "8", ""}}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("changes (-want +got):\n%s", diff)
		}
	})
}

// TestLogHasNoContent: for a record that was changed and deleted, the log contains names
// of fields and its consent time, but no content (REC-32, R14); pruned changes are erased
// from the file.
func TestLogHasNoContent(t *testing.T) {
	w := newWorld(t)
	secrets := []string{"xylophonist", "quizzicality", "2026-11-11"}
	w.mustIngest(t, w.put("kinnikinnick", `{"memo":"xylophonist","due":"2026-02-02"}`))
	w.mustIngest(t, w.put("kinnikinnick", `{"memo":"quizzicality","other":"xylophonist","posted_at":"2026-11-11"}`), w.drop("kinnikinnick"))
	w.raw(t, func(c *engine.Conn) {
		all := ""
		for _, row := range rows(t, c, 11, `SELECT * FROM changes`) {
			all += strings.Join(row, "|") + "\n"
		}
		for _, s := range secrets {
			if strings.Contains(all, s) {
				t.Errorf("the log holds %q:\n%s", s, all)
			}
		}
		if !strings.Contains(all, `["memo","due","other","posted_at"]`) {
			t.Errorf("the log does not name the changed fields:\n%s", all)
		}
	})
	if left := w.inFile(t, append(secrets, "kinnikinnick")); len(left) != 1 {
		t.Fatalf("in the file: %v, want the id alone", left)
	}
	err := w.db.Update(t.Context(), func(tx store.Tx) error {
		n, err := tx.Prune(epoch.Add(time.Second), 100)
		if n != 3 {
			t.Errorf("Prune = %d, want 3", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	if left := w.inFile(t, []string{"kinnikinnick"}); len(left) != 0 {
		t.Errorf("pruned, and the file still holds %v", left)
	}
}
