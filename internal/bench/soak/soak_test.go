package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A run fails exactly if there was a problem.
func TestVerdict(t *testing.T) {
	passing := func() *report {
		r := newReport(options{memory: 512, revoke: 2 * time.Second})
		r.memory(400)
		r.revocation(time.Second)
		r.count("acknowledged")
		r.count("kills")
		return r
	}
	if err := passing().print(); err != nil {
		t.Errorf("a run without problems: %v", err)
	}
	for name, damage := range map[string]func(*report){
		"memory":     func(r *report) { r.memory(513) },
		"revocation": func(r *report) { r.revocation(3 * time.Second) },
		"problem":    func(r *report) { r.problem("an answer is not JSON") },
		"no kill":    func(r *report) { delete(r.counts, "kills") },
	} {
		r := passing()
		damage(r)
		if r.print() == nil {
			t.Errorf("%s: the run did not fail", name)
		}
	}
}

// Each declaration indexes other fields than the one before.
func TestDeclarations(t *testing.T) {
	var w world
	for n := range 4 {
		text := w.declaration()
		if !json.Valid([]byte(text)) {
			t.Fatalf("declaration %d is not JSON", n)
		}
		if got := strings.Contains(text, `"body", "category"]`); got != (n%2 == 1) {
			t.Errorf("declaration %d searches categories: %v", n, got)
		}
	}
}
