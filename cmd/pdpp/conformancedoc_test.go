package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite docs/conformance.md")

// checkDocument compares docs/conformance.md with what the suite found.
func checkDocument(t *testing.T, version string, runs []*suiteRun) {
	t.Helper()
	file, got := filepath.Join("..", "..", "docs", "conformance.md"), document(version, runs)
	if *update {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(old), got); diff != "" {
		t.Errorf("docs/conformance.md is not current; run go test ./cmd/pdpp -run Conformance -update (-file +suite):\n%s", diff)
	}
}

const documentHead = `# Conformance

<!-- Made by: go test ./cmd/pdpp -run Conformance -update -->

What the official conformance suite of the Model Context Protocol, ` + "`@modelcontextprotocol/conformance`" + ` %s, finds at ` + "`/mcp`" + `.
The tests run it wherever npm can install it, against two builds:

- **program**: ` + "`pdpp serve`" + ` as it is. Most scenarios call tools, resources or prompts of the suite by name, which it does not have.
- **fixtures**: the same endpoint with all of its checks, and behind it, in place of our surface, a server of the official Go SDK that has them.
  It answers in JSON as the endpoint does, and with a stream where a fixture sends notifications.

The suite sends no token; a proxy adds one. A scenario passes when it checks something and finds no fault, recommendations included.
The number beside it is how many checks succeeded. Whatever a scenario is about, all messages must follow the schema of the protocol.

| revision | build | required: pass | not applicable | not required: pass | not applicable |
|---|---|---|---|---|---|
`

func document(version string, runs []*suiteRun) string {
	var b strings.Builder
	fmt.Fprintf(&b, documentHead, version)
	for _, r := range runs {
		required, others := r.count(r.scenarios[:r.required]), r.count(r.scenarios[r.required:])
		fmt.Fprintf(&b, "| %s | %s | %d | %d | %d | %d |\n", r.revision, r.build,
			required, r.required-required, others, len(r.scenarios)-r.required-others)
	}
	for i := 0; i < len(runs); i += 2 { // both builds of a revision
		r := runs[i]
		fmt.Fprintf(&b, "\n## %s\n\n| scenario | %s | %s |\n|---|---|---|\n", r.revision, r.build, runs[i+1].build)
		for j, name := range r.scenarios {
			note := ""
			if j >= r.required {
				note = " (not required)"
			}
			fmt.Fprintf(&b, "| %s%s | %s | %s |\n", name, note, r.verdict(name), runs[i+1].verdict(name))
		}
	}
	return b.String()
}

// counts reports a scenario that is counted as passed.
func (r *suiteRun) counts(name string) bool { return r.passes(name) && !r.isVacuous(name) }

func (r *suiteRun) count(names []string) (n int) {
	for _, name := range names {
		if r.counts(name) {
			n++
		}
	}
	return n
}

// verdict is the cell of a scenario.
func (r *suiteRun) verdict(name string) string {
	if e := r.excepted(name); e != nil {
		return "not applicable: " + e.because
	}
	if r.isVacuous(name) {
		return "not applicable: " + noFixtures
	}
	text := fmt.Sprintf("pass (%d)", r.successes(name))
	for _, c := range r.checks[name] {
		if e := r.excepted(name + ":" + c.ID); e != nil {
			text += fmt.Sprintf(";<br>without `%s`: %s", c.ID, e.because)
		}
	}
	return text
}
