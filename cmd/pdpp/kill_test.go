package main

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// A killed server restarts with everything that was committed: stored data and revoked
// grants.
func TestKilledServerKeepsCommits(t *testing.T) {
	dir := t.TempDir()
	pkg := makePackage(t, dir)
	for round := range 3 {
		p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0", "--rate-limit", "off")
		url := p.await(t, p.stderr, listening)
		var stop atomic.Bool
		var load sync.WaitGroup
		var answers atomic.Int64
		for range 4 {
			load.Go(func() {
				for i := 0; !stop.Load(); i++ {
					status, body := readHosted(url, pkg.Token, pkg.Members[i%4].Connection)
					if status == http.StatusOK && !json.Valid([]byte(body)) {
						t.Errorf("a truncated answer: %.300q", body)
					}
					answers.Add(1)
				}
			})
		}
		for answers.Load() < 50 {
			time.Sleep(time.Millisecond)
		}
		// The server is killed right after a grant was revoked.
		run(t, "--data", dir, "grants", "revoke", pkg.Members[round].Grant)
		p.kill(t)
		stop.Store(true)
		load.Wait()

		p = start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0")
		url = p.await(t, p.stderr, listening)
		for i, m := range pkg.Members {
			status, body := readHosted(url, pkg.Token, m.Connection)
			isThere, isRevoked := strings.Contains(body, "Bread"), strings.Contains(body, `"grant_revoked"`)
			if status != http.StatusOK || isThere != (i > round) || isRevoked == isThere {
				t.Errorf("round %d, member %d: %d %.600s", round, i, status, body)
			}
		}
		p.kill(t)
	}
}

// kill kills a process.
func (p *process) kill(t *testing.T) {
	t.Helper()
	if err := p.cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	<-p.done
}

// makePackage stores the same entries in four connections and creates a package with a
// grant for each.
func makePackage(t *testing.T, dir string) (pkg savedPackage) {
	t.Helper()
	args := []string{"--data", dir, "packages", "create", "--client", "hosted", "--json"}
	for i := range 4 {
		name := fmt.Sprint("giro", i)
		run(t, "--data", dir, "ingest", "--manifest", shared("manifest.json"), "--connection", name, shared("entries.jsonl"))
		spec := filepath.Join(t.TempDir(), "spec.json")
		text := `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","connections":["` + name + `"]}]}`
		if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		var g struct {
			GrantID string `json:"grant_id"`
		}
		if err := json.Unmarshal([]byte(run(t, "--data", dir, "grants", "create", "--client", "hosted", "--spec", spec, "--no-token", "--json")), &g); err != nil {
			t.Fatal(err)
		}
		args = append(args, "--grant", g.GrantID)
	}
	if err := json.Unmarshal([]byte(run(t, args...)), &pkg); err != nil || len(pkg.Members) != 4 {
		t.Fatalf("%+v, %v", pkg, err)
	}
	return pkg
}

// readHosted reads entries through the hosted endpoint. The status is 0 without an answer.
func readHosted(url, token, connection string) (status int, body string) {
	call := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries","connection_id":"` + connection + `"}}}`
	req, err := http.NewRequest(http.MethodPost, url+"/mcp", strings.NewReader(call))
	if err != nil {
		return 0, err.Error()
	}
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err.Error()
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(res.Body)
	if err != nil {
		return 0, err.Error()
	}
	return res.StatusCode, string(raw)
}
