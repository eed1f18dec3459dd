package mcpserve

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/iotest"
	"testing/synctest"

	"github.com/google/go-cmp/cmp"
)

// answers returns the messages of an output by id.
func answers(t *testing.T, out string) map[string]map[string]json.RawMessage {
	t.Helper()
	all := map[string]map[string]json.RawMessage{}
	for line := range strings.Lines(out) {
		var m map[string]json.RawMessage
		if err := json.Unmarshal([]byte(line), &m); err != nil || string(m["jsonrpc"]) != `"2.0"` {
			t.Fatalf("STDOUT-1 a line that is not a message: %q", line)
		}
		all[string(m["id"])] = m
	}
	return all
}

func TestBadLines(t *testing.T) {
	surface, _ := ledger(t, nil)
	in := "{not json\n\n" + `{"foo":1}` + "\n[]\n[1]\n" + strings.TrimSpace(modernCall(7, "query_records", `{"stream":"entries"}`)) // without a newline
	var out bytes.Buffer
	if err := Serve(t.Context(), New(config(surface, io.Discard)), iotest.OneByteReader(strings.NewReader(in)), &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"code":-32700`); n != 4 {
		t.Errorf("%d errors for four bad lines:\n%s", n, out.String())
	}
	if _, ok := answers(t, out.String())["7"]["result"]; !ok {
		t.Errorf("the valid line was not answered:\n%s", out.String())
	}
}

// TestOneRuleForMessages: stdio reads messages by the rule of the HTTP endpoint: UTF-8,
// bounded nesting, the first of repeated members (MS-3).
func TestOneRuleForMessages(t *testing.T) {
	surface, _ := ledger(t, nil)
	serve := func(t *testing.T, lines ...string) string {
		var out bytes.Buffer
		if err := Serve(t.Context(), New(config(surface, io.Discard)), strings.NewReader(strings.Join(lines, "\n")), &out); err != nil {
			t.Fatal(err)
		}
		return out.String()
	}
	const initialize = `{"jsonrpc":"2.0","id":1,"id":9,"method":"initialize","params":{"protocolVersion":"2025-06-18","protocolVersion":"2025-03-26",` +
		`"capabilities":{},"clientInfo":{"name":"first","name":"last","version":"1"}},"method":"ping"}`
	t.Run("the first of repeated members counts", func(t *testing.T) {
		out := serve(t, initialize, `{"jsonrpc":"2.0","method":"notifications/initialized"}`,
			`{"jsonrpc":"2.0","id":2,"m\u0065thod":"ping","method":"nobody","id":3}`,
			`{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"query_records","name":"nobody","arguments":{"stream":"entries"}}}`,
			`{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries","stream":7}}}`)
		got := answers(t, out)
		if !strings.Contains(string(got["1"]["result"]), `"protocolVersion":"2025-06-18"`) || string(got["2"]["result"]) != "{}" || got["9"] != nil || got["3"] != nil {
			t.Errorf("%s", out)
		}
		if result := string(got["4"]["result"]); !strings.Contains(result, "records stream=") {
			t.Errorf("%s", result)
		}
		if result := string(got["5"]["result"]); !strings.Contains(result, "without duplicate names") {
			t.Errorf("%s", result)
		}
	})
	deep := strings.Repeat(`{"a":`, 64) + "1" + strings.Repeat("}", 64)
	for name, line := range map[string]string{
		"no UTF-8 in initialize": strings.Replace(initialize, "first", "\xff", 1),
		"no UTF-8 in a call":     strings.TrimSpace(strings.Replace(modernCall(1, "fetch", `{"id":"x"}`), `"x"`, "\"\xff\"", 1)),
		"nested too deep":        `{"jsonrpc":"2.0","id":1,"method":"ping","params":` + deep + `}`,
	} {
		t.Run(name, func(t *testing.T) {
			if out := serve(t, line); !strings.Contains(out, `"id":null`) || !strings.Contains(out, `"code":-32700`) || strings.Count(out, "\n") != 1 {
				t.Errorf("%q: %s", line, out)
			}
		})
	}
}

func TestLongLines(t *testing.T) {
	surface, _ := ledger(t, nil)
	for size, code := range map[int]string{lineMax - 1: `"code":-32700`, lineMax: `"code":-32600`} { // and the newline
		var out bytes.Buffer
		in := io.MultiReader(strings.NewReader(strings.Repeat("x", size)+"\n"), strings.NewReader(modernCall(1, "fetch", "{}")))
		if err := Serve(t.Context(), New(config(surface, io.Discard)), in, &out); err != nil {
			t.Fatal(err)
		}
		got := answers(t, out.String())
		if len(got) != 2 || !strings.Contains(string(got["null"]["error"]), code) || got["1"]["result"] == nil {
			t.Errorf("MS-269 %d bytes: %s", size, out.String())
		}
	}
}

func TestUnsupportedVersion(t *testing.T) {
	surface, _ := ledger(t, nil)
	msg, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": map[string]any{"_meta": modernMeta("2027-01-01")}})
	var out bytes.Buffer
	if err := Serve(t.Context(), New(config(surface, io.Discard)), bytes.NewReader(append(msg, '\n')), &out); err != nil {
		t.Fatal(err)
	}
	var e struct {
		Code int
		Data struct {
			Supported []string
			Requested string
		}
	}
	if err := json.Unmarshal(answers(t, out.String())["1"]["error"], &e); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(Versions(), e.Data.Supported); diff != "" || e.Code != -32022 || e.Data.Requested != "2027-01-01" {
		t.Errorf("MS-3 %+v\n%s", e, diff)
	}
}

// TestDrain: a running call is answered when the input is closed or the context is done
// (MS-262).
func TestDrain(t *testing.T) {
	for _, how := range []string{"input closed", "context done"} {
		t.Run(how, func(t *testing.T) {
			started, proceed := make(chan struct{}), make(chan struct{})
			surface, _ := ledger(t, roundTrip(func(req *http.Request) (*http.Response, error) {
				close(started)
				<-proceed
				return http.DefaultTransport.RoundTrip(req)
			}))
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			in, feed := io.Pipe()
			defer feed.Close()
			var out bytes.Buffer
			done := make(chan error, 1)
			go func() { done <- Serve(ctx, New(config(surface, io.Discard)), in, &out) }()
			io.WriteString(feed, modernCall(3, "query_records", `{"stream":"entries"}`))
			<-started
			if how == "input closed" {
				feed.Close()
			} else {
				cancel()
			}
			close(proceed)
			if err := <-done; err != nil {
				t.Fatal(err)
			}
			if _, ok := answers(t, out.String())["3"]["result"]; !ok {
				t.Errorf("the call was not answered: %s", out.String())
			}
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		})
	}
}

// A client that does not read its responses does not keep the process from ending.
func TestStopWhileWriteBlocks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		in, feed := io.Pipe()
		unread, out := io.Pipe()
		served := make(chan error, 1)
		go func() { served <- Serve(ctx, New(Config{}), in, out) }()
		io.WriteString(feed, "not a message\n")
		synctest.Wait() // until the refusal blocks
		cancel()
		if err := <-served; err != nil {
			t.Errorf("Serve = %v", err)
		}
		feed.Close()
		unread.Close()
	})
}
