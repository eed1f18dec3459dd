package main

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/testscript"
)

func TestMain(m *testing.M) { testscript.Main(m, map[string]func(){"pdpp": main}) }

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:   filepath.Join("testdata", "script"),
		Setup: setUp,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":     exits,
			"freeport":  freePort,
			"waithttp":  waitHTTP,
			"http":      request,
			"jsonget":   jsonGet,
			"makenewer": makeNewer,
			"damage":    damage,
			"age":       age,
		},
	})
}

// setUp copies the shared files into the folder of a script and sets its data folder.
func setUp(env *testscript.Env) error {
	env.Setenv("PDPP_DATA_DIR", filepath.Join(env.WorkDir, "data"))
	env.Setenv("XDG_DATA_HOME", filepath.Join(env.WorkDir, "xdg"))
	return os.CopyFS(env.WorkDir, os.DirFS(filepath.Join("testdata", "shared")))
}

// exits CODE PROGRAM ARGS…: the program ends with exactly this code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM ARGS…")
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var exit *exec.ExitError
		if !errors.As(err, &exit) {
			ts.Fatalf("%v", err)
		}
		got = exit.ExitCode()
	}
	if strconv.Itoa(got) != args[0] {
		ts.Fatalf("exit code %d, want %s", got, args[0])
	}
}

// freeport VAR: sets VAR to a free port.
func freePort(ts *testscript.TestScript, _ bool, args []string) {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	_, port, _ := net.SplitHostPort(ln.Addr().String())
	ts.Check(ln.Close())
	ts.Setenv(args[0], port)
}

// patience bounds every wait: it only turns a hang into a failure.
const patience = 5 * time.Minute

// waithttp URL: waits until the URL answers.
func waitHTTP(ts *testscript.TestScript, _ bool, args []string) {
	for end := time.Now().Add(patience); ; time.Sleep(10 * time.Millisecond) {
		res, err := http.Get(args[0])
		if err == nil {
			res.Body.Close()
			return
		}
		if time.Now().After(end) {
			ts.Fatalf("no answer: %v", err)
		}
	}
}

// http STATUS METHOD URL TOKEN [BODYFILE]: one request; the answer's body is in
// the file "body". The token "-" means none.
func request(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 4 {
		ts.Fatalf("usage: http STATUS METHOD URL TOKEN [BODYFILE]")
	}
	var body io.Reader
	if len(args) > 4 {
		body = strings.NewReader(ts.ReadFile(args[4]))
	}
	req, err := http.NewRequest(args[1], args[2], body)
	ts.Check(err)
	if args[3] != "-" {
		req.Header.Set("Authorization", "Bearer "+args[3])
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/x-ndjson")
	}
	res, err := http.DefaultClient.Do(req)
	ts.Check(err)
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	ts.Check(err)
	ts.Check(os.WriteFile(ts.MkAbs("body"), answer, 0o600))
	if strconv.Itoa(res.StatusCode) != args[0] {
		ts.Fatalf("status %d, want %s: %s", res.StatusCode, args[0], answer)
	}
}

// jsonget VAR FILE PATH: sets VAR to a value of a JSON file. The path has member names and
// indexes, separated by dots.
func jsonGet(ts *testscript.TestScript, _ bool, args []string) {
	var v any
	ts.Check(json.Unmarshal([]byte(ts.ReadFile(args[1])), &v))
	for part := range strings.SplitSeq(args[2], ".") {
		switch c := v.(type) {
		case map[string]any:
			v = c[part]
		case []any:
			i, err := strconv.Atoi(part)
			if err != nil || i >= len(c) {
				ts.Fatalf("no element %q in %v", part, c)
			}
			v = c[i]
		}
	}
	s, ok := v.(string)
	if !ok {
		b, err := json.Marshal(v)
		ts.Check(err)
		s = string(b)
	}
	ts.Setenv(args[0], s)
}

// makenewer FILE: sets the schema version of a closed store to 999.
func makeNewer(ts *testscript.TestScript, _ bool, args []string) {
	f, err := os.OpenFile(ts.MkAbs(args[0]), os.O_RDWR, 0)
	ts.Check(err)
	const userVersion = 60 // its offset in the header of an SQLite file
	_, err = f.WriteAt(binary.BigEndian.AppendUint32(nil, 999), userVersion)
	ts.Check(err)
	ts.Check(f.Close())
}

// damage DIR: changes a byte of the first file below a folder.
func damage(ts *testscript.TestScript, _ bool, args []string) {
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(name string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		content, err := os.ReadFile(name)
		ts.Check(err)
		content[0] ^= 1
		ts.Check(os.WriteFile(name, content, 0o600))
		return fs.SkipAll
	}))
}

// age DIR: sets the times of the files below a folder to a month ago.
func age(ts *testscript.TestScript, _ bool, args []string) {
	old := time.Now().AddDate(0, -1, 0)
	ts.Check(filepath.WalkDir(ts.MkAbs(args[0]), func(path string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		return os.Chtimes(path, old, old)
	}))
}
