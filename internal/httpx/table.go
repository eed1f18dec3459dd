package httpx

import "time"

// minSweep is the size below which a table is not worth sweeping.
const minSweep = 1024

// table is a bounded map. Idle entries are equal to missing ones, and are removed when
// the map has doubled since the last sweep. When it has max entries, a new entry replaces
// one that is not pinned. The caller does the locking.
type table[K comparable, E any] struct {
	max    int
	idle   func(e *E, now time.Time) bool
	pinned func(e *E) bool

	entries map[K]*E
	sweepAt int
	swept   time.Time
}

// find returns the entry of a key, or nil.
func (t *table[K, E]) find(k K) *E { return t.entries[k] }

// entry returns the entry of a key. It adds a zero entry if there is none.
func (t *table[K, E]) entry(k K, now time.Time) (e *E, fresh bool) {
	if e := t.entries[k]; e != nil {
		return e, false
	}
	if t.entries == nil {
		t.entries = make(map[K]*E)
		t.sweepAt = min(minSweep, t.max)
	}
	if len(t.entries) >= t.sweepAt {
		t.evict(now)
	}
	e = new(E)
	t.entries[k] = e
	return e, true
}

// evict removes entries. The next sweep is due when the table has doubled, so that sweeps
// take amortized constant time per insertion. A full table is swept at most once a second
// and otherwise drops single entries, so that a flood of keys stays cheap.
func (t *table[K, E]) evict(now time.Time) {
	if len(t.entries) < t.max || now.Sub(t.swept) >= time.Second {
		t.sweep(now)
		t.swept = now
	}
	t.sweepAt = min(t.max, max(minSweep, 2*len(t.entries)))
	if len(t.entries) >= t.max {
		t.dropOne()
	}
}

func (t *table[K, E]) sweep(now time.Time) {
	for k, e := range t.entries {
		if t.idle(e, now) {
			delete(t.entries, k)
		}
	}
}

func (t *table[K, E]) dropOne() {
	for k, e := range t.entries {
		if !t.pinned(e) {
			delete(t.entries, k)
			return
		}
	}
}
