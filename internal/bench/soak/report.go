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
	peak     int64         // memory of the server, MB
	slowest  time.Duration // revocation
	problems []string
	seen     map[string]int // number of problems of each kind; the first five are kept
}

func newReport(o options) *report {
	return &report{o: o, began: time.Now(), counts: map[string]int{}, seen: map[string]int{}}
}

// count counts an expected event.
func (r *report) count(what string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts[what]++
}

// problem records a violated guarantee.
func (r *report) problem(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.seen[format]++; r.seen[format] > 5 {
		return
	}
	r.problems = append(r.problems, fmt.Sprintf("%v: ", time.Since(r.began).Round(time.Second))+fmt.Sprintf(format, args...))
}

// memory records the peak memory of the server so far.
func (r *report) memory(mb int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.peak = max(r.peak, mb)
}

// revocation records how long a revocation took.
func (r *report) revocation(took time.Duration) {
	if took > r.o.revoke {
		r.problem("a revocation took %v, limit %v", took.Round(time.Millisecond), r.o.revoke)
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.counts["revocations"]++
	r.slowest = max(r.slowest, took)
}

// line summarizes the run in one line.
func (r *report) line() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	var b strings.Builder
	fmt.Fprintf(&b, "%5v  memory %d MB, slowest revocation %v, problems %d", time.Since(r.began).Round(time.Second),
		r.peak, r.slowest.Round(time.Millisecond), r.total())
	for _, name := range slices.Sorted(maps.Keys(r.counts)) {
		fmt.Fprintf(&b, ", %s %d", name, r.counts[name])
	}
	return b.String()
}

// total returns the number of problems.
func (r *report) total() int {
	n := 0
	for _, times := range r.seen {
		n += times
	}
	return n
}

// print prints the result after the load has ended. It returns an error if there were
// problems.
func (r *report) print() error {
	if r.peak > r.o.memory {
		r.problem("the server used %d MB, limit %d MB", r.peak, r.o.memory)
	}
	if r.counts["revocations"] == 0 || r.counts["acknowledged"] == 0 || r.counts["kills"] == 0 {
		r.problem("the run was too short: it needs at least one revocation, one ingest and one kill")
	}
	fmt.Println(r.line())
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.problems) == 0 {
		fmt.Println("no problems found")
		return nil
	}
	for _, p := range r.problems {
		fmt.Println("PROBLEM", p)
	}
	if more := r.total() - len(r.problems); more > 0 {
		fmt.Printf("PROBLEM and %d more like these\n", more)
	}
	return errors.New("there were problems")
}
