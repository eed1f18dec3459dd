package storetest

import (
	"testing"

	"pdpp/internal/store"
)

// Opener returns a new, empty store that is closed with the test.
type Opener func(t *testing.T) store.Store

// Run tests a store against the contract.
func Run(t *testing.T, open func(t *testing.T) store.Store) {
	for _, group := range []struct {
		name  string
		tests []test
	}{
		{"accounts", accountTests},
		{"rights", rightTests},
		{"packages", packageTests},
		{"entries", entryTests},
		{"activity", activityTests},
		{"ingest", ingestTests},
		{"bytes", byteTests},
		{"long", longTests},
		{"order", orderTests},
		{"filter", filterTests},
		{"visibility", visibilityTests},
		{"aggregate", aggregateTests},
		{"reindex", reindexTests},
		{"blobs", blobTests},
		{"search", searchTests},
		{"changes", changeTests},
		{"transaction", transactionTests},
		{"property", propertyTests},
	} {
		t.Run(group.name, func(t *testing.T) {
			t.Parallel()
			for _, c := range group.tests {
				t.Run(c.name, func(t *testing.T) { c.run(t, open) })
			}
		})
	}
}

type test struct {
	name string
	run  func(t *testing.T, open Opener)
}
