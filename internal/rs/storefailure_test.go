package rs_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
	"pdpp/internal/store"
)

// TestStoreFailures fails each read of the store in turn. The answer is always an error, never
// a page that omits a record and continues after it.
func TestStoreFailures(t *testing.T) {
	w := resttest.Cabinet(t)
	raw := testManifest(t, "testdata/cabinet.json")
	w.Manifest(strings.Replace(raw, `"query": {"range_filters": {"at"`, `"query": {"search": {"lexical_fields": ["a.b", "body"]}, "range_filters": {"at"`, 1))
	tok, _ := w.Grant(cabinetGrant)
	w.Ingest("cin_c1", "items",
		item("long", `"title":"letter","body":`+quoted(longText(200_000))+`,"author":`+quoted(base64Bytes(60_000))+`,"meta":{"k":[`+strings.Repeat(`"ü",`, 9000)+`1]}`),
		item("next", `"title":"letter"`))
	w.Ingest("cin_c1", "notes", note("n1", "long", longText(40_000), "2026-01-02T00:00:00Z"))
	faulty, faults := failOnce(w)
	const items = "/v1/streams/items/records"
	for _, read := range []struct{ id, target, prefer string }{
		{"REC-40 the first record of a page is truncated further", items, "Prefer: pdpp-field-preview=65536, pdpp-page-bytes=4096"},
		{"REC-39 previews", items, "Prefer: pdpp-field-preview=64"},
		{"REC-6 a page", items + "?count=exact", ""},
		{"REC-13 a record", items + "/long?expand=notes", ""},
		{"REC-31 changes", items + "?changes_since=beginning", "Prefer: pdpp-field-preview=64"},
		{"FW-1 a window", items + "/long/field-window?field=body&offset_chars=100000", ""},
		{"FW-2 a window around a match", items + "/long/field-window?field=body&q=line+4000", ""},
		{"FW-1 a window of JSON text", items + "/long/field-window?field=meta&as=json", ""},
		{"Q-1 a search", "/v1/search?q=letter", ""},
		{"S-2 the streams", "/v1/streams", ""},
		{"S-9 the connectors", "/v1/connectors", ""},
		{"AG-1 an aggregate", "/v1/streams/items/aggregate?metric=count", ""},
	} {
		t.Run(read.id, func(t *testing.T) {
			var headers []string
			if read.prefer != "" {
				headers = append(headers, read.prefer)
			}
			w.Get(tok, read.target, headers...).OK()
			for n := int64(1); ; n++ {
				faults.arm(n)
				a := faulty.Get(tok, read.target, headers...)
				if !faults.fired() {
					if a.OK(); n == 1 {
						t.Error("the request does not read the store")
					}
					return
				}
				if a.Status < 500 || strings.Contains(string(a.Body), errDisk.Error()) {
					t.Errorf("read %d of the store failed: status %d, want 500 or more without the cause: %.200s", n, a.Status, a.Body)
				}
			}
		})
	}
}

// TestSearchHitWithoutRecord: if the record of a hit is missing, the search fails.
func TestSearchHitWithoutRecord(t *testing.T) {
	w := ledger(t)
	w.Ingest("cin_a1", "entries", `{"key":"long","data":{"id":"long","memo":"flute","note":`+quoted(longText(9000))+`}}`)
	owner := w.OwnerToken()
	w.Get(owner, "/v1/search?q=flute").OK()
	damaged := secondServer(w, func(c *server.Config) { c.Store = withoutIDs{w.Store} })
	if a := damaged.Get(owner, "/v1/search?q=flute"); a.Status < 500 {
		t.Errorf("status %d, want 500 or more: %s", a.Status, a.Body)
	}
}

// withoutIDs is a store that does not find records by id.
type withoutIDs struct{ store.Store }

func (s withoutIDs) View(ctx context.Context, fn func(store.View) error) error {
	return s.Store.View(ctx, func(v store.View) error { return fn(viewWithoutIDs{v}) })
}

type viewWithoutIDs struct{ store.View }

func (viewWithoutIDs) Get(query.Get, func(*store.Record) error) error { return nil }

// faults is a store that fails the nth read after arm(n). Each piece of a long value is a
// read.
type faults struct {
	store.Store
	left atomic.Int64
}

func failOnce(w *resttest.World) (*resttest.World, *faults) {
	f := &faults{Store: w.Store}
	return secondServer(w, func(c *server.Config) { c.Store = f }), f
}

func (f *faults) arm(n int64) { f.left.Store(n) }

func (f *faults) fired() bool { return f.left.Load() <= 0 }

// next counts a read and returns an error if it is the one to fail.
func (f *faults) next() error {
	if f.left.Add(-1) == 0 {
		return errDisk
	}
	return nil
}

func (f *faults) View(ctx context.Context, fn func(store.View) error) error {
	return f.Store.View(ctx, func(v store.View) error { return fn(faultyView{v, f}) })
}

type faultyView struct {
	store.View
	faults *faults
}

func (v faultyView) List(q query.List, visit func(*store.Record) (bool, error)) (bool, error) {
	if err := v.faults.next(); err != nil {
		return false, err
	}
	return v.View.List(q, visit)
}

func (v faultyView) Get(q query.Get, visit func(*store.Record) error) error {
	if err := v.faults.next(); err != nil {
		return err
	}
	return v.View.Get(q, visit)
}

func (v faultyView) Count(q query.List) (int64, error) {
	if err := v.faults.next(); err != nil {
		return 0, err
	}
	return v.View.Count(q)
}

func (v faultyView) Aggregate(q query.Aggregate) (store.Aggregation, error) {
	if err := v.faults.next(); err != nil {
		return store.Aggregation{}, err
	}
	return v.View.Aggregate(q)
}

func (v faultyView) LastEmitted(s pdpp.SubjectID, src query.Source) (time.Time, bool, error) {
	if err := v.faults.next(); err != nil {
		return time.Time{}, false, err
	}
	return v.View.LastEmitted(s, src)
}

func (v faultyView) Search(q query.Search, visit func(*store.Match) (bool, error)) error {
	if err := v.faults.next(); err != nil {
		return err
	}
	return v.View.Search(q, visit)
}

func (v faultyView) Matched(q query.Search, r *store.Record) ([]bool, error) {
	if err := v.faults.next(); err != nil {
		return nil, err
	}
	return v.View.Matched(q, r)
}

func (v faultyView) Long(ref store.Ref, stub store.Stub, from int, piece func([]byte) bool) error {
	var failed error
	err := v.View.Long(ref, stub, from, func(p []byte) bool {
		failed = v.faults.next()
		return failed == nil && piece(p)
	})
	if failed != nil {
		return failed
	}
	return err
}
