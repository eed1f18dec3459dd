package main

import (
	"bufio"
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// process is a running program.
type process struct {
	cmd            *exec.Cmd
	stdout, stderr *watched
	done           chan error
}

// watched is output on which a test can wait.
type watched struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *watched) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func start(t *testing.T, args ...string) *process {
	t.Helper()
	return startProgram(t, exec.Command("pdpp", args...))
}

// startProgram starts a program and kills it at the end of the test.
func startProgram(t *testing.T, cmd *exec.Cmd) *process {
	t.Helper()
	p := &process{cmd: cmd, stdout: new(watched), stderr: new(watched), done: make(chan error, 1)}
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	return p
}

// await waits until the output matches and returns the first group.
func (p *process) await(t *testing.T, w *watched, pattern string) string {
	t.Helper()
	re := regexp.MustCompile(pattern)
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if m := re.FindStringSubmatch(w.String()); m != nil {
			return m[len(m)-1]
		}
	}
	t.Fatalf("no %q in\n%s\n%s", pattern, p.stdout, p.stderr)
	return ""
}

// exit waits for the end of the process and returns its exit code.
func (p *process) exit(t *testing.T) int {
	t.Helper()
	select {
	case <-p.done:
		return p.cmd.ProcessState.ExitCode()
	case <-time.After(patience):
		t.Fatalf("the process does not end:\n%s\n%s", p.stdout, p.stderr)
		return 0
	}
}

func run(t *testing.T, args ...string) string {
	t.Helper()
	out, err := exec.Command("pdpp", args...).Output()
	if err != nil {
		t.Fatalf("pdpp %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return string(out)
}

// storeEntries creates a data folder with the shared entries, and a grant for a client. It
// returns the folder and the client's token.
func storeEntries(t *testing.T) (dir, token string) {
	t.Helper()
	dir = t.TempDir()
	run(t, "--data", dir, "ingest", "--manifest", shared("manifest.json"), "--connection", "giro", shared("entries.jsonl"))
	granted := run(t, "--data", dir, "grants", "create", "--client", "Digest", "--spec", shared("spec.json"))
	return dir, regexp.MustCompile(`pdpp_at_[\w-]+`).FindString(granted)
}

func shared(name string) string { return filepath.Join("testdata", "shared", name) }

func needSignals(t *testing.T) {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("there are no signals to send here")
	}
}

const listening = `listening: (https?://\S+)`

// The first signal waits for open requests, the second one ends the process (H-11).
func TestSecondSignalEndsAtOnce(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	out := run(t, "--data", dir, "ingest", "--manifest", shared("manifest.json"), "--connection", "giro", "--json", shared("entries.jsonl"))
	id := regexp.MustCompile(`cin_[a-z2-7]+`).FindString(out)
	token := regexp.MustCompile(`pdpp_ot_[\w-]+`).FindString(run(t, "--data", dir, "owner", "token", "create"))

	p := start(t, "--data", dir, "serve", "--listen", "127.0.0.1:0")
	url := p.await(t, p.stderr, listening)
	addr := strings.TrimPrefix(url, "http://")
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST /v1/ingest/entries?connection_id=%s HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/x-ndjson\r\nContent-Length: 1000\r\nExpect: 100-continue\r\n\r\n", id, addr, token)
	// The server sends 100 Continue when it reads the body.
	if line, err := bufio.NewReader(conn).ReadString('\n'); err != nil || !strings.Contains(line, "100 Continue") {
		t.Fatalf("the server answers %q, %v", line, err)
	}

	p.cmd.Process.Signal(syscall.SIGTERM)
	awaitClosed(t, addr)
	select {
	case <-p.done:
		t.Fatalf("it did not wait for the open request:\n%s", p.stderr)
	default:
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 130 {
		t.Errorf("exit code %d, want 130", code)
	}
}

// awaitClosed waits until addr refuses connections.
func awaitClosed(t *testing.T, addr string) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			return
		}
		conn.Close()
	}
	t.Fatalf("%s still accepts", addr)
}

func TestTerminateExitsWithZero(t *testing.T) {
	needSignals(t)
	p := start(t, "--data", t.TempDir(), "serve", "--listen", "127.0.0.1:0")
	p.await(t, p.stderr, listening)
	p.cmd.Process.Signal(syscall.SIGTERM)
	if code := p.exit(t); code != 0 {
		t.Errorf("exit code %d, want 0:\n%s", code, p.stderr)
	}
	if !strings.HasSuffix(p.stderr.String(), "\npdpp: stopped\n") {
		t.Errorf("the last line is not \"stopped\":\n%s", p.stderr)
	}
}

// A command that waits for input can be interrupted.
func TestInterruptedIngest(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	p := &process{stdout: new(watched), stderr: new(watched), done: make(chan error, 1)}
	p.cmd = exec.Command("pdpp", "--data", dir, "ingest", "--connection", "giro",
		"--manifest", filepath.Join("testdata", "shared", "manifest.json"), "-")
	p.cmd.Stdout, p.cmd.Stderr = p.stdout, p.stderr
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer stdin.Close()
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { p.done <- p.cmd.Wait() }()
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	// When the connection exists, the signal handler is installed.
	for end := time.Now().Add(patience); ; {
		out, _ := exec.Command("pdpp", "--data", dir, "connections", "list").Output() // fails while there is no store
		if strings.Contains(string(out), "giro") {
			break
		}
		if time.Now().After(end) {
			t.Fatal("no connection")
		}
	}
	p.cmd.Process.Signal(os.Interrupt)
	if code := p.exit(t); code != 130 {
		t.Errorf("exit code %d, want 130:\n%s", code, p.stderr)
	}
	if !strings.Contains(p.stderr.String(), "The command was interrupted.") {
		t.Errorf("stderr = %q", p.stderr)
	}
}

// SIGHUP reloads the certificate. An invalid file changes nothing.
func TestCertificateReload(t *testing.T) {
	needSignals(t)
	dir := t.TempDir()
	cert, key := filepath.Join(dir, "cert.pem"), filepath.Join(dir, "key.pem")
	writeCertificate(t, cert, key, 1)
	p := start(t, "--data", filepath.Join(dir, "data"), "serve", "--listen", "127.0.0.1:0", "--tls-cert", cert, "--tls-key", key)
	url := p.await(t, p.stderr, listening)
	if !strings.HasPrefix(url, "https://") {
		t.Fatalf("it listens on %s", url)
	}
	addr := strings.TrimPrefix(url, "https://")
	if got := serial(t, addr); got != 1 {
		t.Fatalf("serial %d, want 1", got)
	}
	writeCertificate(t, cert, key, 2)
	p.cmd.Process.Signal(syscall.SIGHUP)
	p.await(t, p.stderr, "read the certificate again")
	if got := serial(t, addr); got != 2 {
		t.Errorf("after SIGHUP serial %d, want 2", got)
	}
	if err := os.WriteFile(cert, []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	p.cmd.Process.Signal(syscall.SIGHUP)
	p.await(t, p.stderr, "the former one stays")
	if got := serial(t, addr); got != 2 {
		t.Errorf("after an invalid file: serial %d, want 2", got)
	}
}

func serial(t *testing.T, addr string) int64 {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, &tls.Config{InsecureSkipVerify: true})
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	return conn.ConnectionState().PeerCertificates[0].SerialNumber.Int64()
}

func writeCertificate(t *testing.T, certFile, keyFile string, serial int64) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(serial), Subject: pkix.Name{CommonName: fmt.Sprint("test ", serial)},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"data.example", "other.example"},
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	for file, block := range map[string]*pem.Block{certFile: {Type: "CERTIFICATE", Bytes: der}, keyFile: {Type: "PRIVATE KEY", Bytes: private}} {
		if err := os.WriteFile(file, pem.EncodeToMemory(block), 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
