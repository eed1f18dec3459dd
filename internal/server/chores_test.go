package server

import (
	"testing"
	"time"
)

// TestNoSweepAtStart: an operator who started with the wrong store has some minutes to
// see it in the log before anything can be removed.
func TestNoSweepAtStart(t *testing.T) { // B-9
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	due := map[string]time.Time{}
	for _, c := range new(Server).chores(start) {
		due[c.name] = c.next
	}
	if first := due["sweeping blobs"]; first.Before(start.Add(5 * time.Minute)) {
		t.Errorf("the first sweep is at %v, the start at %v", first, start)
	}
	if first, ok := due["looking for unknown blobs"]; !ok || first.After(start) {
		t.Errorf("the first look at unknown blobs is at %v, the start at %v", first, start)
	}
}
