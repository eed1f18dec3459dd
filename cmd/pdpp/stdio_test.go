package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pdpp/internal/credential"
)

// adapter is a process of `pdpp mcp` for a server that answers everything with one page.
type adapter struct {
	in     io.WriteCloser
	lines  chan []byte // of standard output, checked
	broken chan error  // a line that is not a message
	cmd    *exec.Cmd
	stderr *watched
	reads  *atomic.Int64 // requests that the server got
	pings  int
}

func startAdapter(t *testing.T) *adapter {
	t.Helper()
	a := &adapter{lines: make(chan []byte, 1024), broken: make(chan error, 1), stderr: new(watched), reads: new(atomic.Int64)}
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		a.reads.Add(1)
		w.Header().Set("Content-Type", "application/json")
		io.WriteString(w, `{"data":[{"id":"e1","stream":"entries","data":{"memo":"line one\nline two \u2028 {\"jsonrpc\":"}}],"has_more":false}`)
	}))
	t.Cleanup(srv.Close)
	root := filepath.Join(t.TempDir(), "credentials")
	cache := credential.Cache{Root: root, Now: time.Now}
	err := cache.Put(t.Context(), &credential.Credential{
		ID: "grt_1", Provider: srv.URL, Token: "pdpp_token", Kind: "client", Status: credential.Active, Resource: srv.URL, CreatedAt: time.Now(),
	})
	if err != nil {
		t.Fatal(err)
	}
	a.cmd = exec.Command("pdpp", "mcp", srv.URL, "--cache-root", root)
	a.cmd.Stderr = a.stderr
	if a.in, err = a.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := a.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := a.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.cmd.Process.Kill() })
	go a.read(out)
	return a
}

// read splits the output into lines until it ends.
func (a *adapter) read(out io.Reader) {
	defer close(a.lines)
	r := bufio.NewReader(out)
	for {
		line, err := r.ReadBytes('\n')
		if err != nil && len(line) == 0 {
			return
		}
		if err := checkMessage(line); err != nil {
			a.broken <- err
			return
		}
		a.lines <- line
	}
}

// checkMessage checks that a line of output is one message, or a batch of them.
func checkMessage(line []byte) error {
	if !bytes.HasSuffix(line, []byte("\n")) {
		return fmt.Errorf("no end of line after %.300q", line)
	}
	batch := []json.RawMessage{line}
	if line[0] == '[' {
		if err := json.Unmarshal(line, &batch); err != nil || len(batch) == 0 {
			return fmt.Errorf("%v in %.300q", err, line)
		}
	}
	for _, raw := range batch {
		var msg struct {
			Version string          `json:"jsonrpc"`
			Method  string          `json:"method"`
			Result  json.RawMessage `json:"result"`
			Error   *struct {
				Code    int    `json:"code"`
				Message string `json:"message"`
			} `json:"error"`
		}
		err := json.Unmarshal(raw, &msg)
		kinds := 0
		for _, is := range []bool{msg.Method != "", msg.Result != nil, msg.Error != nil} {
			if is {
				kinds++
			}
		}
		if err != nil || msg.Version != "2.0" || kinds != 1 || msg.Error != nil && (msg.Error.Code == 0 || msg.Error.Message == "") {
			return fmt.Errorf("not a message (%v): %.300q", err, raw)
		}
	}
	return nil
}

// send writes bytes and then a ping. The answer to the ping shows that all bytes were read.
// It returns the other answers before it.
func (a *adapter) send(t interface {
	Helper()
	Fatalf(string, ...any)
}, raw []byte,
) (answers [][]byte) {
	t.Helper()
	a.pings++
	ping := fmt.Sprintf(`{"jsonrpc":"2.0","id":"ping %d","method":"ping"}`, a.pings)
	if _, err := a.in.Write(append(append(bytes.Clone(raw), '\n'), ping+"\n"...)); err != nil {
		t.Fatalf("%v after %.300q\n%s", err, raw, a.stderr)
	}
	late := time.NewTimer(patience)
	defer late.Stop()
	for {
		select {
		case line, ok := <-a.lines:
			if !ok {
				select {
				case err := <-a.broken:
					t.Fatalf("STDOUT-1 %v, after %.300q", err, raw)
				default:
				}
				t.Fatalf("the adapter ended after %.300q\n%s", raw, a.stderr)
			}
			if bytes.Contains(line, fmt.Appendf(nil, `"id":"ping %d"`, a.pings)) {
				return answers
			}
			answers = append(answers, line)
		case <-late.C:
			t.Fatalf("no answer after %.300q\n%s", raw, a.stderr)
		}
	}
}

const (
	initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}`
	ready      = `{"jsonrpc":"2.0","method":"notifications/initialized"}`
	goodCall   = `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries"}}}`
)

// TestAnyInput checks that the adapter writes only messages, one per line, for any input,
// and continues (MS-268).
func TestAnyInput(t *testing.T) {
	t.Run("STDOUT-1 any input", func(t *testing.T) {
		a := startAdapter(t)
		a.send(t, []byte(initialize+"\n"+ready))

		for name, c := range map[string]struct{ in, want string }{
			"garbage":                  {"hello", `"code":-32700`},
			"half an object":           {`{"jsonrpc":"2.0","id":1,`, `"code":-32700`},
			"invalid UTF-8":            {"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/\xff\xfe\"}", `"error"`},
			"an unknown method":        {`{"jsonrpc":"2.0","id":1,"method":"tools/delete"}`, `"code":-32601`},
			"an unknown tool":          {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"list_streams"}}`, `"code":-32602`},
			"no parameters":            {`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, `"error"`},
			"parameters of a kind":     {`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}`, `"error"`},
			"a line that is too long":  {strings.Repeat("x", 17<<20), `"error"`},
			"a string that is as long": {`{"jsonrpc":"2.0","id":1,"method":"ping","params":{"x":"` + strings.Repeat("y", 17<<20) + `"}}`, `"error"`},
			"an empty batch":           {`[]`, `"error"`},
			"a batch of nonsense":      {`[1]`, `"error"`},
			"a number":                 {`5`, `"error"`},
			"another version":          {`{"jsonrpc":"1.0","id":1,"method":"ping"}`, `"error"`},
			"a NUL":                    {"\x00", `"error"`},
		} {
			answers := a.send(t, []byte(c.in))
			for end := time.Now().Add(patience); len(answers) == 0 && time.Now().Before(end); { // a call may be answered after a ping
				answers = a.send(t, nil)
			}
			if len(answers) != 1 || !bytes.Contains(answers[0], []byte(c.want)) {
				t.Errorf("%s: %d answers, want one with %s:\n%.600s", name, len(answers), c.want, bytes.Join(answers, nil))
			}
		}
		if n := a.reads.Load(); n != 0 {
			t.Errorf("the server got %d requests", n)
		}
		a.send(t, []byte("\n\r\n  \n"+`{"jsonrpc":"2.0","method":"notifications/nothing"}`))

		batch := a.send(t, []byte(`[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/list"},`+ready+`,`+ready+`,`+goodCall+`]`))
		for end := time.Now().Add(patience); len(batch) < 3 && time.Now().Before(end); { // calls may be answered after a ping
			batch = append(batch, a.send(t, nil)...)
		}
		if len(batch) != 3 {
			t.Errorf("a batch of three calls has %d answers:\n%s", len(batch), bytes.Join(batch, nil))
		}
		t.Run("drawn", func(t *testing.T) {
			rapid.Check(t, func(t *rapid.T) { a.send(t, rapid.Custom(drawInput).Draw(t, "input")) })
		})

		if err := a.in.Close(); err != nil {
			t.Fatal(err)
		}
		for range a.lines { // the remaining lines are checked too
		}
		if err := a.cmd.Wait(); err != nil {
			t.Errorf("after the end of its input: %v\n%s", err, a.stderr)
		}
	})
}

// drawInput draws lines: messages, malformed messages, and random bytes. None of them is
// the ping that follows.
func drawInput(t *rapid.T) []byte {
	var out []byte
	for range rapid.IntRange(1, 4).Draw(t, "lines") {
		switch rapid.IntRange(0, 4).Draw(t, "kind") {
		case 0:
			out = append(out, rapid.SliceOfN(rapid.Byte(), 0, 60).Draw(t, "bytes")...)
		case 1:
			line := []byte(rapid.SampledFrom([]string{initialize, ready, goodCall}).Draw(t, "message"))
			line[rapid.IntRange(0, len(line)-1).Draw(t, "place")] = rapid.Byte().Draw(t, "byte")
			out = append(out, line...)
		case 2:
			line := rapid.SampledFrom([]string{initialize, goodCall}).Draw(t, "message")
			out = append(out, line[:rapid.IntRange(0, len(line)).Draw(t, "length")]...)
		case 3:
			out = append(out, drawMessage(t)...)
		case 4:
			out = append(out, "["+drawMessage(t)+","+drawMessage(t)+"]"...)
		}
		out = append(out, '\n')
	}
	return out
}

func drawMessage(t *rapid.T) string {
	id := rapid.SampledFrom([]string{`"id":1,`, `"id":"x",`, `"id":null,`, `"id":1.5,`, `"id":{},`, `"id":-9007199254740993,`, ``}).Draw(t, "id")
	method := rapid.SampledFrom([]string{
		"tools/call", "tools/list", "resources/read", "resources/list", "resources/templates/list", "server/discover", "ping", "prompts/list", "logging/setLevel",
		"notifications/cancelled", "notifications/progress", "roots/list", "", "\\u0000",
	}).Draw(t, "method")
	params := rapid.SampledFrom([]string{
		``, `,"params":null`, `,"params":{}`, `,"params":[]`, `,"params":{"name":"query_records","arguments":{"stream":"entries"}}`, `,"params":{"name":"schema","arguments":[]}`,
		`,"params":{"name":"fetch","arguments":{"id":"../x:y"}}`, `,"params":{"uri":"pdpp://record/e30"}`, `,"params":{"uri":"file:///etc/passwd"}`, `,"params":{"cursor":"x"}`,
		`,"params":{"requestId":1}`, `,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}`,
		`,"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":5}}`, `,"params":{"_meta":7}`, `,"result":{}`, `,"error":{"code":1,"message":"m"}`,
	}).Draw(t, "params")
	return `{"jsonrpc":"2.0",` + id + `"method":"` + method + `"` + params + `}`
}
