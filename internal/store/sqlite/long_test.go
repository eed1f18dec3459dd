package sqlite

import (
	"errors"
	"strings"
	"testing"

	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
	"pdpp/internal/store/sqlread"
)

// TestDamagedLongValue: a long value that has lost a piece is an error, not a shorter
// value.
func TestDamagedLongValue(t *testing.T) {
	for _, c := range []struct {
		name, damage string
		from         int
	}{
		{"the first piece", `DELETE FROM pieces WHERE piece = 0`, 0},
		{"one in the middle", `DELETE FROM pieces WHERE piece = 1`, store.PieceChars},
		{"the last", `DELETE FROM pieces WHERE piece = 2`, 0},
		{"all", `DELETE FROM pieces`, 0},
		{"the stub", `UPDATE records SET body = cast(replace(body, ':t:', ':') AS BLOB)`, 0},
	} {
		t.Run("FW-1 "+c.name, func(t *testing.T) {
			w := newWorld(t)
			w.mustIngest(t, w.put("a", `{"id":"a","memo":"`+strings.Repeat("x", 2*store.PieceChars+5)+`"}`))
			w.raw(t, func(conn *engine.Conn) {
				if err := conn.Exec(c.damage); err != nil {
					t.Fatal(err)
				}
			})
			err := w.db.View(t.Context(), func(v store.View) error {
				return v.Get(query.Get{Subject: w.subject, Sources: []query.Source{w.source()}, ID: "a"}, func(r *store.Record) error {
					value, _ := rawjson.Get(r.Body, "memo")
					return v.Long(r.Ref, store.ParseStub(value), c.from, func([]byte) bool { return true })
				})
			})
			if !errors.Is(err, sqlread.ErrDamaged) {
				t.Errorf("reading the value: %v, want %v", err, sqlread.ErrDamaged)
			}
		})
	}
}
