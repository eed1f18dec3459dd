package storetest

import (
	"encoding/json"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/store"
)

var accountTests = []test{
	{"subjects", testSubjects},
	{"catalog", testCatalog},
	{"generation", testGeneration},
	{"labels", testLabels},
	{"state", testState},
	{"meta", testMeta},
	{"usage", testUsage},
	{"drop connection", testDropConnection},
	{"delete connection", testDeleteConnection},
	{"unknown subject", testUnknownSubject},
}

func testSubjects(t *testing.T, open Opener) {
	w := subjectIn(t, open(t), "bea")
	other := subjectIn(t, w.store, "abe")
	got := read(w, func(v store.View) ([]store.Subject, error) { return v.Subjects() })
	want := []store.Subject{
		{ID: other.subject, Name: "abe", CreatedAt: at(0)},
		{ID: w.subject, Name: "bea", CreatedAt: at(0)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Subjects (-want +got):\n%s", diff)
	}
	err := w.store.Update(t.Context(), func(tx store.Tx) error {
		_, err := tx.CreateSubject("abe", at(1))
		return err
	})
	if err == nil {
		t.Error("a second subject of the same name was created")
	}
}

func testCatalog(t *testing.T, open Opener) {
	w := newWorld(t, open)
	album := declare(t, "album", decl{name: "photos", fields: []string{"id string"}})
	w.update(func(tx store.Tx) error { return tx.PutManifest(w.subject, album) })
	w.connect(pdpp.Connection{ID: "cin_0", Connector: "album", Name: "phone", Label: "My phone", Status: "active", CreatedAt: at(5)})
	got := w.catalog()
	want := &pdpp.Catalog{
		Manifests: []*pdpp.Manifest{album, declare(t, "ledger", entries())},
		Connections: []pdpp.Connection{
			{ID: "cin_0", Connector: "album", Name: "phone", Label: "My phone", Status: "active", CreatedAt: at(5)},
			{ID: connA, Connector: "ledger", Name: "cin_a", Status: "active", CreatedAt: at(0)},
			{ID: connB, Connector: "ledger", Name: "cin_b", Status: "active", CreatedAt: at(0)},
		},
	}
	unsealed := cmpopts.IgnoreUnexported(pdpp.Manifest{}, pdpp.Stream{})
	if diff := cmp.Diff(want, got, unsealed, cmpopts.IgnoreFields(pdpp.Catalog{}, "Generation")); diff != "" {
		t.Errorf("Catalog (-want +got):\n%s", diff)
	}
}

func testGeneration(t *testing.T, open Opener) {
	w := newWorld(t, open)
	last := w.catalog().Generation
	grows := func(what string, want bool) {
		t.Helper()
		now := w.catalog().Generation
		if (now > last) != want || now < last {
			t.Errorf("%s: generation went from %d to %d", what, last, now)
		}
		last = now
	}
	w.declare(entries())
	grows("the same manifest again", false)
	w.declare(entries().with("extra string"))
	grows("another manifest", true)
	w.connect(pdpp.Connection{ID: "cin_c", Connector: "ledger", Name: "c", Status: "active", CreatedAt: at(0)})
	grows("a connection", true)
	w.connect(pdpp.Connection{ID: "cin_c", Connector: "ledger", Name: "c", Label: "new", Status: "active", CreatedAt: at(0)})
	grows("a label", true)
	w.ingest(connA, put("1", `{"id":"1"}`, 1))
	grows("a record", false)
	p := read(w, func(v store.View) (int64, error) { return v.Generation() })
	if p != last {
		t.Errorf("Generation = %d, want that of the catalog, %d", p, last)
	}
}

func testLabels(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("1", `{"id":"1"}`, 1))
	w.connect(pdpp.Connection{ID: connA, Connector: "ledger", Name: "cin_a", Label: "Joint account", Status: "active", CreatedAt: at(9)})
	c, ok := w.catalog().Connection(connA)
	if !ok || c.Label != "Joint account" || !c.CreatedAt.Equal(at(0)) || c.Name != "cin_a" {
		t.Errorf("connection after a new label = %+v", c)
	}
	if n := w.count(w.from(connA, "entries")); n != 1 {
		t.Errorf("records after a new label = %d, want 1", n)
	}
}

func testState(t *testing.T, open Opener) {
	w := newWorld(t, open)
	state := func(c pdpp.ConnectionID) store.State {
		return read(w, func(v store.View) (store.State, error) { return v.State(w.subject, c) })
	}
	if st := state(connA); len(st.Values) != 0 || !st.UpdatedAt.IsZero() {
		t.Errorf("State before any = %+v", st)
	}
	values := func(n int, kv map[string]json.RawMessage) {
		w.update(func(tx store.Tx) error { return tx.PutState(w.subject, connA, kv, at(n)) })
	}
	values(1, map[string]json.RawMessage{"entries": []byte(`{"after":1}`), "other": []byte(`[1.50]`)})
	values(2, map[string]json.RawMessage{"entries": []byte(`{"after":2}`)})
	want := store.State{
		Values:    map[string]json.RawMessage{"entries": []byte(`{"after":2}`), "other": []byte(`[1.50]`)},
		UpdatedAt: at(2),
	}
	if diff := cmp.Diff(want, state(connA)); diff != "" {
		t.Errorf("State (-want +got):\n%s", diff)
	}
	if st := state(connB); len(st.Values) != 0 {
		t.Errorf("another connection has the state %v", st.Values)
	}
	bea := subjectIn(t, w.store, "bea")
	w.view(func(v store.View) error {
		st, err := v.State(bea.subject, connA)
		if len(st.Values) != 0 {
			t.Errorf("another subject has the state %v", st.Values)
		}
		return err
	})
}

func testMeta(t *testing.T, open Opener) {
	w := newWorld(t, open)
	read := func() (value []byte) {
		w.view(func(v store.View) (err error) {
			value, err = v.Meta("key")
			return err
		})
		return value
	}
	if v := read(); v != nil {
		t.Errorf("Meta before PutMeta = %q, want nil", v)
	}
	for _, value := range []string{"\x00\xff secret", "another"} {
		w.update(func(tx store.Tx) error { return tx.PutMeta("key", []byte(value)) })
		if v := read(); string(v) != value {
			t.Errorf("Meta = %q, want %q", v, value)
		}
	}
}

func testUsage(t *testing.T, open Opener) {
	w := newWorld(t, open)
	b := w.binding(connB, "entries")
	w.update(func(tx store.Tx) error {
		docs := []store.Document{
			store.Prepare(b, put("1", `{"id":"1"}`, 1)), store.Prepare(b, put("2", `{"id":"2"}`, 1)),
			store.Prepare(b, put("1", `{"id":"1","memo":"x"}`, 2)), store.Prepare(b, drop("2", 3)),
			store.Prepare(b, put("3", `{"id":"3"}`, 1)),
		}
		_, err := tx.Ingest(b, docs, at(7))
		return err
	})
	got := read(w, func(v store.View) ([]store.Usage, error) { return v.Usage(w.subject) })
	want := []store.Usage{
		{Connection: connA, Stream: "entries"},
		{Connection: connB, Stream: "entries", Records: 2, LastIngest: at(7)},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Usage (-want +got):\n%s", diff)
	}
}

// testDropConnection: a connection that was never written to can be removed, with its
// manifest; any other stays.
func testDropConnection(t *testing.T, open Opener) {
	w := newWorld(t, open)
	fresh := pdpp.Connection{ID: "cin_new", Connector: "fresh", Name: "new", Status: "active", CreatedAt: at(1)}
	add := func() {
		w.update(func(tx store.Tx) error {
			if err := tx.PutManifest(w.subject, declare(t, "fresh", entries())); err != nil {
				return err
			}
			return tx.PutConnection(w.subject, fresh)
		})
	}
	dropped := func(id pdpp.ConnectionID) (done bool) {
		w.update(func(tx store.Tx) (err error) {
			done, err = tx.DropConnection(w.subject, id)
			return err
		})
		return done
	}
	catalog := func() (c *pdpp.Catalog) {
		w.view(func(v store.View) (err error) {
			c, err = v.Catalog(w.subject)
			return err
		})
		return c
	}
	before := len(catalog().Connections)
	add()
	if !dropped(fresh.ID) || catalog().Manifest("fresh") != nil || len(catalog().Connections) != before {
		t.Errorf("after the drop: %+v", catalog())
	}
	if dropped(fresh.ID) || dropped("cin_none") {
		t.Error("a connection that is not there was dropped")
	}
	add()
	w.update(func(tx store.Tx) error {
		return tx.PutState(w.subject, fresh.ID, map[string]json.RawMessage{"entries": json.RawMessage(`1`)}, at(2))
	})
	w.ingest(connA, put("1", `{"id":"1"}`, 1))
	w.ingest(connA, drop("1", 2))
	if dropped(fresh.ID) || dropped(connA) || catalog().Manifest("fresh") == nil {
		t.Error("a connection with state, or with changes, was dropped")
	}
	if !dropped(connB) || catalog().Manifest("ledger") == nil {
		t.Error("the manifest of another connection is gone")
	}
}

// testDeleteConnection: a deleted connection is gone at once with everything in it, and
// another one can have its name. Purge removes the rest, also of streams that are no
// longer declared, and leaves other connections alone.
func testDeleteConnection(t *testing.T, open Opener) {
	w := newWorld(t, open)
	for _, c := range []pdpp.ConnectionID{connA, connB} {
		w.ingest(c, put("1", `{"id":"1","memo":"zebrafink"}`, 1), put("2", `{"id":"2"}`, 2))
	}
	var conn pdpp.Connection
	before := w.binding(connA, "entries")
	w.update(func(tx store.Tx) error {
		c, err := tx.Catalog(w.subject)
		if err != nil {
			return err
		}
		conn, _ = c.Connection(connA)
		if err := tx.PutState(w.subject, connA, map[string]json.RawMessage{"entries": json.RawMessage(`1`)}, at(2)); err != nil {
			return err
		}
		return tx.DeleteConnection(w.subject, connA)
	})
	gone := func(when string) {
		t.Helper()
		w.view(func(v store.View) error {
			c, err := v.Catalog(w.subject)
			if _, ok := c.Connection(connA); ok {
				t.Errorf("%s: the connection is in the catalog", when)
			}
			usage, err2 := v.Usage(w.subject)
			for _, u := range usage {
				if u.Connection == connA {
					t.Errorf("%s: Usage lists %+v", when, u)
				}
			}
			return errors.Join(err, err2)
		})
		err := w.store.Update(t.Context(), func(tx store.Tx) error { return tx.DeleteConnection(w.subject, connA) })
		if pdpp.CodeOf(err) != pdpp.CodeConnectionNotFound {
			t.Errorf("%s: deleting it again = %v", when, err)
		}
		err = w.store.Update(t.Context(), func(tx store.Tx) error {
			_, err := tx.Ingest(before, []store.Document{store.Prepare(before, store.Input{ID: "3", Data: []byte(`{"id":"3"}`), EmittedAt: at(3)})}, at(3))
			return err
		})
		if err == nil {
			t.Errorf("%s: a record was stored in it", when)
		}
	}
	gone("after the delete")
	again := conn
	again.ID = "cin_again"
	w.update(func(tx store.Tx) error { return tx.PutConnection(w.subject, again) })
	if err := store.Purge(t.Context(), w.store, at(9)); err != nil {
		t.Fatal(err)
	}
	gone("after the purge")
	rows := w.list(query.List{Sources: []query.Source{w.from(connB, "entries")}, Order: query.Order{By: query.ByCursor}})
	if len(rows) != 2 {
		t.Errorf("the other connection has %d records, want 2", len(rows))
	}
	w.update(func(tx store.Tx) error {
		more, err := tx.Purge(at(9))
		if more {
			t.Error("Purge has more to do")
		}
		return err
	})
}

func testUnknownSubject(t *testing.T, open Opener) {
	w := newWorld(t, open)
	w.ingest(connA, put("1", `{"id":"1"}`, 1))
	const nobody pdpp.SubjectID = "own_nobody"
	m := declare(t, "ledger", entries())
	writes := map[string]func(store.Tx) error{
		"Catalog":          func(tx store.Tx) error { _, err := tx.Catalog(nobody); return err },
		"Usage":            func(tx store.Tx) error { _, err := tx.Usage(nobody); return err },
		"PutManifest":      func(tx store.Tx) error { return tx.PutManifest(nobody, m) },
		"PutConnection":    func(tx store.Tx) error { return tx.PutConnection(nobody, pdpp.Connection{ID: "cin_x"}) },
		"DropConnection":   func(tx store.Tx) error { _, err := tx.DropConnection(nobody, connA); return err },
		"DeleteConnection": func(tx store.Tx) error { return tx.DeleteConnection(nobody, connA) },
		"CreateClient":     func(tx store.Tx) error { return tx.CreateClient(nobody, store.Client{ID: "cli_x"}) },
		"CreateToken":      func(tx store.Tx) error { return tx.CreateToken(store.Token{Subject: nobody}, store.TokenHash{}) },
	}
	for name, write := range writes {
		if err := w.store.Update(t.Context(), write); pdpp.CodeOf(err) != pdpp.CodeNotFound {
			t.Errorf("%s of an unknown subject = %v, want not_found", name, err)
		}
	}
	err := w.store.View(t.Context(), func(v store.View) error {
		_, err := v.Binding(nobody, pdpp.Connection{ID: connA}, m.Stream("entries"))
		return err
	})
	if pdpp.CodeOf(err) != pdpp.CodeConnectionNotFound {
		t.Errorf("Binding of an unknown subject = %v, want connection_not_found", err)
	}
	w.view(func(v store.View) error {
		rows, _, err := page(v, query.List{Subject: nobody, Limit: 5, Sources: w.both()})
		if len(rows) != 0 {
			t.Errorf("an unknown subject sees %v", rows)
		}
		return err
	})
}
