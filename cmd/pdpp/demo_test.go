package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

const tourEnd = `(?s)Ctrl-C stops the demo`

// shellStep is a command that the demo prints, and what it says about the answer.
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

// Every command that the demo prints works when it is pasted, and answers what
// the demo says it does.
func TestDemoCommandsWorkAsPrinted(t *testing.T) {
	for _, tool := range []string{"sh", "curl", "sed"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("there is no %s", tool)
		}
	}
	dir := filepath.Join(t.TempDir(), "it's a folder") // needs quoting
	p := start(t, "--data", dir, "demo", "--listen", "127.0.0.1:0")
	p.await(t, p.stdout, tourEnd)
	text := p.stdout.String()
	if strings.Contains(text, "\x1b") {
		t.Error("there are colours in a text that no terminal shows")
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
	if strings.Contains(p.stderr.String(), "pdpp_") {
		t.Errorf("a token is in the log:\n%s", p.stderr)
	}
	stop(t, p)
}

func stop(t *testing.T, p *process) {
	t.Helper()
	needSignals(t)
	p.cmd.Process.Signal(os.Interrupt)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, p.stderr)
	}
}

// A second start keeps the data, ends the former tokens, and steps aside when
// its port is taken.
func TestDemoStartsAgain(t *testing.T) {
	needSignals(t)
	token := regexp.MustCompile(`export TOKEN=(\S+)`)
	dir := t.TempDir()
	p := start(t, "--data", dir, "demo", "--listen", "127.0.0.1:0")
	p.await(t, p.stdout, tourEnd)
	first := token.FindStringSubmatch(p.stdout.String())[1]
	busy := start(t, "--data", dir, "demo", "--listen", "127.0.0.1:0")
	if code := busy.exit(t); code != 75 {
		t.Errorf("a second demo on one folder ends with %d, want 75:\n%s", code, busy.stderr)
	}
	stop(t, p)

	// Whether or not somebody else has the port already, it is taken now.
	if ln, err := net.Listen("tcp", "127.0.0.1:7663"); err == nil {
		defer ln.Close()
	}
	p = start(t, "--data", dir, "demo")
	p.await(t, p.stdout, tourEnd)
	if !strings.Contains(p.stderr.String(), "port 7663 is taken; using 76") {
		t.Errorf("stderr = %q", p.stderr)
	}
	if strings.Contains(p.stderr.String(), "building") {
		t.Error("the data was built twice")
	}
	if second := token.FindStringSubmatch(p.stdout.String())[1]; second == first {
		t.Error("the token is the same")
	}
	if n := strings.Count(run(t, "--data", dir, "grants", "list"), "grt_"); n != 1 {
		t.Errorf("%d grants are active, want 1", n)
	}
	if n := strings.Count(run(t, "--data", dir, "owner", "token", "list"), " active "); n != 1 {
		t.Errorf("%d owner tokens are active, want 1", n)
	}
	stop(t, p)
	p = start(t, "--data", dir, "demo", "--reset", "--listen", "127.0.0.1:0")
	p.await(t, p.stdout, tourEnd)
	if !strings.Contains(p.stderr.String(), "building") {
		t.Error("--reset did not build the data anew")
	}
	stop(t, p)
}
