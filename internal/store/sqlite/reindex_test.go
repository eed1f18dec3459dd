package sqlite

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// TestReindexContinues: a re-index proceeds record by record, also after the store is
// opened again, and new records are indexed as declared meanwhile.
func TestReindexContinues(t *testing.T) { // M-11
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

// TestTermsCanBeRemoved: after words of many records were marked as deleted, by a new
// declaration or by a change of the records, and the marks were removed, words can be
// removed from the search index one by one.
func TestTermsCanBeRemoved(t *testing.T) {
	for name, change := range map[string]func(*testing.T, *world, int){
		"M-11 REC-37 after a re-index": func(t *testing.T, w *world, _ int) {
			m, err := manifest.Parse([]byte(strings.Replace(declaration, `["memo","note"]`, `["memo","parent"]`, 1)))
			if err != nil {
				t.Fatal(err)
			}
			if err := w.db.Update(t.Context(), func(tx store.Tx) error { return tx.PutManifest(w.subject, m) }); err != nil {
				t.Fatal(err)
			}
			if err := store.Reindex(t.Context(), w.db, nil); err != nil {
				t.Fatal(err)
			}
		},
		"REC-37 after changes": func(t *testing.T, w *world, n int) { w.mustIngest(t, rents(w, n, "garden")...) },
	} {
		t.Run(name, func(t *testing.T) {
			const n = 2000
			w := newWorld(t)
			w.mustIngest(t, rents(w, n, "house")...)
			change(t, w, n)
			w.tidy(t)
			if err := w.find(t.Context()); err != nil {
				t.Fatal(err)
			}
			const dropped = 150
			for i := range dropped {
				w.mustIngest(t, w.drop(fmt.Sprint("r", 7*i)))
			}
			w.consistent(t)
			w.raw(t, func(c *engine.Conn) {
				if got := searchable(t, c, "memo", "rent"); got != n-dropped {
					t.Errorf("%d records are found by a word, want %d", got, n-dropped)
				}
			})
		})
	}
}

// rents returns records with the same word, each of another time.
func rents(w *world, n int, parent string) []store.Document {
	docs := make([]store.Document, n)
	for i := range docs {
		docs[i] = store.Prepare(w.binding, store.Input{
			ID: pdpp.RecordID(fmt.Sprint("r", i)), Data: fmt.Appendf(nil, `{"memo":"rent","parent":%q}`, parent), EmittedAt: epoch.Add(time.Duration(i) * time.Second),
		})
	}
	return docs
}
