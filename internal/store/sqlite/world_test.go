package sqlite

import (
	"context"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

const declaration = `{"protocol_version":"0.1.0","declaration_version":"1",
	"source":{"kind":"connector","id":"https://reg.acme.test/c/ledger"},
	"streams":[{"name":"entries","semantics":"mutable_state","primary_key":["id"],
		"cursor_field":"posted_at","consent_time_field":"due","selection":{"fields":true,"resources":true},
		"schema":{"type":"object","properties":{
			"id":{"type":"string"},"memo":{"type":["string","null"]},"note":{"type":["string","null"]},
			"amount":{"type":["number","null"]},"parent":{"type":["string","null"]},
			"posted_at":{"type":["string","null"],"format":"date-time"},"due":{"type":["string","null"],"format":"date"}}},
		"query":{"range_filters":{"posted_at":["gte","gt","lte","lt"],"amount":["gte","lt"]},
			"search":{"lexical_fields":["memo","note"]},"aggregations":{"count":true,"group_by":["memo"]}}}]}`

// world is a store with one subject, one connection and the stream entries.
type world struct {
	db      *DB
	subject pdpp.SubjectID
	binding *store.Binding
}

func newWorld(t *testing.T) *world { return newWorldIn(t, openDB(t, t.TempDir())) }

func newWorldIn(t *testing.T, db *DB) *world {
	t.Helper()
	m, err := manifest.Parse([]byte(declaration))
	if err != nil {
		t.Fatal(err)
	}
	err = db.Update(t.Context(), func(tx store.Tx) error {
		sub, err := tx.CreateSubject("ann", epoch)
		if err != nil {
			return err
		}
		if err := tx.PutManifest(sub.ID, m); err != nil {
			return err
		}
		return tx.PutConnection(sub.ID, pdpp.Connection{ID: "cin_a", Connector: "ledger", Name: "a", Status: "active", CreatedAt: epoch})
	})
	if err != nil {
		t.Fatal(err)
	}
	w := &world{db: db}
	if err := w.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	return w
}

// find looks up what newWorldIn made.
func (w *world) find(ctx context.Context) error {
	return w.db.View(ctx, func(v store.View) error {
		subjects, err := v.Subjects()
		if err != nil {
			return err
		}
		w.subject = subjects[0].ID
		c, err := v.Catalog(w.subject)
		if err != nil {
			return err
		}
		w.binding, err = v.Binding(w.subject, c.Connections[0], c.Manifests[0].Streams[0])
		return err
	})
}

func (w *world) source(where ...query.Condition) query.Source {
	return query.Source{Connection: "cin_a", Stream: w.binding.Stream, Where: where}
}

func (w *world) put(id, data string) store.Document {
	return store.Prepare(w.binding, store.Input{ID: pdpp.RecordID(id), Data: []byte(data), EmittedAt: epoch})
}

func (w *world) drop(id string) store.Document {
	return store.Prepare(w.binding, store.Input{ID: pdpp.RecordID(id), Delete: true, EmittedAt: epoch})
}

func (w *world) ingest(ctx context.Context, docs ...store.Document) error {
	return w.db.Update(ctx, func(tx store.Tx) error {
		_, err := tx.Ingest(w.binding, docs, epoch)
		return err
	})
}

func (w *world) mustIngest(t *testing.T, docs ...store.Document) {
	t.Helper()
	if err := w.ingest(t.Context(), docs...); err != nil {
		t.Fatal(err)
	}
}

// raw runs fn on a connection of its own to the database file.
func (w *world) raw(t *testing.T, fn func(*engine.Conn)) {
	t.Helper()
	c, err := engine.Open(w.db.path)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	fn(c)
}

// rows reads all rows of a statement, each column as text.
func rows(t *testing.T, c *engine.Conn, columns int, sql string, args ...any) [][]string {
	t.Helper()
	s, err := c.Query(sql, args...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var out [][]string
	for {
		row, err := s.Step()
		if err != nil {
			t.Fatal(err)
		}
		if !row {
			return out
		}
		line := make([]string, columns)
		for i := range line {
			line[i] = s.Text(i)
		}
		out = append(out, line)
	}
}

// derived are the tables made from records, with the column that names one.
var derived = map[string]string{"field_index": "record", "field_values": "record", "pieces": "record", "search": "rowid"}

// consistent checks that no row made from a record is left without it.
func (w *world) consistent(t *testing.T) {
	t.Helper()
	w.raw(t, func(c *engine.Conn) {
		for table, column := range derived {
			lost := rows(t, c, 1, `SELECT `+column+` FROM `+table+` WHERE `+column+` NOT IN (SELECT record FROM records) LIMIT 3`)
			if len(lost) != 0 {
				t.Errorf("table %s has rows of no record: %v", table, lost)
			}
		}
		if ok := rows(t, c, 1, `PRAGMA integrity_check`); ok[0][0] != "ok" {
			t.Errorf("integrity check: %v", ok)
		}
		if err := c.Exec(`INSERT INTO search (search) VALUES ('integrity-check')`); err != nil {
			t.Errorf("integrity of the search index: %v", err)
		}
		gap := rows(t, c, 3, `SELECT count(*), max(seq), (SELECT change_seq FROM subjects) FROM changes`)
		if gap[0][0] != gap[0][1] && gap[0][0] != "0" || gap[0][0] != gap[0][2] {
			t.Errorf("%s changes, the last is number %s, the counter says %s", gap[0][0], gap[0][1], gap[0][2])
		}
	})
}
