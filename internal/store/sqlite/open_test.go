package sqlite

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// TestNewerStore: a store of a newer program is refused and left as it is.
func TestNewerStore(t *testing.T) {
	dir := t.TempDir()
	newer := SchemaVersion() + 7
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	w := world{db: db}
	w.raw(t, func(c *engine.Conn) {
		if err := c.Script(fmt.Sprintf("PRAGMA user_version = %d", newer)); err != nil {
			t.Fatal(err)
		}
	})
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	_, err = Open(t.Context(), dir)
	if pdpp.CodeOf(err) != pdpp.CodeNotConfigured {
		t.Fatalf("Open = %v, want not_configured", err)
	}
	for _, version := range []int{newer, SchemaVersion()} {
		if !strings.Contains(err.Error(), fmt.Sprintf("version %d", version)) {
			t.Errorf("%q does not name version %d", err, version)
		}
	}
}

func TestNotADatabase(t *testing.T) {
	dir := t.TempDir()
	text := []byte(strings.Repeat("These are notes, not a database.\n", 100))
	path := filepath.Join(dir, "pdpp.db")
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), dir); pdpp.CodeOf(err) != pdpp.CodeNotConfigured {
		t.Errorf("Open = %v, want not_configured", err)
	}
	if now, err := os.ReadFile(path); err != nil || string(now) != string(text) {
		t.Errorf("the file was changed, %v", err)
	}
}

func TestFolderCannotBeMade(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := Open(t.Context(), filepath.Join(file, "data")); pdpp.CodeOf(err) != pdpp.CodeCannotCreate {
		t.Errorf("Open = %v, want cannot_create", err)
	}
}

func TestReopen(t *testing.T) {
	dir := t.TempDir()
	db, err := Open(t.Context(), dir)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorldIn(t, db)
	w.mustIngest(t, w.put("a", `{"memo":"x"}`))
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	again := world{db: openDB(t, dir)}
	if err := again.find(t.Context()); err != nil {
		t.Fatal(err)
	}
	if again.binding.ID != w.binding.ID || again.subject != w.subject {
		t.Errorf("after reopening: %+v, before: %+v", again.binding, w.binding)
	}
	again.consistent(t)
}

// TestModes: only the owner can read the data.
func TestModes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "above", "data")
	w := newWorldIn(t, openDB(t, dir))
	w.mustIngest(t, w.put("a", `{}`))
	for _, folder := range []string{dir, filepath.Dir(dir)} {
		info, err := os.Stat(folder)
		if err != nil || info.Mode().Perm() != 0o700 {
			t.Errorf("mode of the folder: %v, %v, want 0700", info.Mode(), err)
		}
	}
	files, err := os.ReadDir(dir)
	if err != nil || len(files) < 3 {
		t.Fatalf("files: %v, %v", files, err)
	}
	for _, f := range files {
		info, err := f.Info()
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("mode of %s: %v, %v, want 0600", f.Name(), info.Mode(), err)
		}
	}
}

// TestSubjectEverywhere: every table carries the subject (C-21), except the
// instance's own values and the tables of the search index, which are reached by
// record number only.
func TestSubjectEverywhere(t *testing.T) {
	w := newWorld(t)
	w.raw(t, func(c *engine.Conn) {
		tables := rows(t, c, 1, `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%'`)
		if len(tables) < 15 {
			t.Fatalf("tables: %v", tables)
		}
		for _, table := range tables {
			name := table[0]
			if name == "meta" || name == "search" || strings.HasPrefix(name, "search_") {
				continue
			}
			if n := rows(t, c, 1, `SELECT count(*) FROM pragma_table_info(?) WHERE name = 'subject' AND ("notnull" OR pk)`, name); n[0][0] != "1" {
				t.Errorf("table %s has no subject", name)
			}
		}
	})
}

// TestDiskFull: no partial write remains, and the store works again when there is space.
func TestDiskFull(t *testing.T) {
	w := newWorld(t)
	w.mustIngest(t, w.put("a", `{"memo":"before"}`))
	limit := func(pages string) {
		conn := <-w.db.write
		defer func() { w.db.write <- conn }()
		if err := conn.Script(`PRAGMA max_page_count = ` + pages); err != nil {
			t.Fatal(err)
		}
	}
	limit("1") // no fewer than there are: no room at all
	big := `{"memo":"` + strings.Repeat("big ", 1<<18) + `"}`
	err := w.ingest(t.Context(), w.put("a", `{"memo":"changed"}`), w.put("b", big))
	var full *pdpp.Error
	if !errors.As(err, &full) || full.Code != pdpp.CodeUnavailable || full.Message != "The disk is full." || full.RetryAfter != 60 {
		t.Errorf("Ingest = %v, want temporarily_unavailable for 60 s", err)
	}
	w.consistent(t)
	w.raw(t, func(c *engine.Conn) {
		got := rows(t, c, 2, `SELECT id, body FROM records`)
		if len(got) != 1 || got[0][1] != `{"memo":"before"}` {
			t.Errorf("records = %v", got)
		}
	})
	limit("1000000000")
	w.mustIngest(t, w.put("b", big))
	w.consistent(t)
}

// TestClose: Close waits for a running view, and every later call fails.
func TestClose(t *testing.T) {
	db, err := Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	reading, closed := make(chan struct{}), make(chan error, 1)
	done := make(chan error, 1)
	finish := make(chan struct{})
	go func() {
		done <- db.View(t.Context(), func(v store.View) error {
			close(reading)
			<-finish
			_, err := v.Subjects()
			return err
		})
	}()
	<-reading
	go func() { closed <- db.Close() }()
	for len(db.write) > 0 { // Close has begun when it has taken the writer
		runtime.Gosched()
	}
	select {
	case err := <-closed:
		t.Errorf("Close = %v while a view was under way", err)
	default:
	}
	close(finish)
	if err := <-done; err != nil {
		t.Errorf("View = %v", err)
	}
	if err := <-closed; err != nil {
		t.Errorf("Close = %v", err)
	}
	if err := db.View(t.Context(), func(store.View) error { return nil }); err == nil {
		t.Error("View of a closed store succeeded")
	}
	if err := db.Update(t.Context(), func(store.Tx) error { return nil }); err == nil {
		t.Error("Update of a closed store succeeded")
	}
	if err := db.Close(); err != nil {
		t.Errorf("second Close = %v", err)
	}
}

// TestLockedByAnother: a store that another process writes to is CodeBusy.
func TestLockedByAnother(t *testing.T) {
	w := newWorld(t)
	conn := <-w.db.write
	conn.SetBusyTimeout(20)
	w.db.write <- conn
	w.raw(t, func(c *engine.Conn) {
		if err := c.Exec("BEGIN IMMEDIATE"); err != nil {
			t.Fatal(err)
		}
		if err := w.ingest(t.Context(), w.put("a", `{}`)); pdpp.CodeOf(err) != pdpp.CodeBusy {
			t.Errorf("Ingest = %v, want busy", err)
		}
		if err := c.Exec("ROLLBACK"); err != nil {
			t.Fatal(err)
		}
	})
	w.mustIngest(t, w.put("a", `{}`))
}

// TestOpenAs: without Create no store is created, also from an empty file or an empty
// database, and without Migrate an older one is not changed (H-4, H-5).
func TestOpenAs(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "pdpp.db")
	refused := func(when string, opts store.OpenOptions, want error) {
		t.Helper()
		db, err := OpenAs(t.Context(), dir, opts)
		if !errors.Is(err, want) {
			t.Errorf("%s: OpenAs(%+v) = %v, %v, want %v", when, opts, db, err, want)
		}
	}
	refused("no file", store.OpenOptions{Migrate: true}, store.ErrNoStore)
	if _, err := os.Stat(path); err == nil {
		t.Error("a refused store was made")
	}
	if err := os.WriteFile(path, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	refused("an empty file", store.OpenOptions{Migrate: true}, store.ErrNoStore)
	setVersion := func(version int) {
		t.Helper()
		c, err := engine.Open(path)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		if err := c.Script(fmt.Sprintf("PRAGMA journal_mode = WAL; PRAGMA user_version = %d", version)); err != nil {
			t.Fatal(err)
		}
	}
	setVersion(0)
	refused("a database without tables", store.OpenOptions{Migrate: true}, store.ErrNoStore)
	openDB(t, dir).Close()
	if db, err := OpenAs(t.Context(), dir, store.OpenOptions{}); err != nil {
		t.Errorf("OpenAs of a store that is up to date: %v", err)
	} else {
		db.Close()
	}
	setVersion(SchemaVersion() - 1)
	refused("an older store", store.OpenOptions{Create: true}, store.ErrOlder)
	w := world{db: &DB{path: path}}
	w.raw(t, func(c *engine.Conn) {
		if n := rows(t, c, 1, `PRAGMA user_version`); n[0][0] != fmt.Sprint(SchemaVersion()-1) {
			t.Errorf("a refused store has version %s now", n[0][0])
		}
	})
}

// TestLimitCache: all connections together stay below the limit, and none gets more than
// its default.
func TestLimitCache(t *testing.T) {
	for _, c := range []struct{ limit, writer, readers int64 }{
		{8 << 30, writerCache, readerCache},
		{64 << 20, 24 << 10, 40 << 10 / int64(store.Readers())},
	} {
		db := openDB(t, t.TempDir())
		if err := db.LimitCache(c.limit); err != nil {
			t.Fatal(err)
		}
		size := func(conn *engine.Conn) int64 {
			n, err := queryInt(conn, `PRAGMA cache_size`)
			if err != nil {
				t.Fatal(err)
			}
			return -n
		}
		writer := <-db.write
		if got := size(writer); got != c.writer {
			t.Errorf("H-69: the writer keeps %d KiB of %d, want %d", got, c.limit>>10, c.writer)
		}
		db.write <- writer
		for range db.opened {
			r := <-db.readers
			if got := size(r.Conn); got != c.readers {
				t.Errorf("H-69: a reader keeps %d KiB of %d, want %d", got, c.limit>>10, c.readers)
			}
			db.readers <- r
		}
	}
}
