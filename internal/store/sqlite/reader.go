package sqlite

import (
	"context"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// reader is a connection that reads, with the tokens that it found in the content it saw
// last, and the bindings that are indexed anew.
type reader struct {
	*engine.Conn
	content int64 // the version of that content
	tokens  map[store.TokenHash]store.Principal
	stales  map[int64]*store.Stale // nil: not read yet
}

// maxTokens is how many tokens a reader remembers.
const maxTokens = 1024

func (db *DB) openReader() (*reader, error) {
	c, err := db.connect(readerPragmas)
	return &reader{Conn: c, tokens: make(map[store.TokenHash]store.Principal)}, err
}

// begin opens a snapshot, which lasts until the statement is closed. The engine counts
// the contents that a connection has seen, whoever wrote them; it drops the pages it
// keeps by that number, and we the tokens.
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

// token looks a token up in the snapshot that is open.
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
	r.Until(ctx)
	defer func() {
		r.Always()
		db.readers <- r
	}()
	snapshot, err := r.begin()
	if err != nil {
		return storageError(ctx, err)
	}
	defer snapshot.Close()
	return storageError(ctx, fn(&tx{db: db, conn: r.Conn, reader: r}))
}

// Token implements store.Rights.
func (t *tx) Token(hash store.TokenHash) (store.Principal, error) {
	if t.reader != nil {
		return t.reader.token(hash)
	}
	return readPrincipal(t.conn, hash)
}

// readPrincipal reads what a token stands for. One read finds the token, what decides
// about its grant or package, and the generation (H-44).
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
