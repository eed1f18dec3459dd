package sqlite

import (
	"context"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
	"pdpp/internal/store/sqlread"
)

// reader is a connection that reads, with a cache of tokens and of stale bindings. The
// cache is valid for one version of the content.
type reader struct {
	*engine.Conn
	content int64 // the version
	tokens  map[store.TokenHash]store.Principal
	stales  map[int64]*store.Stale // nil if not read yet
}

// maxTokens is how many tokens a reader caches.
const maxTokens = 1024

func (db *DB) openReader() (*reader, error) {
	c, err := db.connect(readerPragmas)
	return &reader{Conn: c, tokens: make(map[store.TokenHash]store.Principal)}, err
}

// begin opens a snapshot, which lasts until the statement is closed. data_version changes
// with every commit by another connection or process. The engine then drops its cached
// pages, and begin drops the cached tokens.
func (r *reader) begin() (*engine.Stmt, error) {
	s, err := r.Prepare(`PRAGMA data_version`)
	if err != nil {
		return nil, err
	}
	if _, err := s.Step(); err != nil {
		s.Close()
		return nil, err
	}
	if content := s.Int(0); content != r.content {
		clear(r.tokens)
		r.stales = nil
		r.content = content
	}
	return s, nil
}

// token finds a token in the open snapshot.
func (r *reader) token(hash store.TokenHash) (store.Principal, error) {
	if p, ok := r.tokens[hash]; ok {
		return p, nil
	}
	p, err := readPrincipal(r.Conn, hash)
	if err != nil {
		return p, err
	}
	if len(r.tokens) == maxTokens {
		clear(r.tokens)
	}
	r.tokens[hash] = p
	return p, nil
}

// View implements store.Store.
func (db *DB) View(ctx context.Context, fn func(store.View) error) error {
	if err := db.file.check(); err != nil {
		return err
	}
	r, err := take(ctx, db.readers)
	if err != nil {
		return err
	}
	r.SetContext(ctx)
	defer func() {
		r.ClearContext()
		db.readers <- r
	}()
	snapshot, err := r.begin()
	if err != nil {
		return storageError(ctx, err)
	}
	defer snapshot.Close()
	t := &tx{db: db, conn: r.Conn, reader: r}
	t.Reader = sqlread.New(dialect{}, t, &db.bindings)
	return storageError(ctx, fn(t))
}

// Token implements store.Rights.
func (t *tx) Token(hash store.TokenHash) (store.Principal, error) {
	if t.reader != nil {
		return t.reader.token(hash)
	}
	return readPrincipal(t.conn, hash)
}

// readPrincipal finds a token, the state of its grant or package, and the generation in
// one read (H-44).
func readPrincipal(c *engine.Conn, hash store.TokenHash) (store.Principal, error) {
	stmt, err := c.Prepare(selectPrincipal)
	if err != nil {
		return store.Principal{}, err
	}
	defer stmt.Close()
	if err := stmt.BindBytes(1, hash[:]); err != nil {
		return store.Principal{}, err
	}
	row, err := stmt.Step()
	if err != nil {
		return store.Principal{}, err
	}
	if !row {
		return store.Principal{}, pdpp.Errorf(pdpp.CodeNotFound, "There is no such token.")
	}
	return principalIn(stmt), nil
}
