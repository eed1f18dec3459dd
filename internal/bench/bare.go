package bench

import (
	"bytes"
	"errors"
	"path/filepath"
	"time"

	"pdpp/internal/ingest"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
	"pdpp/internal/store/sqlite/engine"
)

// bareRow is a row of the baseline.
type bareRow struct {
	id      string
	emitted int64
	body    []byte
	terms   string // the same that the store puts into its text index
}

// bareSchema is the smallest schema for the rows: a key, and a text index with the options
// of the store.
const bareSchema = `
CREATE TABLE r (id TEXT PRIMARY KEY, emitted_at INTEGER, body BLOB);
CREATE VIRTUAL TABLE f USING fts5 (
  terms, content = '', detail = none, tokenize = "ascii tokenchars '.'"
);
INSERT INTO f (f, rank) VALUES ('secure-delete', 1);
INSERT INTO f (f, rank) VALUES ('hashsize', 16777216);
INSERT INTO f (f, rank) VALUES ('automerge', 8);`

// bareBatch is the number of rows per transaction, the same as ingest's.
const bareBatch = 1000

// bareRows parses lines in advance, so that the baseline does not pay for parsing.
func bareRows(b *store.Binding, lines []byte) ([]bareRow, error) {
	var rows []bareRow
	for line := range bytes.Lines(lines) {
		in, bad := ingest.ParseRecord(line, b.Stream, time.Time{})
		if bad != nil {
			return nil, errors.New(bad.Message)
		}
		doc := store.Prepare(b, in)
		// Copied, because the parsed body is part of a much larger block.
		rows = append(rows, bareRow{string(in.ID), in.EmittedAt.UnixMilli(), bytes.Clone(doc.Body), string(doc.Search)})
	}
	return rows, nil
}

// insertBare inserts the rows into a new file in dir and returns how long it took.
func insertBare(dir string, rows []bareRow) (took time.Duration, err error) {
	c, err := engine.Open(filepath.Join(dir, "bare.db"))
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	for _, p := range sqlite.WriterPragmas() {
		if err := c.Exec(p); err != nil {
			return 0, err
		}
	}
	if err := c.Script(bareSchema); err != nil {
		return 0, err
	}
	start := time.Now()
	for len(rows) > 0 {
		n := min(bareBatch, len(rows))
		if err := insertBatch(c, rows[:n]); err != nil {
			return 0, err
		}
		rows = rows[n:]
	}
	return time.Since(start), nil
}

func insertBatch(c *engine.Conn, rows []bareRow) error {
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	row, err := c.Prepare(`INSERT INTO r (id, emitted_at, body) VALUES (?, ?, ?)`)
	if err != nil {
		return err
	}
	defer row.Close()
	terms, err := c.Prepare(`INSERT INTO f (rowid, terms) VALUES (last_insert_rowid(), ?)`)
	if err != nil {
		return err
	}
	defer terms.Close()
	for _, r := range rows {
		err := errors.Join(
			row.BindText(1, r.id), row.BindInt(2, r.emitted), row.BindBytes(3, r.body), row.Run(),
			terms.BindText(1, r.terms), terms.Run())
		if err != nil {
			return err
		}
	}
	return c.Exec("COMMIT")
}
