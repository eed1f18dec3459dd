package mcpserve

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/mcp"
)

// TestAnswerAgreesWithTheSDK: the same requests, answered by the SDK and past it, in
// every revision.
func TestAnswerAgreesWithTheSDK(t *testing.T) {
	requests := []string{
		`{"method":"tools/list","params":{}}`,
		`{"method":"tools/list","params":{"cursor":"x"}}`,
		`{"method":"resources/list","params":{}}`,
		`{"method":"resources/templates/list","params":{}}`,
		`{"method":"tools/call","params":{"name":"query_records","arguments":{"stream":"entries"}}}`,
		`{"method":"tools/call","params":{"name":"fetch","arguments":{"id":"cin_a1/entries:ent_31"}}}`,
		`{"method":"tools/call","params":{"name":"fetch","arguments":{"id":"entries:nobody"}}}`,
		`{"method":"tools/call","params":{"name":"fetch","arguments":{"id":7}}}`,
		`{"method":"tools/call","params":{"name":"schema"}}`,
		`{"method":"tools/call","params":{"name":"no such tool","arguments":{}}}`,
		`{"method":"resources/read","params":{"uri":"` + handleURI("cin_a1", "entries", "ent_31") + `"}}`,
		`{"method":"resources/read","params":{"uri":"` + handleURI("cin_a1", "entries", "nobody") + `"}}`,
		`{"method":"resources/read","params":{"uri":"pdpp://record/x"}}`,
	}
	for _, era := range eras {
		t.Run(era, func(t *testing.T) {
			surface, _ := ledger(t, fixedRequestID{})
			s := New(config(surface, io.Discard))
			for i, request := range requests {
				line := framed(t, request, era)
				direct, past := converse(t, s, era, line, true)
				bySDK, _ := converse(t, s, era, line, false)
				if !past {
					t.Errorf("request %d is answered by the SDK: %s", i, line)
				}
				if diff := cmp.Diff(bySDK, direct); diff != "" {
					t.Errorf("%s (-SDK +past it):\n%s", line, diff)
				}
			}
			http.DefaultTransport.(*http.Transport).CloseIdleConnections()
		})
	}
}

// fixedRequestID gives all answers one Request-Id, so that they can be compared.
type fixedRequestID struct{}

func (fixedRequestID) RoundTrip(req *http.Request) (*http.Response, error) {
	req = req.Clone(req.Context())
	req.Header.Set("Request-Id", "req_0123456789abcdef0123456789abcdef")
	return http.DefaultTransport.RoundTrip(req)
}

// framed is a request of a revision.
func framed(t *testing.T, request, era string) string {
	t.Helper()
	var m map[string]any
	if err := json.Unmarshal([]byte(request), &m); err != nil {
		t.Fatal(err)
	}
	m["jsonrpc"], m["id"] = "2.0", 9
	if era == Modern {
		m["params"].(map[string]any)["_meta"] = modernMeta(era)
	}
	text, err := json.Marshal(m)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// converse sends a request to a new session and gives its answer. past reports that it
// was not the SDK that answered.
func converse(t *testing.T, s *Server, era, line string, direct bool) (answer map[string]any, past bool) {
	t.Helper()
	in := line + "\n"
	if era != Modern {
		in = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"` + era + `","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}` + "\n" +
			`{"jsonrpc":"2.0","method":"notifications/initialized"}` + "\n" + in
	}
	var out bytes.Buffer
	w := &lockedWriter{w: &out}
	calls := newCalls(t.Context(), s, w)
	if era != Modern {
		calls.agree(era) // the lines are read faster than initialize is answered
	}
	take := func(m *Message) bool {
		if !direct {
			return false
		}
		taken := calls.take(m)
		past = past || taken
		return taken
	}
	session, err := s.SDK().Connect(t.Context(), &stdio{in: newLines(strings.NewReader(in), w, take), out: w, stop: t.Context(), agreed: calls.agree}, nil)
	if err != nil {
		t.Fatal(err)
	}
	if err := session.Wait(); err != nil {
		t.Fatal(err)
	}
	calls.end()
	raw, err := json.Marshal(answers(t, out.String())["9"])
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer) == 0 {
		t.Fatalf("no answer to %s in %s", line, out.String())
	}
	return answer, past
}

func handleURI(connection, stream, record string) string {
	return mcp.Handle{Connection: connection, Stream: stream, Record: record}.URI()
}
