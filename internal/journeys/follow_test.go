package journeys

import (
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// Most calls of one walk through everything that texts offer, and of one chain.
const (
	mostFollowed = 250
	mostInChain  = 400
)

// seeds are the calls that everything else is reached from.
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

// TestEveryOffer: every call that a text prints after next: or more: succeeds and is
// another one than the call that printed it; and going on with next: alone ends.
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

// followAll makes the calls that texts offer, those nearest to the start first.
func followAll(w *walker, connector string, queue []*step) {
	known := map[string]bool{}
	for len(queue) > 0 && w.calls < mostFollowed {
		s := queue[0]
		queue = queue[1:]
		if known[s.key(w.T)] {
			continue
		}
		known[s.key(w.T)] = true
		r := w.good(connector, s.tool, s.args).(textReader)
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

// followChain goes on with the same tool until there is no next: of it.
func followChain(w *walker, connector string, s *step) {
	known := map[string]bool{}
	for range mostInChain {
		if known[s.key(w.T)] {
			w.Fatalf("%s is offered again", s.key(w.T))
		}
		known[s.key(w.T)] = true
		next := w.good(connector, s.tool, s.args).next()
		if next == nil || next.tool != s.tool {
			return
		}
		s = next
	}
	w.Fatalf("%s: no end after %d calls", s.tool, mostInChain)
}

// key tells calls apart.
func (s *step) key(t *testing.T) string {
	raw, err := json.Marshal(s.args)
	if err != nil {
		t.Fatal(err)
	}
	return s.tool + " " + string(raw)
}
