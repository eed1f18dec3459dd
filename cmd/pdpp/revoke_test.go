package main

import (
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// busyServer is a server that writes without pause until stop is called.
type busyServer struct {
	dir, url, token, connection string

	stopped atomic.Bool
	load    sync.WaitGroup
}

// send sends a request as the owner.
func (b *busyServer) send(t *testing.T, method, path, body string) {
	req, err := http.NewRequest(method, b.url+path, strings.NewReader(body))
	if err != nil {
		t.Error(err)
		return
	}
	req.Header = http.Header{"Authorization": {"Bearer " + b.token}, "Content-Type": {"application/x-ndjson"}}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Error(err)
		return
	}
	res.Body.Close()
	if res.StatusCode >= 300 && res.StatusCode != http.StatusServiceUnavailable {
		t.Errorf("%s %s: %d", method, path, res.StatusCode)
	}
}

// again repeats a step until the end. It returns after the step was done once.
func (b *busyServer) again(step func(round int)) {
	var first sync.WaitGroup
	first.Add(1)
	b.load.Go(func() {
		for i := 0; i == 0 || !b.stopped.Load(); i++ {
			step(i)
			if i == 0 {
				first.Done()
			}
		}
	})
	first.Wait()
}

func (b *busyServer) stop() {
	b.stopped.Store(true)
	b.load.Wait()
}

func manyEntries(from, n, round int) string {
	var out strings.Builder
	for i := range n {
		fmt.Fprintf(&out, `{"key":"e%d","data":{"id":"e%d","memo":"entry %d of round %d","posted_at":"2026-04-30T09:00:00Z"}}`+"\n", from+i, from+i, i, round)
	}
	return out.String()
}

// TestRevokedUnderLoad revokes a grant with a command while the server stores and deletes
// records without pause and another command keeps changing the manifest. The load ends
// only after the revocation.
func TestRevokedUnderLoad(t *testing.T) { // H-2, H-171
	b := &busyServer{dir: t.TempDir()}
	out := run(t, "--data", b.dir, "ingest", "--manifest", shared("manifest.json"), "--connection", "giro", "--json", shared("entries.jsonl"))
	b.connection = regexp.MustCompile(`cin_[a-z2-7]+`).FindString(out)
	b.token = regexp.MustCompile(`pdpp_ot_[\w-]+`).FindString(run(t, "--data", b.dir, "owner", "token", "create"))
	spec := filepath.Join(t.TempDir(), "spec.json")
	if err := os.WriteFile(spec, []byte(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"}]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	granted := run(t, "--data", b.dir, "grants", "create", "--client", "reader", "--spec", spec, "--json")
	grant := regexp.MustCompile(`grt_[\w-]+`).FindString(granted)
	client := regexp.MustCompile(`pdpp_at_[\w-]+`).FindString(granted)

	p := start(t, "--data", b.dir, "serve", "--listen", "127.0.0.1:0", "--rate-limit", "off")
	b.url = p.await(t, p.stderr, listening)
	ingest := "/v1/ingest/entries?connection_id=" + b.connection
	defer b.stop()
	for i := range 3 {
		b.again(func(round int) { b.send(t, "POST", ingest, manyEntries(i*1000, 1000, round)) })
	}
	b.again(func(int) { b.send(t, "DELETE", "/v1/streams/entries/records?connection_id="+b.connection, "") })
	b.again(func(round int) { b.declare(t, round) })

	if status := readStatus(t, b.url, client); status != http.StatusOK {
		t.Fatalf("before: %d", status)
	}
	run(t, "--data", b.dir, "grants", "revoke", grant)
	if status := readStatus(t, b.url, client); status != http.StatusForbidden && status != http.StatusUnauthorized {
		t.Errorf("the revoked grant is answered with %d", status)
	}
}

// declare changes the manifest so that all records are indexed again.
func (b *busyServer) declare(t *testing.T, round int) {
	text, err := os.ReadFile(shared("manifest.json"))
	if err != nil {
		t.Error(err)
		return
	}
	if round%2 == 0 {
		text = []byte(strings.Replace(string(text), `"lexical_fields": ["memo"`, `"lexical_fields": ["id", "memo"`, 1))
	}
	file := filepath.Join(b.dir, "declared.json")
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Error(err)
		return
	}
	empty := filepath.Join(b.dir, "empty.jsonl")
	if err := os.WriteFile(empty, nil, 0o600); err != nil {
		t.Error(err)
		return
	}
	if out, err := exec.Command("pdpp", "--data", b.dir, "ingest", "--manifest", file, "--connection", "giro", empty).CombinedOutput(); err != nil {
		t.Errorf("changing the manifest: %v\n%s", err, out)
	}
}

// readStatus reads a list as a client. It repeats the read while the server is busy.
func readStatus(t *testing.T, url, token string) int {
	t.Helper()
	for {
		req, err := http.NewRequest("GET", url+"/v1/streams/entries/records?limit=1", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		if res.StatusCode != http.StatusServiceUnavailable {
			return res.StatusCode
		}
		time.Sleep(10 * time.Millisecond)
	}
}
