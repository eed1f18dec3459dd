package main

import (
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"pdpp/internal/npmtest"
)

// tourEnd is the last line of the text. The tokens are last, so that they stay visible.
const tourEnd = `export OWNER_TOKEN=\S+\n\n$`

const earlier = "Tokens of an earlier start no longer work."

// shellStep is a command that the demo prints, and a part of its answer.
type shellStep struct{ command, answer string }

// readTour finds the lines to paste and the commands to try in the demo's text.
func readTour(t *testing.T, text string) (exports []string, steps []shellStep) {
	t.Helper()
	for line := range strings.Lines(text) {
		line, indented := strings.CutPrefix(strings.TrimSuffix(line, "\n"), "    ")
		switch {
		case !indented:
		case strings.HasPrefix(line, "export "):
			exports = append(exports, line)
		case strings.HasPrefix(line, "→ "):
			steps[len(steps)-1].answer = strings.TrimPrefix(line, "→ ")
		default:
			steps = append(steps, shellStep{command: line})
		}
	}
	if len(exports) != 3 || len(steps) < 15 {
		t.Fatalf("the demo prints %d lines to paste and %d commands:\n%s", len(exports), len(steps), text)
	}
	return exports, steps
}

// One test for the whole demo, because building its data takes long. Every printed command
// works when pasted. A second demo on the same folder is refused. The next start keeps the
// data and revokes the former tokens. --reset builds the data again.
func TestDemo(t *testing.T) {
	needSignals(t)
	dir := filepath.Join(t.TempDir(), "it's a folder") // needs quoting
	p := start(t, "--data", dir, "demo", "--tour", "--listen", "127.0.0.1:0")
	p.await(t, p.stdout, tourEnd)
	first := p.stdout.String()
	if strings.Contains(first, "\x1b") {
		t.Error("there are colours, although the output is not a terminal")
	}
	t.Run("assistant", func(t *testing.T) { tryAdapter(t, first) })
	t.Run("over HTTP", func(t *testing.T) { tryOverHTTP(t, first) })
	t.Run("order", func(t *testing.T) { checkOrder(t, first) })
	t.Run("document", func(t *testing.T) { checkTour(t, dir, first) })
	t.Run("commands", func(t *testing.T) { tryCommands(t, first) })
	if strings.Contains(p.stderr.String(), "pdpp_") {
		t.Errorf("a token is in the log:\n%s", p.stderr)
	}
	busy := start(t, "--data", dir, "demo", "--listen", "127.0.0.1:0")
	if code := busy.exit(t); code != 75 {
		t.Errorf("a second demo on one folder ends with %d, want 75:\n%s", code, busy.stderr)
	}
	interrupt(t, p, 0)
	if log := p.stderr.String(); !strings.HasSuffix(log, "pdpp: stopped\n") || strings.Contains(first, earlier) {
		t.Errorf("stderr = %q, stdout = %s", log, first)
	}
	t.Run("again", func(t *testing.T) { startAgain(t, dir, first) })

	t.Run("welcome", func(t *testing.T) { tryWelcome(t, dir) })

	p = start(t, "--data", dir, "demo", "--reset", "--listen", "127.0.0.1:0")
	p.await(t, p.stderr, "building the demo data")
	interrupt(t, p, 130)
}

// tryWelcome starts the demo as `make run` does: its text is short, and its link signs the
// owner in once.
func tryWelcome(t *testing.T, dir string) {
	p := start(t, "--data", dir, "demo", "--listen", "127.0.0.1:0")
	p.await(t, p.stdout, `Ctrl-C stops the demo.\n$`)
	text := p.stdout.String()
	if lines := strings.Count(text, "\n"); lines > 20 || strings.Contains(text, "pdpp_") {
		t.Errorf("%d lines, or a token:\n%s", lines, text)
	}
	link := regexp.MustCompile(`http://\S+/owner/link\?code=\S+`).FindString(text)
	base, code, _ := strings.Cut(link, "/owner/link?code=")
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	browser := &http.Client{Jar: jar}
	visit := func(method, path string, form url.Values) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(form.Encode()))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Accept", "text/html")
		if form != nil {
			req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			req.Header.Set("Origin", base)
		}
		res, err := browser.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		body, err := io.ReadAll(res.Body)
		if err != nil {
			t.Fatal(err)
		}
		return res.StatusCode, string(body)
	}
	_, page := visit(http.MethodGet, "/owner/link?code="+code, nil)
	token := regexp.MustCompile(`name="_csrf" value="([^"]+)"`).FindStringSubmatch(page)
	if token == nil {
		t.Fatalf("the page of the link has no form:\n%s", page)
	}
	form := url.Values{"code": {code}, "_csrf": {token[1]}}
	if status, page := visit(http.MethodPost, "/owner/link", form); status != 200 || !strings.Contains(page, "8,5") {
		t.Errorf("the link leads to status %d:\n%s", status, page)
	}
	jar, _ = cookiejar.New(nil)
	browser = &http.Client{Jar: jar}
	if status, _ := visit(http.MethodGet, "/owner/link?code="+code, nil); status != 404 {
		t.Errorf("the link works twice: status %d", status)
	}
	interrupt(t, p, 0)
}

// tryAdapter starts the adapter with the line for an assistant, and calls a tool.
func tryAdapter(t *testing.T, text string) {
	m := regexp.MustCompile(`claude mcp add --scope user pdpp -- (.*)\n`).FindStringSubmatch(text)
	if m == nil || strings.Contains(m[1], "pdpp_at_") {
		t.Fatalf("no line to paste, or a secret in it:\n%s", text)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	cmd := exec.Command(sh, "-c", m[1])
	cmd.Stdin = strings.NewReader(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"` + searched + `","limit":1}}}
`)
	out, err := cmd.Output()
	if err != nil || !strings.Contains(string(out), "Parkett abschleifen") {
		t.Errorf("%s: %v\n%s", m[1], err, out)
	}
	for word := range strings.FieldsSeq(searched) {
		if q := question.FindString(text); !strings.Contains(q, word) {
			t.Errorf("the question %q does not have the word %q", q, word)
		}
	}
}

// tryOverHTTP runs the lines for HTTP. For the assistant it checks the arguments of the
// command and calls the endpoint itself; it runs the Inspector.
func tryOverHTTP(t *testing.T, text string) {
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no sh")
	}
	exports, _ := readTour(t, text)
	paste := func(t *testing.T, pattern string, setting ...string) string {
		line := regexp.MustCompile(pattern).FindString(text)
		if line == "" || strings.Contains(line, "pdpp_at_") {
			t.Fatalf("no line to paste, or a secret in it: %q", line)
		}
		out, err := exec.Command(sh, "-c", strings.Join(append(append(setting, exports...), line), "\n")).Output()
		if err != nil {
			t.Fatalf("%s: %v\n%s", line, err, out)
		}
		return string(out)
	}
	t.Run("HOSTED-1 with an assistant", func(t *testing.T) {
		words := strings.Split(paste(t, `claude mcp add .*--transport http.*`, `claude() { printf '%s\n' "$@"; }`), "\n")
		if len(words) != 11 || words[6] != "pdpp" || words[8] != "--header" {
			t.Fatalf("the arguments of claude are %q", words)
		}
		message := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"search","arguments":{"q":"` + searched + `","limit":1}}}`
		if res, body := new(caller).call(t, words[7], message, words[9]); res.StatusCode != 200 || !strings.Contains(body, "Parkett abschleifen") {
			t.Errorf("%s: %s", res.Status, body)
		}
	})
	t.Run("HOSTED-1 with the Inspector", func(t *testing.T) {
		if testing.Short() {
			t.Skip("make check runs it")
		}
		clients := npmtest.Install(t)
		out := paste(t, `npx @modelcontextprotocol/inspector@latest .*`, `npx() { shift; '`+clients.Bin("node")+`' '`+clients.Bin("mcp-inspector")+`' "$@"; }`)
		if !strings.Contains(out, "Parkett abschleifen") {
			t.Errorf("the Inspector finds %s", out)
		}
	})
}

// question is the line that asks the assistant. searched are the words in it that find the
// answer.
var question = regexp.MustCompile(`claude "What .*"`)

const searched = "Brandt Kaution"

// checkOrder checks that the text revokes the grant after it asks the assistant.
func checkOrder(t *testing.T, text string) {
	ask, revoke := question.FindStringIndex(text), strings.Index(text, "grants revoke")
	if ask == nil || revoke < ask[0] {
		t.Errorf("the grant is revoked before the assistant is asked:\n%s", text)
	}
}

// checkTour checks that docs/tour.md has the lines for assistants that the demo prints,
// except for the folders.
func checkTour(t *testing.T, dir, text string) {
	readme, err := os.ReadFile(filepath.Join("..", "..", "docs", "tour.md"))
	if err != nil {
		t.Fatal(err)
	}
	cache := "'" + strings.ReplaceAll(filepath.Join(dir, "credentials"), "'", `'\''`) + "'"
	text = strings.ReplaceAll(text, cache, "…/credentials")
	text = regexp.MustCompile(`127\.0\.0\.1:\d+`).ReplaceAllString(text, "127.0.0.1:7663")
	text = regexp.MustCompile(`\S*pdpp (mcp|setup) `).ReplaceAllString(text, "…/bin/pdpp $1 ")
	for _, line := range []string{`claude "What .*"`, `claude mcp add .*`, `\S* setup CLIENT .*`, `claude mcp add .* --transport http .*`, `npx .*`} {
		found := regexp.MustCompile(line).FindString(text)
		if found == "" || !strings.Contains(string(readme), found) {
			t.Errorf("docs/tour.md does not have the line %q", found)
		}
	}
}

func tryCommands(t *testing.T, text string) {
	for _, tool := range []string{"sh", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	exports, steps := readTour(t, text)
	for _, s := range steps {
		out, err := exec.Command("sh", "-c", strings.Join(exports, "\n")+"\n"+s.command).CombinedOutput()
		if err != nil {
			t.Errorf("%s\n%v\n%s", s.command, err, out)
		}
		if s.answer == "" || !strings.Contains(string(out), s.answer) {
			t.Errorf("%s\nanswers %.2000s\nwithout %s", s.command, out, s.answer)
		}
	}
}

// startAgain starts the demo again on the same folder, while its port is in use.
func startAgain(t *testing.T, dir, first string) {
	// After this the port is in use, by this test or by another process.
	if ln, err := net.Listen("tcp", "127.0.0.1:7663"); err == nil {
		defer ln.Close()
	}
	p := start(t, "--data", dir, "demo", "--tour")
	p.await(t, p.stdout, tourEnd)
	if log := p.stderr.String(); !strings.Contains(log, "port 7663 is in use; the demo uses 76") || strings.Contains(log, "building") {
		t.Errorf("stderr = %q", log)
	}
	if !strings.Contains(p.stdout.String(), earlier) {
		t.Errorf("the text does not say that the former tokens are invalid:\n%s", p.stdout)
	}
	token := regexp.MustCompile(`pdpp_(at|ot)_\S+`)
	if now := token.FindString(p.stdout.String()); now == "" || strings.Contains(first, now) {
		t.Errorf("the token is %q, as before", now)
	}
	if n := strings.Count(run(t, "--data", dir, "grants", "list"), "grt_"); n != 1 {
		t.Errorf("%d grants are active, want 1", n)
	}
	if n := strings.Count(run(t, "--data", dir, "owner", "token", "list"), " active "); n != 1 {
		t.Errorf("%d owner tokens are active, want 1", n)
	}
	interrupt(t, p, 0)
}

func interrupt(t *testing.T, p *process, want int) {
	t.Helper()
	p.cmd.Process.Signal(os.Interrupt)
	if code := p.exit(t); code != want {
		t.Errorf("exit code %d, want %d:\n%s", code, want, p.stderr)
	}
}
