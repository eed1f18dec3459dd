package sqlite

import (
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

func base36(decimal string) (string, error) {
	n, err := strconv.ParseInt(decimal, 10, 64)
	return strconv.FormatInt(n, 36), err
}

// TestChangeLog: numbers are consecutive per subject across connections, and the
// log has facts, no content (REC-32).
func TestChangeLog(t *testing.T) {
	w := newWorld(t)
	var second *store.Binding
	err := w.db.Update(t.Context(), func(tx store.Tx) error {
		c := pdpp.Connection{ID: "cin_b", Connector: "ledger", Name: "b", Status: "active", CreatedAt: epoch}
		if err := tx.PutConnection(w.subject, c); err != nil {
			return err
		}
		b, err := tx.Binding(w.subject, c, w.binding.Stream)
		second = b
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	other := *w
	other.binding = second
	w.mustIngest(t, w.put("a", `{"memo":"x","due":"2026-03-01"}`), w.put("b", `{}`))
	other.mustIngest(t, other.put("a", `{"memo":"x"}`))
	w.mustIngest(t, w.put("b", `{}`), w.drop("z"), w.put("a", `{"memo":"y","note":"n"}`)) // only one change
	w.reject(t, w.put("a", `{"memo":"lost"}`))
	w.mustIngest(t, w.put("a", `{"note":"n","memo":"y"}`)) // only the order of the fields
	other.mustIngest(t, other.drop("a"))
	w.mustIngest(t, w.drop("a"))
	var got [][]string
	w.raw(t, func(c *engine.Conn) {
		got = rows(t, c, 7, `SELECT seq, binding - ?, id, deleted, existed, fields, ifnull(before_time, '') FROM changes ORDER BY seq`, w.binding.ID)
	})
	due, ok := sortkey.FromText(pdpp.KindDate, "2026-03-01")
	if !ok {
		t.Fatal("no date")
	}
	want := [][]string{
		{"1", "0", "a", "0", "0", `[]`, ""},
		{"2", "0", "b", "0", "0", `[]`, ""},
		{"3", "1", "a", "0", "0", `[]`, ""},
		{"4", "0", "a", "0", "1", `["memo","due","note"]`, string(due)},
		{"5", "0", "a", "0", "1", `[]`, ""},
		{"6", "1", "a", "1", "1", `[]`, ""},
		{"7", "0", "a", "1", "1", `[]`, ""},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("changes (-want +got):\n%s", diff)
	}
}

// reject ingests in an Update that fails.
func (w *world) reject(t *testing.T, docs ...store.Document) {
	t.Helper()
	err := w.db.Update(t.Context(), func(tx store.Tx) error {
		if _, err := tx.Ingest(w.binding, docs, epoch); err != nil {
			t.Error(err)
		}
		return store.ErrStale
	})
	if err == nil {
		t.Error("Update succeeded")
	}
}

// TestChangesPerSubject: each subject counts for itself.
func TestChangesPerSubject(t *testing.T) {
	w := newWorld(t)
	w.mustIngest(t, w.put("a", `{}`), w.put("b", `{}`))
	m, err := manifest.Parse([]byte(declaration))
	if err != nil {
		t.Fatal(err)
	}
	err = w.db.Update(t.Context(), func(tx store.Tx) error {
		bea, err := tx.CreateSubject("bea", epoch)
		if err != nil {
			return err
		}
		c := pdpp.Connection{ID: "cin_a", Connector: "ledger", Name: "a", Status: "active", CreatedAt: epoch}
		if err := tx.PutManifest(bea.ID, m); err != nil {
			return err
		}
		if err := tx.PutConnection(bea.ID, c); err != nil {
			return err
		}
		b, err := tx.Binding(bea.ID, c, m.Stream("entries"))
		if err != nil {
			return err
		}
		_, err = tx.Ingest(b, []store.Document{store.Prepare(b, store.Input{ID: "a", Data: []byte(`{}`), EmittedAt: epoch})}, epoch)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.mustIngest(t, w.drop("a"))
	w.raw(t, func(c *engine.Conn) {
		got := rows(t, c, 3, `SELECT subject, count(*), max(seq) FROM changes GROUP BY subject ORDER BY subject`)
		if diff := cmp.Diff([][]string{{"1", "3", "3"}, {"2", "1", "1"}}, got); diff != "" {
			t.Errorf("changes by subject (-want +got):\n%s", diff)
		}
	})
}
