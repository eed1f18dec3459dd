package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	"pdpp"
	"pdpp/internal/store/sqlite/engine"
)

// CopyTo writes the store as it is at one moment to a new file, which is on the disk
// when CopyTo returns. Readers and writers, of this process and of others, go on
// meanwhile. The copy holds nothing that was deleted. The folder of the file has to be
// private: the file is so only at the end.
func (db *DB) CopyTo(ctx context.Context, path string) error {
	err := db.aside(ctx, func(c *engine.Conn) error { return c.Exec(`VACUUM INTO ?`, path) })
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

// eraseMarked removes the terms that are marked as deleted from a new copy, which no
// other connection has open (REC-37).
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

// A copy that is interrupted is thrown away: it needs no journal.
var copyPragmas = []string{`PRAGMA journal_mode = OFF`, `PRAGMA synchronous = OFF`, `PRAGMA secure_delete = ON`}

// Check looks at the whole database for damage and says what it found first, as
// CodeInvalidInput. It takes a while for a large one.
func (db *DB) Check(ctx context.Context) error {
	return db.aside(ctx, func(c *engine.Conn) error {
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

// aside runs something long on a connection of its own, so that nobody waits for one.
func (db *DB) aside(ctx context.Context, fn func(*engine.Conn) error) error {
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
