package main

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// report collects what happened. It is safe for concurrent use.
type report struct {
	o options

	mu       sync.Mutex
	began    time.Time
	counts   map[string]int
	peak     int64 // memory of the server, MB
	slowest  time.Duration
	problems []string
	seen     map[string]int // kinds of problems; of each the first few are kept
}

func newReport(o options) *report {
	return &report{o: o, began: time.Now(), counts: map[string]int{}, seen: map[string]int{}}
}

// count counts something that is as it should be.
func (r *report) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what]++
}

// broken notes a broken promise.
func (r *report) broken(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[format]++; r.seen[format] > 5 {
		return
	}
	r.problems = append(r.problems, fmt.Sprintf("%v: ", time.Since(r.began).Round(time.Second))+fmt.Sprintf(format, args...))
}

// memory notes how much memory the server needed at most so far.
func (r *report) memory(mb int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peak = max(r.peak, mb)
}

// withdrawal notes how long a withdrawal took.
func (r *report) withdrawal(took time.Duration) {
	if took > r.o.revoke {
		r.broken("a withdrawal took %v, bound %v", took.Round(time.Millisecond), r.o.revoke)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts["withdrawals"]++
	r.slowest = max(r.slowest, took)
}

// line is how it goes, on one line.
func (r *report) line() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%5v  memory %d MB, slowest withdrawal %v, problems %d", time.Since(r.began).Round(time.Second),
		r.peak, r.slowest.Round(time.Millisecond), r.total())
	for _, name := range slices.Sorted(maps.Keys(r.counts)) {
		fmt.Fprintf(&b, ", %s %d", name, r.counts[name])
	}
	return b.String()
}

// total is how many promises were broken.
func (r *report) total() int {
	n := 0
	for _, times := range r.seen {
		n += times
	}
	return n
}

// print shows the result, when all load has ended. The error says that a promise was
// broken.
func (r *report) print() error {
	if r.peak > r.o.memory {
		r.broken("the server needed %d MB, bound %d MB", r.peak, r.o.memory)
	}
	if r.counts["withdrawals"] == 0 || r.counts["acknowledged"] == 0 || r.counts["kills"] == 0 {
		r.broken("the run was too short: it needs a withdrawal, an ingest and a kill at least")
	}
	fmt.Println(r.line())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.problems) == 0 {
		fmt.Println("all promises held")
		return nil
	}
	for _, p := range r.problems {
		fmt.Println("BROKEN", p)
	}
	if more := r.total() - len(r.problems); more > 0 {
		fmt.Printf("BROKEN and %d more like these\n", more)
	}
	return errors.New("a promise was broken")
}
