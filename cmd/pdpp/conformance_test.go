package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcphttp"
	"pdpp/internal/mcpserve"
	"pdpp/internal/npmtest"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/server"
)

// The builds that the official conformance suite tests.
const (
	program  = "program"  // pdpp serve
	fixtures = "fixtures" // the same endpoint with the tools, resources and prompts that the suite expects
)

// exception is a scenario, or one check of a scenario, that a build cannot pass. A test
// fails if it passes.
type exception struct {
	build    string
	revision string // "" for all
	what     string // scenario or scenario:check, as patterns of path.Match
	because  string
}

// vacuous are scenarios that the program passes without meaning: they accept any error, and
// the program has none of the suite's tools.
var vacuous = []string{"input-required-result-validate-input"}

const (
	noRequests = "a stateless server sends no requests to the client"
	noSessions = "a stateless server has no sessions"
	noStreams  = "about streams of a session; " + noSessions
	noTasks    = "an optional extension that is not offered"
	noFixtures = "needs the fixtures"
	noFeature  = "not part of the surface"
)

var exceptions = []exception{
	{fixtures, "", "tasks-*", noTasks},
	{fixtures, "2025-11-25", "tools-call-sampling", noRequests},
	{fixtures, "2025-11-25", "tools-call-elicitation", noRequests},
	{fixtures, "2025-11-25", "elicitation-*", noRequests},
	{fixtures, "2025-11-25", "server-session-lifecycle", noSessions},
	{fixtures, "2025-11-25", "server-sse-*", noStreams},

	{program, "", "tasks-*", noTasks},
	{program, "", "tools-call-*", noFixtures},
	{program, "", "json-schema-2020-12", noFixtures},
	{program, "", "resources-read-*", noFixtures},
	{program, "", "resources-templates-read", noFixtures},
	{program, "", "prompts-*", noFeature},
	{program, "", "completion-complete", noFeature},
	{program, "2026-07-28", "input-required-result-basic-*", noFixtures},
	{program, "2026-07-28", "input-required-result-m*", noFixtures},
	{program, "2026-07-28", "input-required-result-re*", noFixtures},
	{program, "2026-07-28", "input-required-result-non-tool-request", noFeature},
	{program, "2026-07-28", "input-required-result-tampered-state", noFixtures},
	{program, "2026-07-28", "input-required-result-capability-check", noFixtures},
	{program, "2026-07-28", "input-required-result-ignore-extra-params", noFixtures},
	{program, "2026-07-28", "http-custom-header-server-validation", "no argument of a tool is mirrored into a header"},
	{program, "2026-07-28", "server-stateless:sep-2575-server-rejects-undeclared-capability", noFixtures},
	{program, "2026-07-28", "server-stateless:sep-2575-missing-capability-http-400", noFixtures},
	{program, "2026-07-28", "server-stateless:sep-2575-http-server-no-independent-requests-on-stream", noFixtures},
	{program, "2026-07-28", "server-stateless:sep-2575-server-no-log-without-loglevel", noFixtures},
	{program, "2026-07-28", "caching:sep-2549-prompts-list-caching-hints", noFeature},
	{program, "2025-11-25", "logging-set-level", noFeature},
	{program, "2025-11-25", "resources-*subscribe", noFeature},
	{program, "2025-11-25", "elicitation-*", noFixtures},
	{program, "2025-11-25", "server-session-lifecycle", noSessions},
	{program, "2025-11-25", "server-sse-*", noStreams},
}

// check is a result of the suite.
type check struct{ ID, Status, ErrorMessage string }

// wireCheck is part of every scenario: all messages must match the schema of the protocol.
const wireCheck = "wire-schema-valid"

// isFault reports whether a check failed, including checks of recommendations.
func (c check) isFault() bool { return c.Status == "FAILURE" || c.Status == "WARNING" }

// suiteRun is the result of the suite for one build and one revision.
type suiteRun struct {
	build, revision string
	scenarios       []string // in the suite's order, required ones first
	required        int      // number of required ones
	checks          map[string][]check
}

// TestConformance runs the official conformance suite (H-60).
func TestConformance(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	needSignals(t)
	dir := npmtest.Install(t)
	targets := map[string]string{program: serveProgram(t), fixtures: serveFixtures(t)}
	var runs []*suiteRun
	for _, revision := range []string{"2026-07-28", "2025-11-25"} {
		for _, build := range []string{fixtures, program} {
			t.Run("H-60 "+build+" "+revision, func(t *testing.T) {
				run := runSuite(t, dir, targets[build], revision)
				run.build = build
				run.compare(t)
				runs = append(runs, run)
			})
		}
	}
	var authorization *authorizationRun
	t.Run("H-132 authorization server", func(t *testing.T) { authorization = runAuthorization(t, dir) })
	if len(runs) == 4 && !t.Failed() {
		checkDocument(t, suiteVersion(t, dir), runs, authorization)
	}
}

// serveProgram runs pdpp serve on a few records and returns the URL of its endpoint.
func serveProgram(t *testing.T) string {
	t.Helper()
	dir, token := storeEntries(t)
	p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0", "--rate-limit", "off") // the suite exceeds the default limit
	return withBearer(t, p.await(t, p.stderr, listening), token)
}

// serveFixtures serves the endpoint with the suite's fixtures behind it, and returns its
// URL.
func serveFixtures(t *testing.T) string {
	t.Helper()
	w := resttest.New(t)
	manifest, err := os.ReadFile(filepath.Join("testdata", "shared", "manifest.json"))
	if err != nil {
		t.Fatal(err)
	}
	w.Manifest(string(manifest))
	w.Connect("ledgerly", "cin_giro", "giro")
	token, _ := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"*"}]}`)
	w.Server.MCP = func(s *server.Server) http.Handler {
		return withFixtures(t, mcphttp.New(mcphttp.Config{
			Auth: s.Auth, Limiter: s.Limiter, Transport: mcphttp.InMemory(s.Inside()), Edge: s.Edge, Cursors: s.Cursors, Version: "test", Log: slog.New(slog.DiscardHandler), Clock: w.Now,
		}))
	}
	return withBearer(t, w.Serve(), token)
}

// withFixtures sends each request to the endpoint first. What the endpoint refuses is
// answered with the refusal; all else is answered by the fixtures.
func withFixtures(t *testing.T, endpoint http.Handler) http.Handler {
	suite := newFixtures()
	handler := func(inJSON bool) http.Handler {
		return sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return suite }, &sdk.StreamableHTTPOptions{Stateless: true, JSONResponse: inJSON})
	}
	plain, stream := handler(true), handler(false)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		if err != nil {
			t.Error(err)
		}
		again := func() *http.Request {
			r := r.Clone(r.Context())
			r.Body = io.NopCloser(bytes.NewReader(body))
			return r
		}
		answer := httptest.NewRecorder()
		endpoint.ServeHTTP(answer, again())
		if isRefusal(answer) {
			maps.Copy(w.Header(), answer.Header())
			w.WriteHeader(answer.Code)
			_, _ = w.Write(answer.Body.Bytes())
			return
		}
		var m struct {
			Method string
			Params struct{ Name string }
		}
		_ = json.Unmarshal(body, &m) // a batch has neither
		next := plain
		if needsStream(m.Params.Name) || m.Method == "subscriptions/listen" {
			next = stream
		}
		r = again()
		r.Header.Set("Accept", "application/json, text/event-stream")
		next.ServeHTTP(w, r)
	})
}

// isRefusal reports whether the checks of the endpoint refused a request. An unknown
// method, tool or resource is not a refusal: the surface does not have it, the fixtures
// may.
func isRefusal(answer *httptest.ResponseRecorder) bool {
	var m struct{ Error struct{ Code int } }
	_ = json.Unmarshal(answer.Body.Bytes(), &m) // refusals of HTTP have no code
	switch m.Error.Code {
	case mcpserve.CodeMethod, mcpserve.CodeParams, mcpserve.CodeNotFound:
		return false
	}
	return answer.Code >= http.StatusBadRequest
}

// withBearer starts a proxy that adds the token, because the suite sends none, and changes
// nothing else. It returns the URL of the endpoint.
//
// The proxy reads the body first. Otherwise it sometimes still reads the body when the
// answer starts, fails, and truncates the answer.
func withBearer(t *testing.T, target, token string) string {
	t.Helper()
	to, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	proxy := httptest.NewServer(&httputil.ReverseProxy{
		FlushInterval: -1,
		ErrorLog:      log.New(io.Discard, "", 0), // the suite closes streams before their end
		Rewrite: func(r *httputil.ProxyRequest) {
			r.SetURL(to)
			r.Out.Host = r.In.Host
			r.Out.Header.Set("Authorization", "Bearer "+token)
			body, err := io.ReadAll(r.In.Body)
			if err != nil {
				return // the suite closed the connection
			}
			r.Out.Body, r.Out.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		},
	})
	t.Cleanup(proxy.Close)
	return proxy.URL + "/mcp"
}

// runSuite runs the required scenarios of a revision and the optional ones of the suite.
func runSuite(t *testing.T, dir npmtest.Folder, target, revision string) *suiteRun {
	t.Helper()
	run := &suiteRun{revision: revision}
	run.list(t, dir)
	out := t.TempDir()
	cmd := dir.Command(t, dir.Bin("conformance"), "server", "--url", target, "--requirements", revision, "-o", out)
	text, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) { // it also exits with 1 for exceptions
		t.Fatal(err)
	}
	run.checks = readChecks(t, out, "server-", run.scenarios)
	if len(run.checks) != len(run.scenarios) {
		t.Fatalf("%d of %d scenarios have a result:\n%s", len(run.checks), len(run.scenarios), text)
	}
	return run
}

// readChecks reads the results of scenarios, which the suite wrote into one folder each.
func readChecks(t *testing.T, out, prefix string, scenarios []string) map[string][]check {
	t.Helper()
	found := map[string][]check{}
	folder := regexp.MustCompile(`^` + prefix + `(.+)-\d{4}-\d\d-\d\dT[^/]*$`)
	entries, err := os.ReadDir(out)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		m := folder.FindStringSubmatch(e.Name())
		raw, err := os.ReadFile(filepath.Join(out, e.Name(), "checks.json"))
		var checks []check
		if err == nil {
			err = json.Unmarshal(raw, &checks)
		}
		if err != nil || m == nil || !slices.Contains(scenarios, m[1]) {
			t.Fatalf("%s is not an expected result: %v", e.Name(), err)
		}
		found[m[1]] = checks
	}
	return found
}

func suiteVersion(t *testing.T, dir npmtest.Folder) string {
	t.Helper()
	out, _ := dir.Run(t, nil, dir.Bin("conformance"), "--version")
	return strings.TrimSpace(string(out))
}

// list returns the scenarios of the revision from the suite.
func (r *suiteRun) list(t *testing.T, dir npmtest.Folder) {
	t.Helper()
	out, _ := dir.Run(t, nil, dir.Bin("conformance"), "list", "--requirements", r.revision)
	servers, clients, _ := strings.Cut(string(out), "Client scenarios")
	for _, m := range regexp.MustCompile(`(?m)^  - (\S+)$`).FindAllStringSubmatch(servers, -1) {
		r.scenarios = append(r.scenarios, m[1])
	}
	r.required = len(r.scenarios)
	for _, m := range regexp.MustCompile(`(?m)^    - (\S+) \[server\]$`).FindAllStringSubmatch(clients, -1) {
		r.scenarios = append(r.scenarios, m[1])
	}
	if r.required == 0 {
		t.Fatalf("no scenarios in\n%s", out)
	}
}

// compare compares the results of the suite with the exceptions.
func (r *suiteRun) compare(t *testing.T) {
	t.Helper()
	used := map[string]bool{}
	for _, name := range r.scenarios {
		e, passes := r.excepted(name), r.passes(name)
		if e != nil {
			used[e.what] = true
		}
		switch {
		case r.isVacuous(name):
		case e != nil && passes:
			t.Errorf("%s passes, and is listed as an exception: %s", name, e.because)
		case e == nil && !passes:
			t.Errorf("%s does not pass:\n%s", name, strings.Join(r.faults(name), "\n"))
		}
		for _, c := range r.checks[name] {
			ce := r.excepted(name + ":" + c.ID)
			if ce != nil {
				used[ce.what] = true
			}
			if ce != nil && !c.isFault() || c.ID == wireCheck && c.isFault() {
				t.Errorf("%s: the check %s is %s: %s", name, c.ID, c.Status, c.ErrorMessage)
			}
		}
	}
	for _, e := range exceptions {
		if e.build == r.build && e.revision == r.revision && !used[e.what] {
			t.Errorf("the exception %s is not in the suite", e.what)
		}
	}
}

// excepted finds the exception for a scenario, or for scenario:check.
func (r *suiteRun) excepted(what string) *exception {
	for i, e := range exceptions {
		ok, err := path.Match(e.what, what)
		if err != nil {
			panic(err) // an invalid pattern in the table
		}
		if ok && e.build == r.build && (e.revision == "" || e.revision == r.revision) && strings.Contains(e.what, ":") == strings.Contains(what, ":") {
			return &exceptions[i]
		}
	}
	return nil
}

// passes reports whether a scenario tested something and found no faults except exceptions.
func (r *suiteRun) passes(name string) bool { return r.successes(name) > 0 && len(r.faults(name)) == 0 }

func (r *suiteRun) isVacuous(name string) bool {
	return r.build == program && slices.Contains(vacuous, name)
}

// successes counts the passed checks of a scenario, without wireCheck.
func (r *suiteRun) successes(name string) (n int) {
	for _, c := range r.checks[name] {
		if c.Status == "SUCCESS" && c.ID != wireCheck {
			n++
		}
	}
	return n
}

func (r *suiteRun) faults(name string) (list []string) {
	for _, c := range r.checks[name] {
		if c.isFault() && r.excepted(name+":"+c.ID) == nil {
			list = append(list, fmt.Sprintf("%s %s: %s", c.Status, c.ID, c.ErrorMessage))
		}
	}
	return list
}
