package main

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"
)

// The proxy settings in docs/operations.md work with other names, ports and certificates:
// pdpp doctor finds no problems through the proxy.
func TestProxiesOfTheManual(t *testing.T) {
	needSignals(t)
	manual, err := os.ReadFile(filepath.Join("..", "..", "docs", "operations.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range []struct {
		program, language string
		change            func(text, dir, port, behind string) string
		args              func(file string) []string
	}{
		{
			"nginx", "nginx",
			func(text, dir, port, behind string) string {
				text = strings.NewReplacer("listen 443", "listen 127.0.0.1:"+port, "/etc/ssl/data.example.pem", dir+"/cert.pem",
					"/etc/ssl/data.example.key", dir+"/key.pem", "127.0.0.1:7663", behind).Replace(text)
				for _, name := range []string{"client_body", "proxy", "fastcgi", "uwsgi", "scgi"} {
					text = name + "_temp_path " + dir + "/tmp;\n" + text
				}
				return "daemon off; master_process off; error_log stderr; pid " + dir + "/pid; events {}\nhttp {\n" + text + "}\n"
			},
			func(file string) []string { return []string{"-c", file} },
		},
		{
			"caddy", "caddyfile",
			func(text, dir, port, behind string) string {
				text = strings.Replace(text, "data.example {", "https://127.0.0.1:"+port+" {\n\ttls "+dir+"/cert.pem "+dir+"/key.pem", 1)
				return "{\n\tadmin off\n\tauto_https off\n}\n" + strings.Replace(text, "127.0.0.1:7663", behind, 1)
			},
			func(file string) []string { return []string{"run", "--adapter", "caddyfile", "--config", file} },
		},
	} {
		t.Run(p.program, func(t *testing.T) {
			found := regexp.MustCompile("(?s)```" + p.language + "\n(.*?)```").FindSubmatch(manual)
			if found == nil {
				t.Fatalf("the manual has no block of %s", p.language)
			}
			path, err := exec.LookPath(p.program)
			if err != nil {
				t.Skip(p.program + " is not installed")
			}
			dir := t.TempDir()
			cert := filepath.Join(dir, "cert.pem")
			writeCertificate(t, cert, filepath.Join(dir, "key.pem"), 1)
			port := unusedPort(t)
			public := "https://127.0.0.1:" + port
			server := start(t, "--data", filepath.Join(dir, "data"), "serve", "--listen", "127.0.0.1:0",
				"--public-url", public, "--trusted-proxies", "127.0.0.1")
			behind := strings.TrimPrefix(server.await(t, server.stderr, listening), "http://")

			file := filepath.Join(dir, "proxy.conf")
			if err := os.WriteFile(file, []byte(p.change(string(found[1]), dir, port, behind)), 0o600); err != nil {
				t.Fatal(err)
			}
			proxy := exec.Command(path, p.args(file)...)
			proxy.Env = append(os.Environ(), "XDG_DATA_HOME="+dir, "XDG_CONFIG_HOME="+dir, "HOME="+dir)
			said := new(watched)
			proxy.Stdout, proxy.Stderr = said, said
			if err := proxy.Start(); err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = proxy.Process.Kill(); _ = proxy.Wait() })
			awaitOpen(t, "127.0.0.1:"+port, said)

			doctor := exec.Command("pdpp", "doctor", public)
			doctor.Env = append(os.Environ(), "SSL_CERT_FILE="+cert)
			if out, err := doctor.CombinedOutput(); err != nil || !strings.Contains(string(out), "resource is "+public+".\n") {
				t.Errorf("pdpp doctor %s: %v\n%s\n%s", public, err, out, said)
			}
		})
	}
}

// awaitOpen waits until addr accepts connections.
func awaitOpen(t *testing.T, addr string, said *watched) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if conn, err := net.Dial("tcp", addr); err == nil {
			conn.Close()
			return
		}
	}
	t.Fatalf("%s does not accept connections:\n%s", addr, said)
}

func unusedPort(t *testing.T) string {
	t.Helper()
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer ln.Close()
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	return port
}
