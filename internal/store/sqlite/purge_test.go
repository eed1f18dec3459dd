package sqlite

import (
	"fmt"
	"strings"
	"testing"

	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// TestPurgeLeavesNothing: of a deleted connection no row is left in any table, however
// small the slices are.
func TestPurgeLeavesNothing(t *testing.T) {
	w := newWorld(t)
	w.db.sliceTime = -1 // every slice does one step
	long := strings.Repeat("many words ", store.LongValue)
	w.mustIngest(t, w.put("a", `{"id":"a","memo":"`+long+`","amount":1,"due":"2026-01-01","posted_at":"2026-01-02"}`))
	for i := range 30 {
		w.mustIngest(t, w.put(fmt.Sprint("r", i), `{"memo":"zebrafink","amount":3}`))
	}
	err := w.db.Update(t.Context(), func(tx store.Tx) error { return tx.DeleteConnection(w.binding.Subject, w.binding.Connection.ID) })
	if err == nil {
		err = store.Purge(t.Context(), w.db, epoch)
	}
	if err == nil {
		err = store.Tidy(t.Context(), w.db)
	}
	if err != nil {
		t.Fatal(err)
	}
	w.raw(t, func(c *engine.Conn) {
		for _, table := range []string{"records", "field_index", "field_values", "pieces", "search", "search_docsize", "changes", "states", "fields", "former_fields"} {
			if n := rows(t, c, 1, `SELECT count(*) FROM `+table+` WHERE `+ofDeleted(table, w.binding.ID)); n[0][0] != "0" {
				t.Errorf("table %s still has %s rows", table, n[0][0])
			}
		}
		if n := rows(t, c, 1, `SELECT count(*) FROM connections WHERE connection_id = ?`, string(w.binding.Connection.ID)); n[0][0] != "0" {
			t.Error("the connection is still there")
		}
	})
}

// ofDeleted returns a condition on the rows of a binding, in tables that have rows of
// others too.
func ofDeleted(table string, binding int64) string {
	if table == "fields" || table == "former_fields" || table == "changes" {
		return fmt.Sprintf("binding = %d", binding)
	}
	return "true"
}
