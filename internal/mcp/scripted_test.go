package mcp

import (
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

// scripted is a resource server that gives prepared answers, with a note of what was
// asked.
type scripted struct {
	t   testing.TB
	srv *httptest.Server

	sent    requests
	answers func(target string) (status int, body string)
}

// always gives one answer to everything.
func always(body string) func(string) (int, string) {
	return func(string) (int, string) { return http.StatusOK, body }
}

func newScripted(t testing.TB, answers func(target string) (int, string)) *scripted {
	t.Helper()
	s := &scripted{t: t, answers: answers}
	s.srv = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		status, body := s.answers(r.URL.RequestURI())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_1")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.srv.Close)
	return s
}

func (s *scripted) surface() *Surface { return surface(s.t, s.srv.URL, "token", &s.sent) }

// requests are the targets that were asked for since the last call.
func (s *scripted) requests() []string { return s.sent.take() }

// worldSurface is a surface over a real server.
func worldSurface(w *resttest.World, token string) *Surface {
	return surface(w.T, w.URL, token, &requests{})
}

// run calls a tool and checks what holds for every result: its schema accepts the
// structured output.
func run(t testing.TB, s *Surface, tool, args string) *Result {
	t.Helper()
	res := do(t, s, tool, args)
	accepts(t, Lookup(tool).OutputSchema(), res.Structured)
	return res
}

// succeed is run of a call that must succeed.
func succeed(t testing.TB, s *Surface, tool, args string) *Result {
	t.Helper()
	res := mustDo(t, s, tool, args)
	accepts(t, Lookup(tool).OutputSchema(), res.Structured)
	return res
}

// fail is run of a call that must fail with a code.
func fail(t testing.TB, s *Surface, tool, args, code string) *Result {
	t.Helper()
	res := mustFail(t, s, tool, args, code)
	accepts(t, Lookup(tool).OutputSchema(), res.Structured)
	return res
}

// data is the member data of a result.
func data(t testing.TB, res *Result) string {
	t.Helper()
	var sc struct{ Data json.RawMessage }
	if err := json.Unmarshal(res.Structured, &sc); err != nil {
		t.Fatal(err)
	}
	return string(sc.Data)
}

// reporter is what tests and properties have in common.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// runnable checks that every next: and more: line of a text is a call that the named
// tool accepts.
func runnable(t reporter, text string) {
	t.Helper()
	for line := range strings.SplitSeq(text, "\n") {
		if strings.HasPrefix(line, "cut to ") {
			_, line, _ = strings.Cut(line, "; ")
		}
		line = strings.TrimLeft(line, " ")
		label, rest, ok := strings.Cut(line, ": ")
		if !ok || label != "next" && label != "more" && label != "previous" {
			continue
		}
		name, args, _ := strings.Cut(rest, " ")
		tool := Lookup(name)
		var raw json.RawMessage
		if err := json.NewDecoder(strings.NewReader(args)).Decode(&raw); tool == nil || err != nil {
			t.Errorf("%q is no call: %v", line, err)
			continue
		}
		if _, err := tool.args.parse(raw); err != nil {
			t.Errorf("%q is refused: %v", line, err)
		}
	}
}

// recordings are answers of the other implementation, beside the repository.
const recordings = "../../../shared/interop"

// recorded is the body of a recorded answer of another server; the test is skipped
// where the recordings are not there.
func recorded(t testing.TB, name string) string {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join(recordings, name+".json"))
	if errors.Is(err, fs.ErrNotExist) {
		t.Skip("the recorded answers are not here")
	}
	var r struct{ Body json.RawMessage }
	if err == nil {
		err = json.Unmarshal(raw, &r)
	}
	if err != nil {
		t.Fatal(err)
	}
	return string(r.Body)
}
