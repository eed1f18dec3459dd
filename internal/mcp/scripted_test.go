package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

// scripted is a resource server that gives prepared answers, and remembers what it was
// asked.
type scripted struct {
	t   testing.TB
	srv *httptest.Server

	mu      sync.Mutex
	asked   []string
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
		s.mu.Lock()
		s.asked = append(s.asked, r.URL.RequestURI())
		s.mu.Unlock()
		status, body := s.answers(r.URL.RequestURI())
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Request-Id", "req_1")
		w.WriteHeader(status)
		io.WriteString(w, body)
	}))
	t.Cleanup(s.srv.Close)
	return s
}

func (s *scripted) surface() *Surface { return surfaceOf(s.t, s.srv.URL, "token") }

// requests are the targets that were asked for since the last call.
func (s *scripted) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	asked := s.asked
	s.asked = nil
	return asked
}

// surfaceOf is a surface over the server at a URL.
func surfaceOf(t testing.TB, url, token string) *Surface {
	t.Helper()
	client, err := rsclient.New(rsclient.Config{
		Provider: url, Version: "test", Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Surface{RS: client, Log: slog.New(slog.DiscardHandler)}
}

// worldSurface is a surface over a real server.
func worldSurface(w *resttest.World, token string) *Surface { return surfaceOf(w.T, w.URL, token) }

// run calls a tool and checks what holds for every result: structured output that its
// schema accepts, and one text at least.
func run(t testing.TB, s *Surface, tool, args string) *Result {
	t.Helper()
	res := s.Call(t.Context(), Lookup(tool), []byte(args))
	accepts(t, Lookup(tool).OutputSchema(), res.Structured)
	if len(res.Content) == 0 || res.Content[0].Text == "" {
		t.Fatalf("%s %s has no text", tool, args)
	}
	return res
}

// succeed is run of a call that must succeed.
func succeed(t testing.TB, s *Surface, tool, args string) *Result {
	t.Helper()
	res := run(t, s, tool, args)
	if res.IsError {
		t.Fatalf("%s %s failed: %s", tool, args, res.Content[0].Text)
	}
	return res
}

// fail is run of a call that must fail with a code.
func fail(t testing.TB, s *Surface, tool, args, code string) *Result {
	t.Helper()
	res := run(t, s, tool, args)
	var sc struct{ Error struct{ Code string } }
	if err := json.Unmarshal(res.Structured, &sc); err != nil || !res.IsError || sc.Error.Code != code {
		t.Fatalf("%s %s gave %s, want the error %s", tool, args, res.Structured, code)
	}
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
