package rs_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

// extents has the record count and last_updated of each "connector/stream".
type extents map[string]struct {
	Count int64
	Last  string
}

func (e extents) add(key string, stream map[string]any) {
	sum := e[key]
	n, _ := stream["record_count"].(json.Number).Int64()
	last, _ := stream["last_updated"].(string)
	sum.Count, sum.Last = sum.Count+n, max(sum.Last, last)
	e[key] = sum
}

func extentsOfStreams(a resttest.Answer) extents {
	out := extents{}
	for _, item := range a.OK().At("data").([]any) {
		s := item.(map[string]any)
		out.add(s["connector_key"].(string)+"/"+s["name"].(string), s)
	}
	return out
}

func extentsOfConnectors(a resttest.Answer) extents {
	out := extents{}
	for _, item := range a.OK().At("data").([]any) {
		c := item.(map[string]any)
		for _, stream := range c["streams"].([]any) {
			s := stream.(map[string]any)
			out.add(c["connector_key"].(string)+"/"+s["name"].(string), s)
		}
	}
	return out
}

// TestConnectors: GET /v1/connectors and GET /v1/streams agree, and every URL is readable.
func TestConnectors(t *testing.T) {
	ledgerWorld, sources := ledger(t), twoSources(t)
	narrow, _ := ledgerWorld.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[
		{"name":"entries","fields":["id"],"connections":["cin_b2","cin_a1"],"time_range":{"since":"2026-04-15T00:00:00Z"}}]}`)
	for _, c := range []struct {
		name  string
		w     *resttest.World
		token string
	}{
		{"S-9 a limited grant", ledgerWorld, narrow},
		{"S-9 an owner", ledgerWorld, ledgerWorld.OwnerToken()},
		{"S-9 several connectors", sources, sources.OwnerToken()},
	} {
		t.Run(c.name, func(t *testing.T) {
			a := c.w.Get(c.token, "/v1/connectors").OK()
			if diff := cmp.Diff(extentsOfStreams(c.w.Get(c.token, "/v1/streams")), extentsOfConnectors(a)); diff != "" {
				t.Errorf("numbers differ (-streams +connectors):\n%s", diff)
			}
			for _, item := range a.At("data").([]any) {
				for _, stream := range item.(map[string]any)["streams"].([]any) {
					readURLs(t, c.w, c.token, stream.(map[string]any)["capabilities"].(map[string]any))
				}
			}
		})
	}
	t.Run("S-9 S-6 only granted names appear", func(t *testing.T) {
		a := ledgerWorld.Get(narrow, "/v1/connectors").OK()
		for _, name := range []string{"receipts", "memo", "note", "posted_at", "Joint account", "cin_"} {
			if strings.Contains(string(a.Body), name) {
				t.Errorf("the answer contains %q: %s", name, a.Body)
			}
		}
		for name, want := range map[string]bool{"exact_filters": true, "range_filters": false, "expand": false} {
			if got := a.At("data.0.streams.0.capabilities." + name); got != want {
				t.Errorf("%s = %v, want %v", name, got, want)
			}
		}
	})
}

func readURLs(t *testing.T, w *resttest.World, token string, capabilities map[string]any) {
	t.Helper()
	w.Get(token, capabilities["metadata_url"].(string)).OK()
	w.Get(token, capabilities["records_url"].(string)).OK()
	address, ok := capabilities["aggregate_url"].(string)
	if ok != capabilities["aggregate"].(bool) {
		t.Errorf("aggregate_url = %v, aggregate = %v", capabilities["aggregate_url"], capabilities["aggregate"])
	}
	if ok {
		w.Get(token, address+"&metric=count").OK()
	}
}
