package journeys

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// The maximum numbers of calls: of all that texts offer, and of one chain.
const (
	maxFollowed = 250
	maxChain    = 400
)

// seeds returns the first calls.
func seeds(connector string) []*step {
	return map[string][]*step{
		"mail": {
			{"schema", args{}},
			{"query_records", args{"stream": "messages", "limit": 100}},
			{"aggregate", args{"stream": "messages", "metric": "count", "group_by_time": "sent_at", "granularity": "day"}},
			{"search", args{"q": "the", "limit": 100}},
			{"fetch", args{"id": "personal/messages:" + letterID}},
			{"read_record_field", args{"id": "personal/messages:" + letterID, "field_path": "body_text", "q": "Regal 1"}},
		},
	}[connector]
}

// TestEveryOffer: every call that a text prints after next: or more: succeeds and differs
// from the call that printed it. A chain of next: calls ends.
func TestEveryOffer(t *testing.T) {
	w := newWorld(t)
	for connector := range w.tokens {
		sessions := map[string]*sdk.ClientSession{connector: w.connect(t, connector, "2025-11-25")}
		start := append(seeds(connector), &step{"schema", args{}})
		t.Run("CONT-1 every offer of "+connector+" works", func(t *testing.T) {
			followAll(&walker{T: t, w: w, half: readText, sessions: sessions}, connector, start)
		})
		t.Run("CONT-1 chains of "+connector+" end", func(t *testing.T) {
			for _, s := range start {
				followChain(&walker{T: t, w: w, half: readText, sessions: sessions}, connector, s)
			}
		})
	}
}

// followAll makes the calls that texts offer, breadth first.
func followAll(w *walker, connector string, queue []*step) {
	done := map[string]bool{}
	for len(queue) > 0 && w.calls < maxFollowed {
		s := queue[0]
		queue = queue[1:]
		if done[s.key(w.T)] {
			continue
		}
		done[s.key(w.T)] = true
		r := w.do(connector, s.tool, s.args).(textReader)
		for _, label := range []string{"next", "more"} {
			for _, offer := range r.steps(label, r.lines...) {
				if offer.key(w.T) == s.key(w.T) {
					w.Errorf("%s offers itself as %s:", s.key(w.T), label)
				}
				queue = append(queue, offer)
			}
		}
	}
	w.Logf("%d calls", w.calls)
}

// followChain follows next: of the same tool to its end.
func followChain(w *walker, connector string, s *step) {
	done := map[string]bool{}
	for range maxChain {
		if done[s.key(w.T)] {
			w.Fatalf("%s is offered twice", s.key(w.T))
		}
		done[s.key(w.T)] = true
		next := w.do(connector, s.tool, s.args).next()
		if next == nil || next.tool != s.tool {
			return
		}
		s = next
	}
	w.Fatalf("%s: no end after %d calls", s.tool, maxChain)
}

// key returns a string that identifies a call.
func (s *step) key(t *testing.T) string {
	raw, err := json.Marshal(s.args)
	if err != nil {
		t.Fatal(err)
	}
	return s.tool + " " + string(raw)
}
