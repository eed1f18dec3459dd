package main

import (
	"fmt"
	"net"
	"regexp"
	"strings"
	"testing"

	"pdpp/internal/npmtest"
)

// authorizationRun is the result of the suite's part about authorization servers.
type authorizationRun struct {
	scenarios []string
	checks    map[string][]check
}

// runAuthorization runs that part against pdpp serve. The suite plays the pre-registered
// client; the owner approves its request.
func runAuthorization(t *testing.T, dir npmtest.Folder) *authorizationRun {
	t.Helper()
	h := newHost(t, dir)
	_, port, err := net.SplitHostPort(freeAddr(t))
	if err != nil {
		t.Fatal(err)
	}
	run := &authorizationRun{scenarios: authorizationScenarios(t, dir)}
	out := t.TempDir()
	p := h.start(t, dir.Bin("node"), dir.Bin("conformance"), "authorization", "--url", h.url, "--client-id", "pdpp_cli", "--resource", h.url+"/mcp", "--port", port, "-o", out)
	h.approve(t, p, p.stdout)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d:\n%s\n%s", code, p.stdout, p.stderr)
	}
	run.checks = readChecks(t, out, "authorization-server-", run.scenarios)
	for _, name := range run.scenarios {
		if len(run.checks[name]) == 0 {
			t.Errorf("%s has no result", name)
		}
		for _, c := range run.checks[name] {
			if c.Status != "SUCCESS" {
				t.Errorf("%s: the check %s is %s: %s", name, c.ID, c.Status, c.ErrorMessage)
			}
		}
	}
	return run
}

// authorizationScenarios returns the scenarios that the suite has for authorization servers.
func authorizationScenarios(t *testing.T, dir npmtest.Folder) (names []string) {
	t.Helper()
	out, _ := dir.Run(t, nil, dir.Bin("conformance"), "list")
	_, list, _ := strings.Cut(string(out), "Authorization server scenarios")
	for _, m := range regexp.MustCompile(`(?m)^  - (\S+) \[`).FindAllStringSubmatch(list, -1) {
		names = append(names, m[1])
	}
	if len(names) == 0 {
		t.Fatalf("no scenarios in\n%s", out)
	}
	return names
}

const authorizationHead = `
## Authorization server

The scenarios of the suite for authorization servers, against the program; the suite signs in as the client ` + "`pdpp_cli`" + `, and the test approves as the owner.
Its other scenarios about authorization test clients. It has no scenario about the authorization of a server's endpoint.

| scenario | program |
|---|---|
`

// document returns the part of docs/conformance.md. All checks have passed.
func (r *authorizationRun) document() string {
	var b strings.Builder
	b.WriteString(authorizationHead)
	for _, name := range r.scenarios {
		fmt.Fprintf(&b, "| %s | pass (%d) |\n", name, len(r.checks[name]))
	}
	return b.String()
}
