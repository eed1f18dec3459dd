package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"pdpp"
	"pdpp/internal/store/sqlite/engine"
)

// CopyTo writes a snapshot of the store to a new file, which is on the disk when CopyTo
// returns. Readers and writers, of any process, continue meanwhile. The copy contains
// nothing that was deleted. The folder of the file has to be private, because the file
// becomes private only at the end.
func (db *DB) CopyTo(ctx context.Context, path string) error {
	err := db.onOwnConn(ctx, func(c *engine.Conn) error { return c.Exec(`VACUUM INTO ?`, path) })
	if err == nil {
		err = eraseMarked(ctx, path)
	}
	if err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(f.Chmod(0o600), f.Sync(), f.Close())
}

// eraseMarked removes terms that are marked as deleted from a new copy, which no other
// connection has open (REC-37).
func eraseMarked(ctx context.Context, path string) error {
	c, err := openConn(path, copyPragmas)
	if err != nil {
		return openError(err)
	}
	stop := c.Watch(ctx)
	err = storageError(ctx, func() error {
		if left, err := (&tx{conn: c}).Unerased(); err != nil || !left {
			return err
		}
		if err := c.Exec(`INSERT INTO search (search) VALUES ('optimize')`); err != nil {
			return err
		}
		return c.Exec(`DELETE FROM meta WHERE name = ?`, markedTerms)
	}())
	stop()
	return errors.Join(err, c.Close())
}

// An interrupted copy is discarded, so it needs no journal.
var copyPragmas = []string{`PRAGMA journal_mode = OFF`, `PRAGMA synchronous = OFF`, `PRAGMA secure_delete = ON`}

// Check verifies the whole database and returns the first damage as CodeInvalidInput. It
// takes long for a large database.
func (db *DB) Check(ctx context.Context) error {
	return db.onOwnConn(ctx, func(c *engine.Conn) error {
		s, err := c.Query(`PRAGMA quick_check(1)`)
		if err != nil {
			return err
		}
		defer s.Close()
		if _, err := s.Step(); err != nil {
			return err
		}
		if found := s.Text(0); found != "ok" {
			return pdpp.Errorf(pdpp.CodeInvalidInput, "The database is damaged: %s.", found)
		}
		return nil
	})
}

// onOwnConn runs long work on a separate connection, so that no other work waits for it.
func (db *DB) onOwnConn(ctx context.Context, fn func(*engine.Conn) error) error {
	c, err := db.connect(nil)
	if err != nil {
		return openError(err)
	}
	stop := c.Watch(ctx)
	err = storageError(ctx, fn(c))
	stop()
	if closed := c.Close(); closed != nil {
		return errors.Join(err, fmt.Errorf("sqlite: %w", closed))
	}
	return err
}
