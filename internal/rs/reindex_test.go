package rs_test

import (
	"context"
	"runtime"
	"strings"
	"sync"
	"testing"

	"pdpp"
)

// TestRebuildingIndex: reads and writes between a new manifest and the end of reindexing.
func TestRebuildingIndex(t *testing.T) {
	w := ledger(t)
	owner := w.OwnerToken()
	before := testManifest(t, "../manifest/testdata/ledgerly.json")
	after := strings.NewReplacer(`"memo": {`, `"status": {"type": "string"}, "memo": {`, `"lexical_fields": ["memo"`, `"lexical_fields": ["status", "memo"`).Replace(before)
	state := func() any {
		return w.Get("", "/.well-known/oauth-protected-resource").OK().At("capabilities.lexical_retrieval.index_state")
	}
	if state() != "built" {
		t.Errorf("index_state = %v before the new manifest, want built", state())
	}
	w.Declare(after)
	t.Run("Q-12 search returns partial results", func(t *testing.T) {
		a := w.Get(owner, "/v1/search?q=rent&streams[]=entries").OK()
		if a.At("meta.recall.complete") != false || a.At("meta.warnings.0.code") != "partial_results" || a.At("meta.count.kind") != "lower_bound" {
			t.Errorf("want partial results with a warning: %s", a.Body)
		}
		if state() != "building" {
			t.Errorf("index_state = %v, want building", state())
		}
	})
	t.Run("M-11 reads that do not use the changed fields", func(t *testing.T) {
		expectUnchanged(t, w, owner)
		w.Get(owner, "/v1/streams/entries/records?filter[memo]=April%20rent").OK()
		w.Get(owner, "/v1/streams/entries/records/ent_31?connection_id=cin_a1").OK()
	})
	t.Run("M-11 a filter by a field that is not indexed yet", func(t *testing.T) {
		a := w.Get(owner, "/v1/streams/entries/records?filter[status]=open")
		expectError(t, a, 503, pdpp.CodeUnavailable)
		if a.Header.Get("Retry-After") == "" || !strings.Contains(string(a.Body), "rebuilt") {
			t.Errorf("want Retry-After and a message about rebuilding: %v %s", a.Header, a.Body)
		}
	})
	t.Run("M-11 new records are indexed at once", func(t *testing.T) {
		post(w, owner, `{"key":"new","data":{"id":"new","status":"lodging"}}`).OK()
		if a := w.Get(owner, "/v1/search?q=lodging&streams[]=entries").OK(); !strings.Contains(string(a.Body), `"new"`) {
			t.Errorf("the new record is not found: %s", a.Body)
		}
	})
	t.Run("M-11 the server completes the rebuilding", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		var background sync.WaitGroup
		background.Go(func() {
			if err := w.Server.Run(ctx); err != nil {
				t.Error(err)
			}
		})
		for state() != "built" {
			runtime.Gosched()
		}
		cancel()
		background.Wait()
	})
	a := w.Get(owner, "/v1/search?q=rent&streams[]=entries").OK()
	if a.At("meta.recall.complete") != true || state() != "built" {
		t.Errorf("want complete results after reindexing: %s, index_state %v", a.Body, state())
	}
	w.Get(owner, "/v1/streams/entries/records?filter[status]=open").OK()
}
