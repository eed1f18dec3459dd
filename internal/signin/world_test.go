package signin

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"log/slog"
	"net/netip"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/argon2"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
)

// world is a store with one owner, and a Service on a clock that tests set.
type world struct {
	*testing.T
	*Service
	dir   string
	owner store.Subject
	now   atomic.Int64
	log   logText
}

// logText collects what is logged.
type logText struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logText) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func newWorld(t *testing.T) *world {
	w := &world{T: t, dir: t.TempDir()}
	w.now.Store(time.Date(2026, 11, 1, 9, 0, 0, 0, time.UTC).UnixMilli())
	st, err := sqlite.Open(t.Context(), w.dir)
	w.check(err)
	t.Cleanup(func() { w.check(st.Close()) })
	w.Service, err = New(Config{
		Store: st, Clock: func() time.Time { return time.UnixMilli(w.now.Load()).UTC() }, Log: slog.New(slog.NewTextHandler(&w.log, nil)),
		Key: bytes.Repeat([]byte{7}, 32), Name: "Test data",
	})
	w.check(err)
	w.noPassword = cheapHash("no password at all")
	w.owner = w.addOwner("ada")
	return w
}

func (w *world) check(err error) {
	w.Helper()
	if err != nil {
		w.Fatal(err)
	}
}

func (w *world) wait(d time.Duration) { w.now.Add(d.Milliseconds()) }

func (w *world) addOwner(name string) (owner store.Subject) {
	w.Helper()
	w.update(func(tx store.Tx) (err error) {
		owner, err = tx.CreateSubject(name, w.Clock())
		return err
	})
	return owner
}

func (w *world) update(fn func(store.Tx) error) {
	w.Helper()
	w.check(w.Store.Update(w.Context(), fn))
}

// right is the password of the owner.
const right = "correct horse battery"

// cheapHash returns a hash that is quick to verify, for tests with many guesses.
func cheapHash(password string) string {
	salt := []byte("0123456789abcdef")
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=8,t=1,p=1$%s$%s", argon2.Version, b64(salt), b64(argon2.IDKey([]byte(password), salt, 1, 8, 1, hashSize)))
}

// setPassword gives an owner a password that is quick to verify.
func (w *world) setPassword(owner store.Subject, password string) {
	w.Helper()
	w.update(func(tx store.Tx) error { return putPassword(tx, owner.ID, cheapHash(password), w.Clock()) })
}

// from returns a visitor with an address.
func from(address string) Visitor {
	return Visitor{Address: netip.MustParseAddr(address), UserAgent: "Browser 1.0"}
}

var home = from("192.0.2.1")

// signIn signs the owner in from home.
func (w *world) signIn() string {
	w.Helper()
	cookie, _, err := w.Password(w.Context(), "ada", right, home)
	w.check(err)
	return cookie
}

func (w *world) session(cookie string) *Session {
	w.Helper()
	s, err := w.Session(w.Context(), cookie)
	w.check(err)
	return s
}

func (w *world) wantCode(what string, err error, want pdpp.Code) {
	w.Helper()
	if got := pdpp.CodeOf(err); got != want {
		w.Errorf("%s: %v, want code %q", what, err, want)
	}
}
