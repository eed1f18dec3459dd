package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcptest"
)

// twoSources is a running server with two connectors.
type twoSources struct {
	t               *testing.T
	dir, cache, url string
}

// savedPackage is the answer of `packages create`.
type savedPackage struct {
	ID      string `json:"package_id"`
	Token   string `json:"access_token"`
	Members []struct {
		Grant      string `json:"grant_id"`
		Connection string `json:"connection_id"`
	}
}

func serveTwoSources(t *testing.T) *twoSources {
	t.Helper()
	w := &twoSources{t: t, dir: t.TempDir(), cache: filepath.Join(t.TempDir(), "cache")}
	w.run("ingest", "--manifest", shared("manifest.json"), "--connection", "giro", "--label", "Joint account", shared("entries.jsonl"))
	w.run("ingest", "--manifest", shared("jotter.json"), "--connection", "pad", shared("notes.jsonl"))
	p := start(t, "--data", w.dir, "serve", "--listen", "127.0.0.1:0")
	w.url = p.await(t, p.stderr, listening)
	return w
}

func (w *twoSources) run(args ...string) string {
	w.t.Helper()
	return run(w.t, append([]string{"--data", w.dir}, args...)...)
}

// save creates a package with a grant for each source and for each further spec, and saves
// its credential.
func (w *twoSources) save(more ...string) (p savedPackage) {
	w.t.Helper()
	args := []string{"packages", "create", "--client", "Digest", "--audience", "mcp,rest", "--save-credential", w.url, "--cache-root", w.cache, "--json"}
	for _, spec := range append([]string{shared("spec.json"), shared("jotter_spec.json")}, more...) {
		out := w.run("grants", "create", "--client", "Digest", "--spec", spec, "--no-token", "--json")
		args = append(args, "--grant", regexp.MustCompile(`grt_[0-9a-f]+`).FindString(out))
	}
	if err := json.Unmarshal([]byte(w.run(args...)), &p); err != nil {
		w.t.Fatal(err)
	}
	return p
}

// hosted starts a session at the endpoint of the server.
func (w *twoSources) hosted(token string) *sdk.ClientSession {
	w.t.Helper()
	return mcptest.HTTP(w.t, "", w.url+"/mcp", token)
}

// result returns an answer with placeholders for the ids of requests and for cursors.
func result(t *testing.T, session *sdk.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: tool, Arguments: args})
	if err != nil {
		t.Fatalf("%s: %v", tool, err)
	}
	raw, err := json.MarshalIndent([]any{res.IsError, res.Content, res.StructuredContent}, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	text := regexp.MustCompile(`req_[0-9a-f]+`).ReplaceAllString(string(raw), "req_")
	return regexp.MustCompile(`ps1\.[A-Za-z0-9._-]+`).ReplaceAllString(text, "ps1.")
}

// A package has the same answers over stdio as at the hosted endpoint.
func TestPackageAnswersAlike(t *testing.T) {
	w := serveTwoSources(t)
	p := w.save()
	local, _ := assistant(t, "2025-11-25", w.url, w.cache)
	hosted := w.hosted(p.Token)
	giro, pad := p.Members[0].Connection, p.Members[1].Connection
	for _, test := range []struct {
		name, tool string
		args       map[string]any
		want       string
	}{
		{"HOSTED-2 schema of all", "schema", nil, "Joint account"},
		{"HOSTED-2 schema of a stream", "schema", map[string]any{"stream": "notes"}, "written_at"},
		{"HOSTED-2 full schema", "schema", map[string]any{"stream": "entries", "detail": "full"}, "posted_at"},
		{"HOSTED-2 schema of a stream outside", "schema", map[string]any{"stream": "balances"}, "grant_stream_not_allowed"},
		{"HOSTED-2 search", "search", map[string]any{"q": "bread"}, "Bread without kneading"},
		{"HOSTED-2 search by pages", "search", map[string]any{"q": "bread", "limit": 1}, "ps1."},
		{"HOSTED-2 search of one source", "search", map[string]any{"q": "bread", "connection_id": pad}, "Bread without kneading"},
		{"HOSTED-2 records of one source", "query_records", map[string]any{"stream": "entries", "connection_id": giro}, "Bread"},
		{"HOSTED-2 records of the wrong source", "query_records", map[string]any{"stream": "entries", "connection_id": pad}, "grant_stream_not_allowed"},
		{"PKG-4 the only source of a stream", "query_records", map[string]any{"stream": "entries"}, giro},
		{"AMBIG-1 a stream of no source", "query_records", map[string]any{"stream": "letters"}, "grant_stream_not_allowed"},
		{"HOSTED-2 unknown source", "query_records", map[string]any{"stream": "entries", "connection_id": "cin_other"}, "connection_not_found"},
		{"HOSTED-2 numbers", "aggregate", map[string]any{"stream": "notes", "metric": "count", "connection_id": pad}, `"value": 2`},
	} {
		t.Run(test.name, func(t *testing.T) {
			got := alike(t, local, hosted, test.tool, test.args)
			if !strings.Contains(got, test.want) {
				t.Errorf("no %q in %s", test.want, got)
			}
			for _, hidden := range []string{"S3CRET", "D1ARY", "secret_note", "diary", "pdpp_at_", "pdpp_pt_"} {
				if strings.Contains(got, hidden) {
					t.Errorf("%q is in %s", hidden, got)
				}
			}
		})
	}
}

// alike returns the answer to a call after it checked that stdio and the hosted endpoint
// have the same answer.
func alike(t *testing.T, local, hosted *sdk.ClientSession, tool string, args map[string]any) string {
	t.Helper()
	got, want := result(t, local, tool, args), result(t, hosted, tool, args)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("hosted and local differ (-hosted +local):\n%s", diff)
	}
	return got
}

// With two accounts of one connector, a read of their stream names both as choices, and
// the schema has them in one block.
func TestPackageOfAccounts(t *testing.T) {
	w := serveTwoSources(t)
	w.run("ingest", "--connection", "savings", "--label", "Savings", "--manifest", shared("manifest.json"), shared("entries.jsonl"))
	spec := filepath.Join(t.TempDir(), "savings.json")
	text := `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["memo","posted_at"],"connections":["savings"]}]}`
	if err := os.WriteFile(spec, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	p := w.save(spec)
	local, _ := assistant(t, "2025-11-25", w.url, w.cache)
	hosted := w.hosted(p.Token)
	giro, pad, savings := p.Members[0].Connection, p.Members[1].Connection, p.Members[2].Connection
	t.Run("AMBIG-1 only the sources with the stream are choices, over stdio as hosted", func(t *testing.T) {
		got := alike(t, local, hosted, "query_records", map[string]any{"stream": "entries"})
		if !strings.Contains(got, "ambiguous_connection") || !strings.Contains(got, giro) || !strings.Contains(got, savings) || strings.Contains(got, pad) {
			t.Errorf("%s", got)
		}
	})
	t.Run("PKG-4 the only source of a stream is read, over stdio as hosted", func(t *testing.T) {
		if got := alike(t, local, hosted, "query_records", map[string]any{"stream": "notes"}); !strings.Contains(got, "kneading") {
			t.Errorf("%s", got)
		}
	})
	t.Run("DISC-7 accounts of one connector are one block, over stdio as hosted", func(t *testing.T) {
		got := alike(t, local, hosted, "schema", nil)
		if !strings.Contains(got, `"connector_count": 2`) || strings.Count(got, `"connector_key": "ledgerly"`) != 1 {
			t.Errorf("%s", got)
		}
	})
}

// The handles of a search can be fetched from both sources, and its pages contain every hit
// once.
func TestPackagePagesAndHandles(t *testing.T) {
	w := serveTwoSources(t)
	w.save()
	session, _ := assistant(t, "2026-07-28", w.url, w.cache)
	var ids []string
	args := map[string]any{"q": "bread", "limit": 1}
	for range 4 {
		res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "search", Arguments: args})
		if err != nil || res.IsError {
			t.Fatalf("search: %+v, %v", res, err)
		}
		var page struct {
			Results []struct{ ID string }
			Data    struct {
				Next string `json:"next_cursor"`
			}
		}
		raw, _ := json.Marshal(res.StructuredContent)
		if err := json.Unmarshal(raw, &page); err != nil {
			t.Fatal(err)
		}
		for _, hit := range page.Results {
			text, failed := callText(t, session, "fetch", map[string]any{"id": hit.ID})
			if failed || !strings.Contains(strings.ToLower(text), "bread") {
				t.Errorf("MS-220 fetch %s: %s", hit.ID, text)
			}
			ids = append(ids, hit.ID)
		}
		if page.Data.Next == "" {
			break
		}
		args["cursor"] = page.Data.Next
	}
	slices.Sort(ids)
	if len(ids) != 3 || len(slices.Compact(ids)) != 3 {
		t.Errorf("PKG-1 hits over all pages: %q", ids)
	}
}

// When one source is revoked while the adapter runs, the others continue. When all are
// revoked, the answer has advice, and a newly saved package is used without a restart
// (MS-267).
func TestPackageLosesMembers(t *testing.T) {
	w := serveTwoSources(t)
	p := w.save()
	session, _ := assistant(t, "2025-11-25", w.url, w.cache)
	bread := map[string]any{"q": "bread"}
	if text, failed := callText(t, session, "search", bread); failed || !strings.Contains(text, "Joint account") || !strings.Contains(text, "kneading") {
		t.Fatalf("before: %s", text)
	}
	w.run("grants", "revoke", p.Members[0].Grant)
	text, failed := callText(t, session, "search", bread)
	if failed || !strings.Contains(text, "kneading") || !strings.Contains(text, `error="grant_revoked"`) || strings.Contains(text, "Joint account") {
		t.Errorf("MS-226 after the end of one: %s", text)
	}
	text, failed = callText(t, session, "query_records", map[string]any{"stream": "letters"})
	if !failed || !strings.Contains(text, "grant_stream_not_allowed") || !strings.Contains(text, "unavailable") {
		t.Errorf("MS-222 a stream of none after the end of one: %s", text)
	}
	text, failed = callText(t, session, "query_records", map[string]any{"stream": "entries", "connection_id": p.Members[0].Connection})
	if !failed || !strings.Contains(text, "grant_revoked") || !strings.Contains(text, "run: pdpp ") {
		t.Errorf("MS-222 reading the one that ended: %s", text)
	}
	text, failed = callText(t, session, "query_records", map[string]any{"stream": "notes", "connection_id": p.Members[1].Connection})
	if failed || !strings.Contains(text, "kneading") {
		t.Errorf("H-84 reading the other: %s", text)
	}
	w.run("packages", "revoke", p.ID)
	if text, failed = callText(t, session, "search", bread); !failed || !strings.Contains(text, "grant_revoked") {
		t.Errorf("MS-267 after the end of all: %s", text)
	}
	w.save()
	if text, failed = callText(t, session, "search", bread); failed || !strings.Contains(text, "kneading") || strings.Contains(text, "grant_revoked") {
		t.Errorf("MS-267 after a new package: %s", text)
	}
	w.run("grants", "create", "--client", "Digest", "--spec", shared("spec.json"), "--save-credential", w.url, "--cache-root", w.cache)
	// The adapter keeps a credential as long as it is valid.
	if text, failed = callText(t, session, "search", bread); failed || !strings.Contains(text, "kneading") {
		t.Errorf("MS-267 while the package is valid: %s", text)
	}
}
