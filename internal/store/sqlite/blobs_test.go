package sqlite

import (
	"path/filepath"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlgen"
	"pdpp/internal/store/sqlite/engine"
)

var scanned = strings.Replace(declaration, `"properties":{`, `"properties":{"scan":{"type":["object","null"],"required":["blob_id"],"properties":{"blob_id":{"type":"string"}}},`, 1)

var scanHash = strings.Repeat("ab", 32)

// firstSchema creates a store of the first version of the program: with a record that
// refers to a blob, without a token.
func firstSchema(t *testing.T, dir string) {
	t.Helper()
	c, err := engine.Open(filepath.Join(dir, "pdpp.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	schema, err := migrations.ReadFile("migrations/0001_records.sql")
	if err != nil {
		t.Fatal(err)
	}
	m, err := manifest.Parse([]byte(scanned))
	if err != nil {
		t.Fatal(err)
	}
	steps := []struct {
		sql  string
		args []any
	}{
		{`INSERT INTO subjects VALUES (1, 'own_1', 'ann', 0, 0)`, nil},
		{`INSERT INTO manifests VALUES (1, 'ledger', ?)`, []any{[]byte(m.Raw)}},
		{`INSERT INTO connections VALUES (1, 'cin_a', 'ledger', 'a', '', 'active', 0)`, nil},
		{`INSERT INTO bindings VALUES (1, 1, 'cin_a', 'entries', 'older', 1, 0)`, nil},
		{`INSERT INTO fields (field, subject, binding, name, lexical) VALUES (1, 1, 1, 'scan', 0), (2, 1, 1, 'id', 0), (3, 1, 1, 'memo', 1)`, nil},
		{`INSERT INTO records (record, subject, binding, id, emitted_at, key_in_data, order_key, term_counts, body)
			VALUES (5, 1, 1, 'a', 0, 1, ?, x'', ?)`, []any{store.OrderKey(nil, "a"), []byte(`{"id":"a","memo":"rent","scan":{"blob_id":"` + string(pdpp.BlobIDOf(scanHash)) + `"}}`)}},
		{`INSERT INTO search (rowid, terms) VALUES (5, '3.rent')`, nil},
	}
	if err := c.Script(string(schema) + `; PRAGMA user_version = 1`); err != nil {
		t.Fatal(err)
	}
	for _, s := range steps {
		if err := c.Exec(s.sql, s.args...); err != nil {
			t.Fatalf("%s: %v", s.sql, err)
		}
	}
}

// reindex indexes all records as they are declared.
func (w *world) reindex(t *testing.T) {
	t.Helper()
	if err := store.Reindex(t.Context(), w.db, nil); err != nil {
		t.Fatal(err)
	}
}

// scanOf returns the only field of the older store's records that refers to blobs.
func (w *world) scanOf(t *testing.T) query.BlobSource {
	t.Helper()
	if err := w.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	src := query.BlobSource{Source: w.source()}
	src.Fields = []*pdpp.Field{src.Stream.Field("scan")}
	return src
}

// TestOlderStore: older records lead to blobs as soon as they are re-indexed, and can be
// changed without leaving entries.
func TestOlderStore(t *testing.T) {
	dir := t.TempDir()
	firstSchema(t, dir)
	w := &world{db: openDB(t, dir)}
	src := w.scanOf(t)
	found := func() bool {
		t.Helper()
		err := w.db.View(t.Context(), func(v store.View) error {
			_, err := v.FindBlob(query.Blob{Subject: w.subject, Sources: []query.BlobSource{src}, ID: pdpp.BlobIDOf(scanHash)})
			return err
		})
		if err != nil && pdpp.CodeOf(err) != pdpp.CodeBlobNotFound {
			t.Fatal(err)
		}
		return err == nil
	}
	err := w.db.Update(t.Context(), func(tx store.Tx) error {
		return tx.PutBlob(w.subject, "cin_a", store.Blob{SHA256: scanHash, MediaType: "image/png", Size: 1}, epoch)
	})
	if err != nil {
		t.Fatal(err)
	}
	err = w.db.View(t.Context(), func(v store.View) error {
		_, err := v.FindBlob(query.Blob{Subject: w.subject, Sources: []query.BlobSource{src}, ID: pdpp.BlobIDOf(scanHash)})
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeUnavailable {
		t.Errorf("before the records are indexed: %v, want %s", err, pdpp.CodeUnavailable)
	}
	w.reindex(t)
	if !found() {
		t.Error("a record of before does not lead to its blob")
	}
	w.raw(t, func(c *engine.Conn) {
		if n := searchable(t, c, "memo", "rent"); n != 1 {
			t.Errorf("%d records hold a word of before, want 1", n)
		}
	})
	w.mustIngest(t, w.put("a", `{"id":"a","memo":"rest"}`))
	if found() {
		t.Error("a changed record still leads to the blob")
	}
	w.mustIngest(t, w.drop("a"))
	w.consistent(t)
	w.raw(t, func(c *engine.Conn) {
		if n := rows(t, c, 1, `SELECT count(*) FROM search`); n[0][0] != "0" {
			t.Errorf("%s records are left in the search index", n[0][0])
		}
	})
}

// TestExplainBlobs: a blob is found by the token of its references, and uploads by
// their keys; nothing is scanned.
func TestExplainBlobs(t *testing.T) {
	dir := t.TempDir()
	firstSchema(t, dir)
	w := &world{db: openDB(t, dir)}
	w.reindex(t)
	src := w.scanOf(t)
	src.Time = &pdpp.TimeConstraint{Field: "due", Since: epoch}
	err := w.db.View(t.Context(), func(v store.View) error {
		tx := v.(*tx)
		s, _, err := tx.Source(w.subject, src.Source)
		if err != nil {
			return err
		}
		q, _ := sqlgen.Referring(dialect{}, s, src.Fields[0], pdpp.BlobIDOf(scanHash))
		steps := strings.Join(explain(t, tx, q), "\n")
		if !strings.Contains(steps, "SCAN i VIRTUAL TABLE INDEX 0:M1") || strings.Contains(steps, "SCAN r") || !strings.Contains(steps, "SEARCH x") {
			t.Errorf("plan does not go by the search index:\n%s", steps)
		}
		for sql, want := range map[string]string{
			sqlgen.Upload(dialect{}, s, scanHash).SQL: "SEARCH blobs USING PRIMARY KEY (subject=? AND connection_id=? AND sha256=?)",
			hasBlob:    "SEARCH blobs USING COVERING INDEX blobs_by_content (subject=? AND sha256=?)",
			sweepBlobs: "SEARCH blobs USING PRIMARY KEY ((subject,connection_id,sha256)>(?,?,?))",
		} {
			if steps := strings.Join(explain(t, tx, sqlgen.Statement{SQL: sql}), "\n"); steps != want {
				t.Errorf("plan %q, want %q", steps, want)
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// TestTokenIsVerified: no blob is found through a record that has its token but does not
// refer to it.
func TestTokenIsVerified(t *testing.T) {
	dir := t.TempDir()
	firstSchema(t, dir)
	w := &world{db: openDB(t, dir)}
	w.reindex(t)
	src := w.scanOf(t)
	err := w.db.Update(t.Context(), func(stx store.Tx) error {
		tx := stx.(*tx)
		if err := tx.PutBlob(w.subject, "cin_a", store.Blob{SHA256: scanHash}, epoch); err != nil {
			return err
		}
		return tx.conn.Exec(`UPDATE records SET body = ?`, []byte(`{"id":"a","scan":{"blob_id":"other"}}`))
	})
	if err != nil {
		t.Fatal(err)
	}
	err = w.db.View(t.Context(), func(v store.View) error {
		_, err := v.FindBlob(query.Blob{Subject: w.subject, Sources: []query.BlobSource{src}, ID: pdpp.BlobIDOf(scanHash)})
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeBlobNotFound {
		t.Errorf("FindBlob = %v, want %s", err, pdpp.CodeBlobNotFound)
	}
}
