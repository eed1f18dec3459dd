package main

import (
	"encoding/json"
	"strings"
	"testing"
	"time"
)

// A run fails exactly when a promise was broken.
func TestVerdict(t *testing.T) {
	good := func() *report {
		r := newReport(options{memory: 512, revoke: 2 * time.Second})
		r.memory(400)
		r.withdrawal(time.Second)
		r.count("acknowledged")
		r.count("kills")
		return r
	}
	if err := good().print(); err != nil {
		t.Errorf("a run without problems: %v", err)
	}
	for name, spoil := range map[string]func(*report){
		"memory":     func(r *report) { r.memory(513) },
		"withdrawal": func(r *report) { r.withdrawal(3 * time.Second) },
		"broken":     func(r *report) { r.broken("an answer is no JSON") },
		"no kill":    func(r *report) { delete(r.counts, "kills") },
	} {
		r := good()
		spoil(r)
		if r.print() == nil {
			t.Errorf("%s: the run did not fail", name)
		}
	}
}

// Each declaration differs from the one before in what is indexed.
func TestDeclarations(t *testing.T) {
	var w world
	for n := range 4 {
		text := w.declaration()
		if !json.Valid([]byte(text)) {
			t.Fatalf("declaration %d is no JSON", n)
		}
		if got := strings.Contains(text, `"body", "category"]`); got != (n%2 == 1) {
			t.Errorf("declaration %d searches categories: %v", n, got)
		}
	}
}
