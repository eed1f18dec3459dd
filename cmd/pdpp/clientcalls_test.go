package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pdpp/internal/npmtest"
)

// ledger is a small source behind `pdpp serve`, with a record whose number does not fit a
// float64, and a grant that the tests can revoke.
type ledger struct{ dir, url, grant, token, cache string }

func serveLedger(t *testing.T, flags ...string) ledger {
	t.Helper()
	l := ledger{dir: t.TempDir(), cache: filepath.Join(t.TempDir(), "cache")}
	stars := l.file(t, "stars.jsonl", `{"type":"RECORD","stream":"entries","key":"stars","data":{"id":"stars","memo":"Stars counted","amount":1e400,"posted_at":"2026-02-04T09:00:00Z"}}`)
	run(t, "--data", l.dir, "ingest", "--manifest", shared("manifest.json"), "--connection", "giro", stars)
	p := start(t, append([]string{"--data", l.dir, "serve", "--listen", "127.0.0.1:0"}, flags...)...)
	l.url = p.await(t, p.stderr, listening)
	spec := l.file(t, "spec.json", `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"}]}`)
	granted := run(t, "--data", l.dir, "grants", "create", "--client", "Digest", "--spec", spec, "--json", "--save-credential", l.url, "--cache-root", l.cache)
	l.grant = regexp.MustCompile(`grt_[\w-]+`).FindString(granted)
	l.token = regexp.MustCompile(`pdpp_at_[\w-]+`).FindString(granted)
	return l
}

func (l ledger) file(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// got is the result of a call as the user of a client sees it.
type got struct {
	Text, Thrown string
	Structured   json.RawMessage
	IsError      bool
}

// callsOf makes calls with an official TypeScript client (calls.mjs).
func callsOf(t *testing.T, clients npmtest.Folder, generation, revision, token, calls string, target ...string) (out []got) {
	t.Helper()
	script := clients.Script(t, "testdata/clients/calls.mjs")
	stdout, _ := clients.Run(t, []string{"TOKEN=" + token}, append([]string{script, generation, revision, calls}, target...)...)
	if err := json.Unmarshal(stdout, &out); err != nil {
		t.Fatalf("%v: %s", err, stdout)
	}
	return out
}

var typescript = []struct{ generation, revision string }{{"sdk", "2025-11-25"}, {"client", "2026-07-28"}}

// A record with a number beyond float64 reaches the official TypeScript clients, whose
// numbers are float64, over both transports and through every tool that shows it (MS-36).
func TestHugeNumberInRealClients(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	needSignals(t)
	clients := npmtest.Install(t)
	pdpp, err := exec.LookPath("pdpp")
	if err != nil {
		t.Fatal(err)
	}
	l := serveLedger(t)
	const calls = `[["query_records",{"stream":"entries"}],["fetch",{"id":"entries:stars"}],["search",{"q":"stars"}]]`
	for name, target := range map[string][]string{
		"CONT-2 stdio": {pdpp, "mcp", l.url, "--cache-root", l.cache}, "CONT-2 HTTP": {l.url + "/mcp"},
	} {
		for _, c := range typescript {
			t.Run(name+" "+c.generation+" "+c.revision, func(t *testing.T) {
				seen := callsOf(t, clients, c.generation, c.revision, l.token, calls, target...)
				for i, says := range []string{"amount=1e400", "amount: 1e400", "counted"} {
					if g := seen[i]; g.Thrown != "" || g.IsError || !strings.Contains(g.Text, says) {
						t.Errorf("call %d: thrown %q, no %q in %s", i, g.Thrown, says, g.Text)
					}
				}
				if records := string(seen[0].Structured); !strings.Contains(records, `"amount":"1e400"`) {
					t.Errorf("the structure has another number: %s", records)
				}
			})
		}
	}
}

// When the endpoint refuses a call, the user of the official TypeScript clients sees our
// message and when to try again (H-42, H-67).
func TestRefusedCallsInRealClients(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	needSignals(t)
	clients := npmtest.Install(t)
	const limit = 20 // requests; a client sends some before its first call
	calls := "[" + strings.TrimSuffix(strings.Repeat(`["schema",{}],`, limit), ",") + "]"
	for _, c := range typescript {
		t.Run("ERR-1 throttled "+c.generation, func(t *testing.T) {
			l := serveLedger(t, "--rate-limit", "20/m")
			seen := callsOf(t, clients, c.generation, c.revision, l.token, calls, l.url+"/mcp")
			last := seen[len(seen)-1].Thrown
			for _, part := range []string{"This token made too many requests. Try again in ", `"retry_after_s":`, "rate_limit_exceeded"} {
				if !strings.Contains(last, part) {
					t.Errorf("no %q in %q", part, last)
				}
			}
		})
	}
	// In a revision without a handshake the client itself treats a 401 as missing
	// authorization.
	for _, generation := range []string{"sdk", "client"} {
		t.Run("ERR-1 revoked "+generation, func(t *testing.T) {
			l := serveLedger(t)
			run(t, "--data", l.dir, "grants", "revoke", l.grant)
			seen := callsOf(t, clients, generation, "2025-11-25", l.token, "[]", l.url+"/mcp")
			if len(seen) != 1 || !strings.Contains(seen[0].Thrown, "The owner has revoked this grant.") || !strings.Contains(seen[0].Thrown, "Ask the owner of this data for a token.") {
				t.Errorf("%+v", seen)
			}
		})
	}
}
