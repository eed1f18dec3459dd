package storetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var transactionTests = []test{
	{"a failed update leaves nothing", testFailedUpdate},
	{"a panic leaves nothing", testPanic},
	{"an update sees its own writes", testOwnWrites},
	{"a view is a snapshot", testSnapshot},
	{"cancelled before", testCancelledBefore},
	{"cancelled list", testCancelledList},
	{"cancelled between reads", testCancelledBetween},
	{"cancelled update", testCancelledUpdate},
	{"concurrent writers", testConcurrentWriters},
}

var errOnPurpose = errors.New("on purpose")

// everythingOnce writes to all parts of a store.
func everythingOnce(w *world, tx store.Tx) error {
	if _, err := tx.CreateSubject("zoe", at(1)); err != nil {
		return err
	}
	if err := tx.PutMeta("key", []byte("v")); err != nil {
		return err
	}
	if err := tx.CreateClient(w.subject, tally); err != nil {
		return err
	}
	if err := tx.CreateToken(tokenNo(w, "tok_x", ""), store.HashToken("x")); err != nil {
		return err
	}
	if err := tx.CreateGrant(grantNo(w, "grt_x", 1)); err != nil {
		return err
	}
	if _, err := tx.CreatePackage(packageNo(w, "gpkg_x", 2), []store.NewMember{{Grant: "grt_x", Connection: connA}}); err != nil {
		return err
	}
	if err := tx.PutManifest(w.subject, declare(w, "ledger", entries().with("extra string"))); err != nil {
		return err
	}
	c, err := tx.Catalog(w.subject)
	if err != nil {
		return err
	}
	b, err := tx.Binding(w.subject, pdpp.Connection{ID: connA}, c.Manifest("ledger").Stream("entries"))
	if err != nil {
		return err
	}
	_, err = tx.Ingest(b, []store.Document{store.Prepare(b, put("new", `{"extra":"x"}`, 1)), store.Prepare(b, drop("old", 2))}, at(2))
	return err
}

// untouched checks that everythingOnce left nothing, and that it can be done afterwards.
func untouched(w *world, generation int64) {
	w.Helper()
	w.view(func(v store.View) error {
		subjects, err := v.Subjects()
		if len(subjects) != 1 {
			w.Errorf("subjects = %v", subjects)
		}
		if m, _ := v.Meta("key"); m != nil {
			w.Errorf("meta = %q", m)
		}
		if _, err := v.Client(w.subject, "Tally"); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			w.Errorf("client: %v", err)
		}
		if _, err := v.Token(store.HashToken("x")); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			w.Errorf("token: %v", err)
		}
		if packages, err := v.Packages(w.subject); err != nil || len(packages) != 0 {
			w.Errorf("packages = %v, %v", packages, err)
		}
		return err
	})
	if c := w.catalog(); c.Generation != generation || c.Manifest("ledger").Stream("entries").Field("extra") != nil {
		w.Errorf("the catalog changed; generation %d, want %d", c.Generation, generation)
	}
	if got := ids(w.list(query.List{Sources: w.both()})); len(got) != 1 || got[0] != "old" {
		w.Errorf("records = %v, want old", got)
	}
	w.update(func(tx store.Tx) error { return everythingOnce(w, tx) })
	if got := ids(w.list(query.List{Sources: w.both()})); len(got) != 1 || got[0] != "new" {
		w.Errorf("records afterwards = %v, want new", got)
	}
}

func testFailedUpdate(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("old", `{"memo":"x"}`, 1))
	generation := w.catalog().Generation
	err := w.store.Update(t.Context(), func(tx store.Tx) error {
		if err := everythingOnce(w, tx); err != nil {
			t.Errorf("write: %v", err)
		}
		return errOnPurpose
	})
	if !errors.Is(err, errOnPurpose) {
		t.Errorf("Update = %v, want the error of its function", err)
	}
	untouched(w, generation)
}

func testPanic(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("old", `{"memo":"x"}`, 1))
	generation := w.catalog().Generation
	func() {
		defer func() {
			if recover() == nil {
				t.Error("the panic was swallowed")
			}
		}()
		_ = w.store.Update(t.Context(), func(tx store.Tx) error {
			_ = everythingOnce(w, tx)
			panic("on purpose")
		})
	}()
	untouched(w, generation)
}

func testOwnWrites(t *testing.T, open Opener) {
	w := newWorld(t, open)
	b := w.binding(connA, "entries")
	sources := w.both()
	w.update(func(tx store.Tx) error {
		doc := store.Prepare(b, put("a", `{"memo":"x"}`, 1))
		if _, err := tx.Ingest(b, []store.Document{doc}, at(1)); err != nil {
			return err
		}
		rows, _, err := page(tx, query.List{Subject: w.subject, Sources: sources, Limit: 5})
		if len(rows) != 1 {
			t.Errorf("the update sees %v", rows)
		}
		return err
	})
}

func testSnapshot(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("a", `{"memo":"x"}`, 1), put("b", `{"memo":"x"}`, 2))
	sources := w.both()
	q := query.List{Subject: w.subject, Sources: sources, Limit: 10}
	w.view(func(v store.View) error {
		first, _, err := page(v, q)
		if err != nil {
			return err
		}
		w.ingest(connA, put("c", `{"memo":"x"}`, 3), drop("a", 3), put("b", `{"memo":"y"}`, 3))
		w.declare(entries().with("extra string"))
		second, _, err := page(v, q)
		if err != nil {
			return err
		}
		if fmt.Sprint(first) != fmt.Sprint(second) || len(first) != 2 {
			t.Errorf("the view saw %v, then %v", first, second)
		}
		c, err := v.Catalog(w.subject)
		if err == nil && c.Manifest("ledger").Stream("entries").Field("extra") != nil {
			t.Error("the view sees a manifest that was registered after it began")
		}
		return err
	})
	if got := ids(w.list(q)); len(got) != 2 || got[1] != "c" {
		t.Errorf("a new view sees %v, want b and c", got)
	}
}

func testCancelledBefore(t *testing.T, open Opener) {
	w := newWorld(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := w.store.View(ctx, func(store.View) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("View = %v, want cancelled", err)
	}
	if err := w.store.Update(ctx, func(store.Tx) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("Update = %v, want cancelled", err)
	}
}

func testCancelledList(t *testing.T, open Opener) {
	w := newWorld(t, open)
	var in []store.Input
	for i := range 3000 {
		in = append(in, put(fmt.Sprint(i), `{"memo":"x"}`, i))
	}
	w.ingest(connA, in...)
	sources := w.both()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	n := 0
	err := w.store.View(ctx, func(v store.View) error {
		for { // lists without end: only the cancellation ends it
			_, err := v.List(query.List{Subject: w.subject, Sources: sources, Limit: everything}, func(*store.Record) (bool, error) {
				if n++; n == 10 {
					cancel()
				}
				return true, nil
			})
			if err != nil {
				return err
			}
		}
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("View = %v, want cancelled", err)
	}
	if n := w.count(w.from(connA, "entries")); n != 3000 {
		t.Errorf("Count afterwards = %d, want 3000", n)
	}
}

// testCancelledBetween: a cancellation while no statement runs is not lost.
func testCancelledBetween(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for range 20 {
		ctx, cancel := context.WithCancel(t.Context())
		err := w.store.View(ctx, func(v store.View) error {
			if _, err := v.Generation(); err != nil {
				return err
			}
			cancel()
			for {
				if _, err := v.Subjects(); err != nil {
					return err
				}
			}
		})
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("View = %v, want cancelled", err)
		}
	}
	w.catalog() // the store still answers
}

func testCancelledUpdate(t *testing.T, open Opener) {
	w := newWorld(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := w.store.Update(ctx, func(tx store.Tx) error {
		err := tx.PutMeta("key", []byte("v"))
		cancel()
		return err
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Update = %v, want cancelled", err)
	}
	w.view(func(v store.View) error {
		m, err := v.Meta("key")
		if m != nil {
			t.Errorf("a cancelled update left %q", m)
		}
		return err
	})
	w.ingest(connA, put("a", `{}`, 1))
}

func testConcurrentWriters(t *testing.T, open Opener) {
	w := newWorld(t, open)
	const writers, rounds = 4, 12
	b := w.binding(connA, "entries")
	var all sync.WaitGroup
	for n := range writers {
		all.Go(func() {
			for i := range rounds {
				doc := store.Prepare(b, put(fmt.Sprintf("w%d-%d", n, i), `{"memo":"x"}`, 1))
				shared := store.Prepare(b, put("shared", fmt.Sprintf(`{"memo":"x","amount":%d}`, n*rounds+i), 1))
				err := w.store.Update(t.Context(), func(tx store.Tx) error {
					_, err := tx.Ingest(b, []store.Document{doc, shared}, at(1))
					return err
				})
				if err != nil {
					t.Errorf("writer %d: %v", n, err)
				}
				err = w.store.View(t.Context(), func(v store.View) error {
					rows, _, err := page(v, query.List{Subject: w.subject, Sources: []query.Source{{Connection: connA, Stream: b.Stream}}, Limit: everything})
					if len(rows) < i+2 {
						t.Errorf("writer %d sees %d records after round %d", n, len(rows), i)
					}
					return err
				})
				if err != nil {
					t.Errorf("reader %d: %v", n, err)
				}
			}
		})
	}
	all.Wait()
	if n := len(w.found(w.from(connA, "entries"), cond{"memo", pdpp.OpEq, "x"})); n != writers*rounds+1 {
		t.Errorf("records = %d, want %d", n, writers*rounds+1)
	}
}
