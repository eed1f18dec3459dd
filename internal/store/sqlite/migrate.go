package sqlite

import (
	"embed"
	"fmt"
	"io/fs"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

//go:embed migrations/*.sql
var migrations embed.FS

// SchemaVersion returns the schema version that this program writes: the number of its
// migrations.
func SchemaVersion() int { return len(migrationFiles()) }

func migrationFiles() []string {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		panic(err) // the pattern is a constant
	}
	return names // fs.Glob sorts
}

// migrate brings the schema up to date in one transaction (H-5), and marks records for
// re-indexing that this program indexes differently. If the store is up to date, it only
// reads, so that a command can start while another process writes.
func migrate(db *DB, c *engine.Conn, opts store.OpenOptions) (err error) {
	have, err := queryInt(c, "PRAGMA user_version")
	switch {
	case err != nil || int(have) == SchemaVersion():
		return openError(err)
	case have == 0 && !opts.Create:
		return store.ErrNoStore
	case have > 0 && int(have) < SchemaVersion() && !opts.Migrate:
		return store.ErrOlder
	}
	if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
		return openError(err)
	}
	defer func() {
		if err != nil {
			_ = c.Exec("ROLLBACK") // the first error is the one to report
		}
	}()
	if have, err = queryInt(c, "PRAGMA user_version"); err != nil {
		return openError(err)
	}
	if err := tooNew(have); err != nil {
		return err
	}
	names := migrationFiles()
	for _, name := range names[have:] {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if err := c.Script(string(text)); err != nil {
			return fmt.Errorf("%s: %w", name, openError(err))
		}
	}
	if err := db.newTx(c).bindAll(); err != nil {
		return openError(err)
	}
	if err := c.Script(fmt.Sprintf("PRAGMA user_version = %d", len(names))); err != nil {
		return openError(err)
	}
	return openError(c.Exec("COMMIT"))
}

// tooNew refuses a store that a newer program wrote.
func tooNew(have int64) error {
	if int(have) <= SchemaVersion() {
		return nil
	}
	return pdpp.Errorf(pdpp.CodeNotConfigured,
		"The store has schema version %d, this program knows version %d. Use a newer pdpp.", have, SchemaVersion())
}
