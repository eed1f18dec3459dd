package storetest

import (
	"context"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rawjson"
	"pdpp/internal/sortkey"
	"pdpp/internal/store"
)

// tb is what tests and property tests have in common.
type tb interface {
	Helper()
	Context() context.Context
	Errorf(format string, args ...any)
	Fatalf(format string, args ...any)
}

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at returns the n-th second of the tests' time.
func at(n int) time.Time { return start.Add(time.Duration(n) * time.Second) }

// world is one subject of a store.
type world struct {
	tb
	store    store.Store
	subject  pdpp.SubjectID
	manifest *pdpp.Manifest // of the connector ledger
}

// connA and connB are the connections of every world.
const (
	connA pdpp.ConnectionID = "cin_a"
	connB pdpp.ConnectionID = "cin_b"
)

// newWorld opens a store with one subject, the given streams (by default entries) and two
// connections.
func newWorld(t *testing.T, open Opener, decls ...decl) *world {
	t.Helper()
	return subjectIn(t, open(t), "ann", decls...)
}

func subjectIn(t tb, s store.Store, name string, decls ...decl) *world {
	t.Helper()
	if decls == nil {
		decls = []decl{entries()}
	}
	w := &world{tb: t, store: s, manifest: declare(t, "ledger", decls...)}
	w.update(func(tx store.Tx) error {
		sub, err := tx.CreateSubject(name, at(0))
		if err != nil {
			return err
		}
		w.subject = sub.ID
		if err := tx.PutManifest(w.subject, w.manifest); err != nil {
			return err
		}
		for _, id := range []pdpp.ConnectionID{connA, connB} {
			c := pdpp.Connection{ID: id, Connector: "ledger", Name: string(id), Status: "active", CreatedAt: at(0)}
			if err := tx.PutConnection(w.subject, c); err != nil {
				return err
			}
		}
		return nil
	})
	return w
}

// declare replaces the manifest and re-indexes all records.
func (w *world) declare(decls ...decl) {
	w.Helper()
	w.declareOnly(decls...)
	w.reindex()
}

// declareOnly replaces the manifest without re-indexing.
func (w *world) declareOnly(decls ...decl) {
	w.Helper()
	w.manifest = declare(w, "ledger", decls...)
	w.update(func(tx store.Tx) error { return tx.PutManifest(w.subject, w.manifest) })
}

func (w *world) reindex() {
	w.Helper()
	if err := store.Reindex(w.Context(), w.store, nil); err != nil {
		w.Fatalf("Reindex: %v", err)
	}
}

func (w *world) connect(c pdpp.Connection) {
	w.Helper()
	w.update(func(tx store.Tx) error { return tx.PutConnection(w.subject, c) })
}

func (w *world) update(fn func(store.Tx) error) {
	w.Helper()
	if err := w.store.Update(w.Context(), fn); err != nil {
		w.Fatalf("Update: %v", err)
	}
}

func (w *world) view(fn func(store.View) error) {
	w.Helper()
	if err := w.store.View(w.Context(), fn); err != nil {
		w.Fatalf("View: %v", err)
	}
}

// read returns what fn reads in one View.
func read[T any](w *world, fn func(store.View) (T, error)) (out T) {
	w.Helper()
	w.view(func(v store.View) (err error) {
		out, err = fn(v)
		return err
	})
	return out
}

func (w *world) catalog() *pdpp.Catalog {
	w.Helper()
	return read(w, func(v store.View) (*pdpp.Catalog, error) { return v.Catalog(w.subject) })
}

// stream returns the current declaration of a stream.
func (w *world) stream(name string) *pdpp.Stream {
	w.Helper()
	s := w.manifest.Stream(name)
	if s == nil {
		w.Fatalf("there is no stream %s", name)
	}
	return s
}

func (w *world) binding(c pdpp.ConnectionID, stream string) *store.Binding {
	w.Helper()
	s := w.stream(stream)
	return read(w, func(v store.View) (*store.Binding, error) {
		return v.Binding(w.subject, pdpp.Connection{ID: c, Connector: "ledger"}, s)
	})
}

// put returns an upsert, and drop a delete, emitted at the n-th second.
func put(id, data string, n int) store.Input {
	return store.Input{ID: pdpp.RecordID(id), Data: []byte(data), EmittedAt: at(n)}
}

func drop(id string, n int) store.Input {
	return store.Input{ID: pdpp.RecordID(id), Delete: true, EmittedAt: at(n)}
}

// ingest writes records to entries in one Update.
func (w *world) ingest(c pdpp.ConnectionID, in ...store.Input) []store.Outcome {
	w.Helper()
	return w.ingestInto(c, "entries", in...)
}

func (w *world) ingestInto(c pdpp.ConnectionID, stream string, in ...store.Input) []store.Outcome {
	w.Helper()
	b := w.binding(c, stream)
	docs := make([]store.Document, len(in))
	for i, line := range in {
		if !line.Delete {
			data, err := rawjson.Compact(nil, line.Data)
			if err != nil {
				w.Fatalf("test data %s: %v", line.Data, err)
			}
			line.Data = data
		}
		docs[i] = store.Prepare(b, line)
	}
	var out []store.Outcome
	w.update(func(tx store.Tx) (err error) {
		out, err = tx.Ingest(b, docs, at(0))
		return err
	})
	return out
}

// from returns a source without any restriction.
func (w *world) from(c pdpp.ConnectionID, stream string) query.Source {
	w.Helper()
	return query.Source{Connection: c, Stream: w.stream(stream)}
}

// both returns the sources of entries on both connections.
func (w *world) both() []query.Source {
	w.Helper()
	s := w.stream("entries")
	return []query.Source{{Connection: connA, Stream: s}, {Connection: connB, Stream: s}}
}

// where returns a condition with its operand as text.
func (w *world) where(s *pdpp.Stream, field string, op pdpp.Op, operand string) query.Condition {
	w.Helper()
	f := s.Field(field)
	if f == nil {
		w.Fatalf("stream %s has no field %s", s.Name, field)
	}
	key, ok := sortkey.FromText(f.Kind, operand)
	if !ok {
		w.Fatalf("operand %q is no %d", operand, f.Kind)
	}
	return query.Condition{Field: f, Op: op, Key: key}
}
