package main

import (
	"bufio"
	"io"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"strings"
	"syscall"
	"testing"
	"time"
)

// SIGHUP never ends a server, and the log reports its effect (H-11).
func TestHangupWithoutCertificate(t *testing.T) {
	needSignals(t)
	p := start(t, "--data", t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	url := p.await(t, p.stderr, listening)
	p.cmd.Process.Signal(syscall.SIGHUP)
	p.await(t, p.stderr, "nothing to read again")
	p.cmd.Process.Signal(syscall.SIGHUP)
	if status := statusOf(t, url+"/readyz"); status != http.StatusOK {
		t.Errorf("after SIGHUP: %d", status)
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, p.stderr)
	}
}

// startPiped starts a server whose standard error is a pipe to the test.
func startPiped(t *testing.T) (p *process, log *bufio.Reader, end *os.File, url, metrics string) {
	t.Helper()
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { read.Close() })
	p = &process{stdout: new(watched), stderr: new(watched), done: make(chan error, 1)}
	p.cmd = exec.Command("pdpp", "--data", t.TempDir(), "serve", "--listen", "127.0.0.1:0", "--metrics-listen", "127.0.0.1:0")
	p.cmd.Stderr = write
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	write.Close()
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	log = bufio.NewReader(read)
	url = awaitLine(t, log, listening)
	metrics = awaitLine(t, log, `metrics: (http://\S+)`)
	return p, log, read, url, metrics
}

// awaitLine reads until a line matches and returns its last group.
func awaitLine(t *testing.T, log *bufio.Reader, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for {
		line, err := log.ReadString('\n')
		if m := re.FindStringSubmatch(line); m != nil {
			return m[len(m)-1]
		}
		if err != nil {
			t.Fatalf("no %q in the log: %v", pattern, err)
		}
	}
}

// statusOf sends one request and fails without an answer in time.
func statusOf(t *testing.T, url string) int {
	t.Helper()
	status, _ := get(t, url)
	return status
}

func get(t *testing.T, url string) (int, string) {
	t.Helper()
	client := http.Client{Timeout: patience}
	res, err := client.Get(url)
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

// A log that is not read blocks no request. Dropped lines are counted (H-11, H-28) and
// reported when the log is read again.
func TestUnreadLog(t *testing.T) {
	needSignals(t)
	p, log, _, url, metrics := startPiped(t)
	dropped := regexp.MustCompile(`(?m)^pdpp_log_dropped_lines_total ([1-9]\d*)$`)
	for end := time.Now().Add(patience); ; {
		for range 500 {
			if status := statusOf(t, url+"/v1/streams"); status != http.StatusUnauthorized {
				t.Fatalf("status %d", status)
			}
		}
		if _, body := get(t, metrics); dropped.MatchString(body) {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the pipe takes everything; the test sees nothing")
		}
	}
	if n := awaitLine(t, log, `log lines were dropped.* lines=(\d+)`); n == "0" {
		t.Error("the log reports no dropped lines")
	}
	go io.Copy(p.stderr, log)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// A server also stops while its log is not read.
func TestStopWithUnreadLog(t *testing.T) {
	needSignals(t)
	p, _, _, url, metrics := startPiped(t)
	for {
		for range 500 {
			statusOf(t, url+"/v1/streams")
		}
		if _, body := get(t, metrics); !strings.Contains(body, "\npdpp_log_dropped_lines_total 0\n") {
			break
		}
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}

// The server continues when the reader of its log ends.
func TestLogReaderEnds(t *testing.T) {
	needSignals(t)
	p, _, end, url, metrics := startPiped(t)
	end.Close()
	for range 20 {
		if status := statusOf(t, url+"/v1/streams"); status != http.StatusUnauthorized {
			t.Fatalf("status %d", status)
		}
	}
	for stop := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		if _, body := get(t, metrics); !strings.Contains(body, "\npdpp_log_dropped_lines_total 0\n") {
			break
		}
		if time.Now().After(stop) {
			t.Fatal("dropped lines are not counted")
		}
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0", code)
	}
}
