package as

import (
	"encoding/json"
	"fmt"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// read decodes the body of an entry. Members that this program does not know are ignored, so
// that programs of different versions can share a store for a while.
func read[T any](v store.Entries, kind store.EntryKind, key string) (store.Entry, *T, error) {
	e, err := v.Entry(kind, key)
	if err != nil {
		return e, nil, err
	}
	body, err := decode[T](e)
	return e, body, err
}

func decode[T any](e store.Entry) (*T, error) {
	var body T
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return nil, fmt.Errorf("as: the stored %s cannot be read: %w", e.Kind, err)
	}
	return &body, nil
}

// write stores an entry with a body.
func write(tx store.Tx, e store.Entry, body any) error {
	var err error
	if e.Body, err = json.Marshal(body); err != nil {
		return fmt.Errorf("as: encoding a %s: %w", e.Kind, err)
	}
	return tx.PutEntry(e)
}

// isMissing reports whether err says that an entry is not in the store.
func isMissing(err error) bool { return pdpp.CodeOf(err) == pdpp.CodeNotFound }

// keepEnded is how long an entry is kept after its end, so that its late use is recognized
// (H-144).
const keepEnded = 24 * time.Hour
