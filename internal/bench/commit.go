package bench

import (
	"errors"
	"net/http"
	"path/filepath"
	"sync"

	"pdpp/internal/secret"
	"pdpp/internal/store/sqlite"
	"pdpp/internal/store/sqlite/engine"
)

// A token request changes four rows: the access token, its family, and either the old and the
// new refresh token, or the code and its first refresh token. Their keys are hashes, and they
// have about as many bytes as this.
const (
	committedRows  = 4
	committedBytes = 256
)

// committer answers every form with the next of a list of bodies, after it has committed rows
// durably: the least that an endpoint can do that issues a token.
type committer struct {
	answers *canned

	mu   sync.Mutex // the connection has one user at a time, as the writer of the store
	conn *engine.Conn
	row  *engine.Stmt
}

// newCommitter creates a database in dir with the settings of the store.
func newCommitter(dir string, answers [][]byte) (*committer, error) {
	conn, err := engine.Open(filepath.Join(dir, "bare.db"))
	if err != nil {
		return nil, err
	}
	c := &committer{answers: newCanned(answers), conn: conn}
	for _, statement := range append(sqlite.WriterPragmas(), `CREATE TABLE r (key TEXT PRIMARY KEY, body BLOB) WITHOUT ROWID`) {
		if err := conn.Exec(statement); err != nil {
			return nil, errors.Join(err, conn.Close())
		}
	}
	if c.row, err = conn.Prepare(`INSERT INTO r (key, body) VALUES (?, ?)`); err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return c, nil
}

func (c *committer) close() error {
	c.row.Close()
	return c.conn.Close()
}

// ServeHTTP implements http.Handler.
func (c *committer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	err := r.ParseForm()
	if err == nil {
		err = c.commit()
	}
	if err != nil {
		http.Error(w, err.Error(), http.StatusInternalServerError)
		return
	}
	c.answers.ServeHTTP(w, r)
}

func (c *committer) commit() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.conn.Exec("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	for range committedRows {
		key := secret.Hash(secret.Token(""))
		if err := errors.Join(c.row.BindText(1, key), c.row.BindBytes(2, make([]byte, committedBytes)), c.row.Run()); err != nil {
			return err
		}
	}
	return c.conn.Exec("COMMIT")
}
