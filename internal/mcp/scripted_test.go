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

// runnable checks that every call that a text offers is one that its tool accepts.
func runnable(t reporter, text string) {
	t.Helper()
	list := offers(text)
	if n := strings.Count("\n"+text, "\nnext: "); n > len(list) {
		t.Errorf("of %d next: lines only %d are calls:\n%s", n, len(list), text)
	}
	for _, o := range list {
		if err := o.accepted(); err != nil {
			t.Errorf("%s %s is refused: %v", o.tool, o.args, err)
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
