package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/manifest"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// TestReindexGoesOn: a re-index is done record by record, by whoever opens the store,
// and records that come in meanwhile are indexed as declared.
func TestReindexGoesOn(t *testing.T) { // M-11
	dir := t.TempDir()
	open := func() *world {
		t.Helper()
		db, err := Open(t.Context(), dir)
		if err != nil {
			t.Fatal(err)
		}
		db.sliceTime = -1
		return &world{db: db}
	}
	w := open()
	newWorldIn(t, w.db)
	if err := w.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		w.mustIngest(t, w.put(fmt.Sprint("r", i), `{"memo":"rent","parent":"house","amount":1}`))
	}
	m, err := manifest.Parse([]byte(strings.Replace(declaration, `["memo","note"]`, `["note","parent"]`, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := w.db.Update(t.Context(), func(tx store.Tx) error { return tx.PutManifest(w.subject, m) }); err != nil {
		t.Fatal(err)
	}
	slices := 0
	for more := true; more; slices++ {
		if err := w.db.Close(); err != nil {
			t.Fatal(err)
		}
		w = open()
		if err := w.find(t.Context()); err != nil {
			t.Fatal(err)
		}
		if slices == 2 { // one that is done, one that is not, and a new one
			w.mustIngest(t, w.put("r0", `{"parent":"garden"}`), w.put("r5", `{"parent":"garden"}`), w.put("r9", `{"parent":"garden"}`))
		}
		err := w.db.Bulk(t.Context(), func(tx store.Tx) (err error) {
			_, more, err = tx.Reindex()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		w.consistent(t)
	}
	defer w.db.Close()
	if slices < 6 {
		t.Errorf("done in %d slices, want one for each record", slices)
	}
	w.raw(t, func(c *engine.Conn) {
		for key, want := range map[string]int{"memo.rent": 0, "parent.house": 4, "parent.garden": 3} {
			field, term, _ := strings.Cut(key, ".")
			if got := searchable(t, c, field, term); got != want {
				t.Errorf("%d records hold %s, want %d", got, key, want)
			}
		}
		if left := rows(t, c, 1, `SELECT count(*) FROM former_fields`); left[0][0] != "0" {
			t.Errorf("%s former fields are left", left[0][0])
		}
	})
	w.tidy(t)
	if left := w.inFile(t, []string{".rent"}); len(left) != 0 {
		t.Error("a word that is no longer indexed is still in the search index")
	}
	w.consistent(t)
}
