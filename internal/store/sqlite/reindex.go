package sqlite

import (
	"bytes"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// reindex brings all index entries of a binding's records to the layout of its
// current declaration. Bodies, change numbers and record numbers stay.
func (t *tx) reindex(b *store.Binding, progress func(int)) error {
	err := t.conn.Exec(`DELETE FROM field_index WHERE field IN (SELECT field FROM fields WHERE binding = ?)`, b.ID)
	if err != nil {
		return err
	}
	if err := t.conn.Exec(`UPDATE bindings SET layout = ? WHERE binding = ?`, b.Layout, b.ID); err != nil {
		return err
	}
	w, err := t.newWriter(b, time.Time{})
	if err != nil {
		return err
	}
	defer w.close()
	var last pdpp.RecordID
	for done := 0; ; {
		ids, err := t.someIDs(b.ID, last, 500)
		if err != nil {
			return err
		}
		if len(ids) == 0 {
			return w.settle()
		}
		for _, id := range ids {
			if err := w.reindexOne(id); err != nil {
				return err
			}
		}
		if err := w.flush(); err != nil {
			return err
		}
		last = ids[len(ids)-1]
		if done += len(ids); progress != nil {
			progress(done)
		}
	}
}

func (w *writer) reindexOne(id pdpp.RecordID) error {
	old, err := w.find(id)
	if err != nil || old == nil {
		return err
	}
	data, err := w.t.whole(store.Ref(old.record), old.body)
	if err != nil {
		return err
	}
	w.t.erased = true
	d := store.Prepare(w.b, store.Input{ID: id, Data: data})
	if err := w.forget(old.record, data); err != nil {
		return err
	}
	if err := w.run(deleteValues, old.record); err != nil {
		return err
	}
	var consent any
	if d.ConsentTime != nil {
		consent = d.ConsentTime
	}
	err = w.run(`UPDATE records SET order_key = ?, key_in_data = ?, consent_time = ?, term_counts = ? WHERE record = ?`,
		d.Order, d.KeyInData, consent, []byte(d.Counts), old.record)
	if err != nil {
		return err
	}
	return w.index(old.record, &d)
}

// whole puts the long values back into a stored body. Stubs are framed by bytes
// that JSON text never holds, so each is found as it is.
func (t *tx) whole(ref store.Ref, body []byte) ([]byte, error) {
	var out []byte
	var err error
	rest := body
	for _, value := range rawjson.Members(body) {
		if rawjson.KindOf(value) != rawjson.KindStub {
			continue
		}
		before, after, _ := bytes.Cut(rest, value)
		rest = after
		if out, err = t.appendLong(append(out, before...), ref, store.ParseStub(value)); err != nil {
			return nil, err
		}
	}
	return append(out, rest...), nil
}

// appendLong appends a value that is kept in pieces.
func (t *tx) appendLong(dst []byte, ref store.Ref, stub store.Stub) ([]byte, error) {
	dst = stub.Quote(dst)
	err := t.Long(ref, stub, 0, func(piece []byte) bool {
		dst = append(dst, piece...)
		return true
	})
	return stub.Quote(dst), err
}
