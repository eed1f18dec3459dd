package sqlite

import (
	"context"
	"errors"
	"sync"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite/engine"
)

// reader is a connection that reads, and the tokens that it found in the content it saw
// last.
type reader struct {
	*engine.Conn
	content int64 // the version of that content
	tokens  map[store.TokenHash]store.Principal
}

// maxTokens is how many tokens a reader remembers.
const maxTokens = 1024

func openReader(path string) (*reader, error) {
	c, err := openConn(path, readerPragmas)
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

// readers are the readers of a store. The one that was given back last is taken first:
// it has the freshest pages, and those that are not needed stay small.
type readers struct {
	opened int
	free   chan struct{} // as many as are idle

	mu   sync.Mutex
	idle []*reader
}

// open opens n readers. Those that were opened before one failed are there to be closed.
func (rs *readers) open(path string, n int) error {
	rs.free = make(chan struct{}, n)
	for range n {
		r, err := openReader(path)
		if err != nil {
			return err
		}
		rs.giveBack(r)
		rs.opened++
	}
	return nil
}

func (rs *readers) take(ctx context.Context) (*reader, error) {
	if _, err := take(ctx, rs.free); err != nil {
		return nil, err
	}
	return rs.pop(), nil
}

func (rs *readers) pop() *reader {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	last := len(rs.idle) - 1
	r := rs.idle[last]
	rs.idle = rs.idle[:last]
	return r
}

func (rs *readers) giveBack(r *reader) {
	rs.mu.Lock()
	rs.idle = append(rs.idle, r)
	rs.mu.Unlock()
	rs.free <- struct{}{}
}

// close waits for the readers that are in use and closes all of them.
func (rs *readers) close() (err error) {
	for range rs.opened {
		<-rs.free
		err = errors.Join(err, rs.pop().Close())
	}
	close(rs.free)
	return err
}

// View implements store.Store.
func (db *DB) View(ctx context.Context, fn func(store.View) error) error {
	r, err := db.readers.take(ctx)
	if err != nil {
		return err
	}
	defer db.readers.giveBack(r)
	r.Until(ctx)
	defer r.Always()
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
