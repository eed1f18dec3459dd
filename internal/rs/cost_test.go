package rs

import (
	"net/http/httptest"
	"testing"
)

// TestCostOfRecordReads: a read is expensive unless its query is known to be cheap (H-67).
func TestCostOfRecordReads(t *testing.T) {
	for query, want := range map[string]bool{
		"":                         false,
		"limit=100&order=asc":      false,
		"fields=id&view=short":     false,
		"sort=-posted_at":          false,
		"connection_id=cin_a1":     false,
		"cursor=pc1.abc":           false,
		"cursor=cc1.abc":           true,
		"cursor=%63c1.abc":         true,
		"changes_since=beginning":  true,
		"filter[id]=a":             true,
		"%66ilter[id]=a":           true,
		"limit=1&count=exact":      true,
		"expand=receipts":          true,
		"expand_limit[receipts]=1": true,
	} {
		if got := unlessPlain(httptest.NewRequestWithContext(t.Context(), "GET", "/v1/streams/entries/records?"+query, nil)); got != want {
			t.Errorf("H-67: ?%s is expensive: %v, want %v", query, got, want)
		}
	}
}
