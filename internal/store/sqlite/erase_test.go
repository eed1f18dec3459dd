package sqlite

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// searchable counts the records that contain a term.
func searchable(t *testing.T, c *engine.Conn, field, term string) int {
	t.Helper()
	number := rows(t, c, 1, `SELECT field FROM fields WHERE name = ?`, field)
	id, err := base36(number[0][0])
	if err != nil {
		t.Fatal(err)
	}
	return len(rows(t, c, 1, `SELECT rowid FROM search WHERE search MATCH ?`, `"`+id+`.`+term+`"`))
}

// TestNothingIsLeft: deleting everything leaves no row of a record in any table.
func TestNothingIsLeft(t *testing.T) {
	w := newWorld(t)
	long := strings.Repeat("many words ", store.LongValue)
	w.mustIngest(t,
		w.put("a", `{"id":"a","memo":"`+long+`","note":"`+long+`","amount":1,"due":"2026-01-01","posted_at":"2026-01-02"}`),
		w.put("b", `{"id":"b","memo":"first","amount":2}`), w.put("c", `{"memo":null}`))
	w.mustIngest(t, w.put("b", `{"memo":"`+long+`","amount":3,"due":"2026-02-02"}`), w.put("c", `{"memo":"third"}`))
	w.mustIngest(t, w.put("b", `{"memo":"second"}`))
	w.consistent(t)
	err := w.db.Update(t.Context(), func(tx store.Tx) error {
		n, err := tx.DeleteAll(w.binding, math.MaxInt64, epoch)
		if n != 3 {
			t.Errorf("DeleteAll = %d, want 3", n)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.consistent(t)
	w.raw(t, func(c *engine.Conn) {
		for _, table := range []string{"records", "field_index", "field_values", "pieces", "search", "search_docsize"} {
			if n := rows(t, c, 1, `SELECT count(*) FROM `+table); n[0][0] != "0" {
				t.Errorf("table %s still has %s rows", table, n[0][0])
			}
		}
	})
}

// TestSearchFollowsContent: terms are added and removed with the record, also when a
// record number is used again.
func TestSearchFollowsContent(t *testing.T) {
	w := newWorld(t)
	check := func(when string, want map[string]int) {
		t.Helper()
		w.raw(t, func(c *engine.Conn) {
			for key, n := range want {
				field, term, _ := strings.Cut(key, ".")
				if got := searchable(t, c, field, term); got != n {
					t.Errorf("%s: %d records hold %s, want %d", when, got, key, n)
				}
			}
		})
		w.consistent(t)
	}
	w.mustIngest(t, w.put("a", `{"memo":"Alpha beta","note":"gamma"}`), w.put("b", `{"memo":"beta beta"}`))
	check("stored", map[string]int{"memo.alpha": 1, "memo.beta": 2, "memo.gamma": 0, "note.gamma": 1, "note.beta": 0})
	w.mustIngest(t, w.put("a", `{"memo":"delta","note":5}`))
	check("updated", map[string]int{"memo.alpha": 0, "memo.beta": 1, "memo.delta": 1, "note.gamma": 0})
	w.mustIngest(t, w.drop("a"), w.put("c", `{"memo":"beta delta"}`), w.drop("b"), w.put("b", `{}`))
	check("deleted", map[string]int{"memo.beta": 1, "memo.delta": 1})
}

// TestErased: a deleted or changed record leaves no trace in the file (REC-37).
func TestErased(t *testing.T) {
	w := newWorld(t)
	secrets := []string{"xylophonist", "quizzicality", "zyzzyvatine", "kinnikinnick"}
	long := strings.Repeat("filler ", store.LongValue/4)
	for i := range 200 {
		id := string(rune('a'+i%26)) + strings.Repeat("x", i/26)
		w.mustIngest(t, w.put(id, `{"memo":"ordinary `+id+`","note":"words"}`))
	}
	w.mustIngest(t,
		w.put("one", `{"memo":"`+secrets[0]+`","note":"`+long+secrets[1]+`"}`),
		w.put("two", `{"memo":"`+secrets[2]+`","other":"`+secrets[3]+`","amount":5}`))
	if left := w.inFile(t, secrets); len(left) != len(secrets) {
		t.Fatalf("only %v of the words are in the file before; the test sees nothing", left)
	}
	w.mustIngest(t, w.drop("one"), w.put("two", `{"memo":"harmless"}`))
	if left := w.inFile(t, secrets); len(left) != 0 {
		t.Errorf("erased words are still in the file: %v", left)
	}
	w.consistent(t)
}

// TestErasedBehindAReader: while a reader needs the log, the words stay in it until the
// next update after that.
func TestErasedBehindAReader(t *testing.T) {
	w := newWorld(t)
	secret := []string{"xylophonist"}
	w.mustIngest(t, w.put("one", `{"memo":"xylophonist"}`))
	err := w.db.View(t.Context(), func(v store.View) error {
		if _, err := v.Generation(); err != nil {
			return err
		}
		w.mustIngest(t, w.drop("one"))
		if left := w.inFile(t, secret); len(left) == 0 {
			t.Error("the log is empty under a reader; the test sees nothing")
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	w.mustIngest(t, w.put("two", `{}`))
	if left := w.inFile(t, secret); len(left) != 0 {
		t.Error("the word is still there after the reader has gone")
	}
}

// TestManyErased: beyond a few records the words are marked first. A whole stream
// leaves nothing once the store was tidied, and single records are erased at once again.
func TestManyErased(t *testing.T) {
	w := newWorld(t)
	var docs []store.Document
	for i := range 3 * secureDeletes {
		docs = append(docs, w.put(fmt.Sprint("r", i), `{"memo":"xylophonist common"}`))
	}
	w.mustIngest(t, docs...)
	err := w.db.Update(t.Context(), func(tx store.Tx) error {
		n, err := tx.DeleteAll(w.binding, math.MaxInt64, epoch)
		if n != int64(len(docs)) {
			t.Errorf("DeleteAll = %d, want %d", n, len(docs))
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	w.tidy(t)
	if left := w.inFile(t, []string{"xylophonist"}); len(left) != 0 {
		t.Error("a word of the deleted stream is still in the file")
	}
	w.mustIngest(t, w.put("one", `{"memo":"quizzicality"}`))
	w.mustIngest(t, w.drop("one"))
	w.consistent(t)
	if left := w.inFile(t, []string{"quizzicality"}); len(left) != 0 {
		t.Error("a word of a single deleted record is still in the file")
	}
	w.consistent(t)
}

// tidy does all the housekeeping there is.
func (w *world) tidy(t *testing.T) {
	t.Helper()
	for more := true; more; {
		err := w.db.Bulk(t.Context(), func(tx store.Tx) (err error) {
			more, err = tx.Tidy()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}

// TestManyDeletedAtOnce: after a delete of many records in one transaction their words
// are in no copy taken right away, and in no file once the store was tidied (REC-37).
func TestManyDeletedAtOnce(t *testing.T) {
	for name, before := range map[string]int{"beside others": 50, "alone": 0} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			var kept, docs, drops []store.Document
			for i := range before {
				kept = append(kept, w.put(fmt.Sprint("k", i), `{"memo":"ordinary words"}`))
			}
			for i := range 300 {
				docs = append(docs, w.put(fmt.Sprint("r", i), fmt.Sprintf(`{"memo":"xylophonist quizzicality%d common"}`, i)))
				drops = append(drops, w.drop(fmt.Sprint("r", i)))
			}
			w.mustIngest(t, kept...)
			w.mustIngest(t, docs...)
			w.mustIngest(t, drops...)
			w.erasedEverywhere(t, "xylophonist", "quizzicality")
		})
	}
}

// TestStoredAndDeletedAtOnce: the same for records that one transaction stores and
// deletes, in an index that has no other part.
func TestStoredAndDeletedAtOnce(t *testing.T) {
	w := newWorld(t)
	var docs []store.Document
	for i := range 3 * secureDeletes {
		id := fmt.Sprint("r", i)
		docs = append(docs, w.put(id, `{"memo":"xylophonist"}`), w.drop(id))
	}
	w.mustIngest(t, docs...)
	w.erasedEverywhere(t, "xylophonist")
}

// erasedEverywhere looks for words in a copy taken now, and in the files after tidying.
func (w *world) erasedEverywhere(t *testing.T, words ...string) {
	t.Helper()
	dir := t.TempDir()
	if err := w.db.CopyTo(t.Context(), filepath.Join(dir, "pdpp.db")); err != nil {
		t.Fatal(err)
	}
	copied := world{db: &DB{path: filepath.Join(dir, "pdpp.db")}}
	if left := copied.inFile(t, words); len(left) > 0 {
		t.Errorf("a copy holds deleted words: %v", left)
	}
	copied.db = openDB(t, dir)
	copied.consistent(t)
	unerased := func() (left bool) {
		err := w.db.View(t.Context(), func(v store.View) (err error) {
			left, err = v.Unerased()
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return left
	}
	if left := w.inFile(t, words); len(left) > 0 && !unerased() {
		t.Errorf("%v are left in the files, and the store says no", left)
	}
	w.tidy(t)
	if unerased() {
		t.Error("after tidying the store says that something is left")
	}
	if left := w.inFile(t, words); len(left) > 0 {
		t.Errorf("the files hold deleted words: %v", left)
	}
	w.consistent(t)
}

// inFile returns the words that the database file or its log contain.
func (w *world) inFile(t *testing.T, words []string) (found []string) {
	t.Helper()
	var all []byte
	for _, name := range []string{w.db.path, w.db.path + "-wal"} {
		data, err := os.ReadFile(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			t.Fatal(err)
		}
		all = append(all, data...)
	}
	for _, word := range words {
		if bytes.Contains(all, []byte(word)) {
			found = append(found, word)
		}
	}
	return found
}
