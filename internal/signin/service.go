package signin

import (
	"crypto/hkdf"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/json"
	"log/slog"
	"net/netip"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// Config is what a Service needs.
type Config struct {
	Store store.Store
	Clock func() time.Time
	Log   *slog.Logger
	Key   []byte // the instance key; the keys of this package are derived from it (H-4)
	Name  string // the name of the server, which authenticators show with a passkey
}

// Service signs owners in. It is safe for concurrent use.
type Service struct {
	Config
	csrfKey     []byte // of form tokens
	throttleKey []byte // of the keys of throttle entries
	handleKey   []byte // of the user handles in passkeys
	hashes      hashQueue
	noPassword  string // a hash that no password has
}

// New returns a Service.
func New(c Config) (*Service, error) {
	s := &Service{Config: c, hashes: make(hashQueue, maxHashes), noPassword: impossibleHash()}
	for _, k := range []struct {
		key *[]byte
		use string
	}{{&s.csrfKey, "pdpp csrf"}, {&s.throttleKey, "pdpp sign-in throttle"}, {&s.handleKey, "pdpp passkey user handle"}} {
		var err error
		if *k.key, err = hkdf.Key(sha256.New, c.Key, nil, k.use, sha256.Size); err != nil {
			return nil, err
		}
	}
	return s, nil
}

// Visitor is the browser that sends a request.
type Visitor struct {
	Address   netip.Addr // of the client (H-120)
	UserAgent string
}

// mac returns the HMAC of several strings. Each is preceded by its length, so that other
// strings with the same concatenation have another HMAC.
func mac(key []byte, parts ...string) []byte {
	h := hmac.New(sha256.New, key)
	for _, p := range parts {
		n := len(p)
		h.Write([]byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)})
		h.Write([]byte(p))
	}
	return h.Sum(nil)
}

// load reads the body of an entry. found is false when there is no such entry.
func load[T any](v store.Entries, kind store.EntryKind, key string) (body T, found bool, err error) {
	e, err := v.Entry(kind, key)
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return body, false, nil
	}
	if err != nil {
		return body, false, err
	}
	return body, true, json.Unmarshal(e.Body, &body)
}

// each calls visit for the entries of a kind that belong to a subject, newest first.
func each[T any](v store.Entries, kind store.EntryKind, subject pdpp.SubjectID, visit func(store.Entry, T) error) error {
	entries, err := v.EntriesOf(kind, subject)
	if err != nil {
		return err
	}
	for _, e := range entries {
		var body T
		if err := json.Unmarshal(e.Body, &body); err != nil {
			return err
		}
		if err := visit(e, body); err != nil {
			return err
		}
	}
	return nil
}

// put encodes a body and writes its entry.
func put(tx store.EntriesWriter, e store.Entry, body any) error {
	var err error
	if e.Body, err = json.Marshal(body); err != nil {
		return err
	}
	return tx.PutEntry(e)
}

// deleteAll removes the entries of a kind that belong to a subject, and returns how many.
func deleteAll(tx store.Tx, kind store.EntryKind, subject pdpp.SubjectID) (int, error) {
	entries, err := tx.EntriesOf(kind, subject)
	for _, e := range entries {
		if err == nil {
			err = tx.DeleteEntry(kind, e.Key)
		}
	}
	return len(entries), err
}

// ownerBy finds the owner for whom match returns true; false when there is none.
func ownerBy(v store.Accounts, match func(store.Subject) bool) (store.Subject, bool, error) {
	owners, err := v.Subjects()
	for _, o := range owners {
		if match(o) {
			return o, true, err
		}
	}
	return store.Subject{}, false, err
}
