package mcpserve

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
)

// TestRequestsBeforeInitialize: a request needs a revision, from initialize or from its
// own _meta (MS-3).
func TestRequestsBeforeInitialize(t *testing.T) {
	surface, _ := ledger(t, nil)
	initialize := `{"method":"initialize","params":{"protocolVersion":"2025-06-18"}}`
	for _, c := range []struct {
		what     string
		requests []string // the last one counts
		era      string   // of the last request
		want     string
	}{
		{"a list", []string{`{"method":"tools/list"}`}, "", `"code":-32600`},
		{"a call", []string{`{"method":"tools/call","params":{"name":"schema"}}`}, "", `"code":-32600`},
		{"an unknown method", []string{`{"method":"nobody"}`}, "", `"code":-32600`},
		{"a ping", []string{`{"method":"ping"}`}, "", `"result":{}`},
		{"a ping with null params", []string{`{"method":"ping","params":null}`}, "", `"result":{}`},
		{"a list after one with _meta", []string{`{"method":"tools/list","params":{"_meta":` + metaJSON + `}}`, `{"method":"tools/list"}`}, "", `"code":-32600`},
		{"server/discover", []string{`{"method":"server/discover"}`}, "", `"code":-32601`},
		{"a list with _meta", []string{`{"method":"tools/list","params":{}}`}, Modern, `"resultType":"complete"`},
		{"a ping with _meta", []string{`{"method":"ping","params":{}}`}, Modern, `"code":-32601`},
		{"initialize with _meta", []string{`{"method":"initialize","params":{}}`}, Modern, `"code":-32601`},
		{"bad params", []string{`{"method":"initialize","params":[]}`, `{"method":"tools/list"}`}, "", `"code":-32600`},
		{"initialize without params", []string{`{"method":"initialize"}`}, "", `"protocolVersion":"2025-11-25"`},
		{"initialize twice", []string{initialize, initialize}, "", `"code":-32600`},
		{"a list after initialize", []string{initialize, `{"method":"tools/list"}`}, "", `"tools":`},
		{"an unknown method after initialize", []string{initialize, `{"method":"nobody"}`}, "", `"code":-32601`},
	} {
		t.Run(c.what, func(t *testing.T) {
			var in []string
			for i, request := range c.requests {
				era := ""
				if i == len(c.requests)-1 {
					era = c.era
				}
				in = append(in, frame(t, i, request, era))
			}
			var out bytes.Buffer
			if err := Serve(t.Context(), New(config(surface, io.Discard)), strings.NewReader(strings.Join(in, "\n")), &out); err != nil {
				t.Fatal(err)
			}
			lines := strings.Split(strings.TrimSpace(out.String()), "\n")
			last := fmt.Sprintf(`"id":%d,`, len(in)-1)
			i := slices.IndexFunc(lines, func(line string) bool { return strings.Contains(line, last) })
			if len(lines) != len(in) || i < 0 || !strings.Contains(lines[i], c.want) {
				t.Errorf("MS-3 %s, want %s", out.String(), c.want)
			}
		})
	}
}

// metaJSON is the _meta of a request of revision 2026-07-28.
const metaJSON = `{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

// TestCancelledRequestHasNoResponse: only the id of the request cancels it.
func TestCancelledRequestHasNoResponse(t *testing.T) {
	started := make(chan struct{}, 2)
	surface, _ := ledger(t, roundTrip(func(req *http.Request) (*http.Response, error) {
		started <- struct{}{}
		<-req.Context().Done()
		return nil, req.Context().Err()
	}))
	in, feed := io.Pipe()
	var out bytes.Buffer
	done := make(chan error, 1)
	go func() { done <- Serve(t.Context(), New(config(surface, io.Discard)), in, &out) }()
	io.WriteString(feed, modernCall(3, "query_records", `{"stream":"entries"}`))
	<-started
	io.WriteString(feed, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"3"}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled"}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":3}}`+"\n")
	feed.Close()
	if err := <-done; err != nil || out.Len() > 0 {
		t.Errorf("MS-13 %v, %s", err, out.String())
	}
}

// TestEqualIDs: requests with the same id that run at the same time are all answered.
func TestEqualIDs(t *testing.T) {
	var running atomic.Int32
	both := make(chan struct{})
	surface, _ := ledger(t, roundTrip(func(*http.Request) (*http.Response, error) {
		if running.Add(1) == 2 {
			close(both)
		}
		<-both
		return &http.Response{StatusCode: http.StatusForbidden, Body: http.NoBody}, nil
	}))
	in := strings.Repeat(modernCall(3, "query_records", `{"stream":"entries"}`), 2)
	var out bytes.Buffer
	if err := Serve(t.Context(), New(config(surface, io.Discard)), strings.NewReader(in), &out); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), `"id":3,`); n != 2 {
		t.Errorf("%d responses to 2 requests: %s", n, out.String())
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

// TestOutputFails: Serve ends by itself when the client no longer reads (MS-262).
func TestOutputFails(t *testing.T) {
	surface, _ := ledger(t, nil)
	in, feed := io.Pipe()
	defer feed.Close()
	go io.WriteString(feed, `{"jsonrpc":"2.0","id":1,"method":"ping"}`+"\n")
	err := Serve(t.Context(), New(config(surface, io.Discard)), in, brokenWriter{})
	if !errors.Is(err, ErrWrite) || !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("MS-262 %v", err)
	}
}

// TestInputFails: an error of the input is an error of Serve; its end is not.
func TestInputFails(t *testing.T) {
	surface, _ := ledger(t, nil)
	in, feed := io.Pipe()
	feed.CloseWithError(io.ErrNoProgress)
	if err := Serve(t.Context(), New(config(surface, io.Discard)), in, io.Discard); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("Serve: %v", err)
	}
}
