package mcp

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"pdpp/internal/rawjson"
	"pdpp/internal/rs/resttest"
)

// script is a server with scripted answers, and a surface over it.
type script struct {
	*Surface
	URL  string
	sent *requests

	mu      sync.Mutex
	answer  func(target string) (status int, body string)
	answers map[string]string // by path; "409 {…}" is an error
	applies bool              // it reports preferences as applied
}

// always returns one answer for every request.
func always(body string) func(string) (int, string) {
	return func(string) (int, string) { return http.StatusOK, body }
}

// scripted returns a server that answers by a function and ignores preferences.
func scripted(t testing.TB, answer func(target string) (int, string)) *script {
	t.Helper()
	s := newScript(t)
	s.answer, s.applies = answer, false
	return s
}

// newScript returns a server with answers: path, body, path, body, …
func newScript(t testing.TB, answers ...string) *script {
	t.Helper()
	s := &script{answers: map[string]string{}, applies: true, sent: &requests{}}
	s.answer = s.byPath
	for i := 0; i < len(answers); i += 2 {
		s.answers[answers[i]] = answers[i+1]
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	s.Surface = surface(t, srv.URL, "token", s.sent)
	return s
}

// does sets the function that answers.
func (s *script) does(answer func(target string) (int, string)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// says sets the answer of a path, and whether preferences are applied.
func (s *script) says(path, body string, applies bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path], s.applies = body, applies
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	status, body := s.answer(r.URL.RequestURI())
	applies := s.applies
	s.mu.Unlock()
	if p := r.Header.Get("Prefer"); p != "" && applies {
		w.Header().Set("Preference-Applied", p)
	}
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Request-Id", "req_1")
	w.WriteHeader(status)
	if _, err := w.Write([]byte(body)); err != nil {
		panic(err)
	}
}

// byPath returns the answer of a path.
func (s *script) byPath(target string) (status int, body string) {
	path, _, _ := strings.Cut(target, "?")
	body, known := s.answers[path]
	if !known {
		return http.StatusNotFound, `{"error":{"type":"not_found_error","code":"not_found","message":"No such thing."}}`
	}
	if body == "" || body[0] < '0' || body[0] > '9' {
		return http.StatusOK, body
	}
	if _, err := fmt.Sscanf(body, "%d", &status); err != nil {
		panic(err)
	}
	return status, body[len("409 "):]
}

// show returns a result for a golden file: the text, and the structured output without the
// received data.
func (s *script) show(t testing.TB, res *Result) string {
	t.Helper()
	rest := []byte(`{"data":"as received"`)
	members := rawjson.Scan(res.Structured)
	for name := range members.Members() {
		if string(name) != "data" {
			rest = append(append(rest, ','), members.Member()...)
		}
	}
	res = &Result{Structured: append(rest, '}'), Content: res.Content}
	return strings.ReplaceAll(res.Content[0].Text+"\n\n"+indented(t, res.Structured)+"\n", s.URL, "https://p.example")
}

func indented(t testing.TB, raw []byte) string {
	t.Helper()
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(json.RawMessage(raw)); err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// text returns the text of a result.
func text(res *Result) string { return res.Content[0].Text }

var outputSchemas sync.Map // *Tool → *jsonschema.Resolved

// conforms checks structured output against the output schema of its tool (MS-43).
func conforms(t interface {
	Helper()
	Fatalf(string, ...any)
}, tool string, structured []byte,
) {
	t.Helper()
	cached, ok := outputSchemas.Load(tool)
	if !ok {
		var schema jsonschema.Schema
		if err := json.Unmarshal([]byte(tools.Lookup(tool).output), &schema); err != nil {
			t.Fatalf("MS-43 %s: %v", tool, err)
		}
		resolved, err := schema.Resolve(nil)
		if err != nil {
			t.Fatalf("MS-43 %s: %v", tool, err)
		}
		cached, _ = outputSchemas.LoadOrStore(tool, resolved)
	}
	var value any
	if err := json.Unmarshal(structured, &value); err != nil {
		t.Fatalf("MS-43 %s: %v", tool, err)
	}
	if err := cached.(*jsonschema.Resolved).Validate(value); err != nil {
		t.Fatalf("MS-43 %s: %v\n%.600s", tool, err, structured)
	}
}

// offered is a call that a text offers.
type offered struct{ tool, args string }

var offer = regexp.MustCompile(`(?m)^(?:   more: |next: |later: |previous: )([a-z_]+) (\{.*\})(?: other_fields=(\[.*\])| (?:shows|repeats|pages) [a-z,;: ]+)?$`)

// offers returns the calls that a text offers.
func offers(text string) (list []offered) {
	for _, m := range offer.FindAllStringSubmatch(text, -1) {
		list = append(list, offered{m[1], m[2]})
	}
	return list
}

// accepted checks that the tool accepts the call.
func (o offered) accepted() error {
	tool := tools.Lookup(o.tool)
	if tool == nil {
		return fmt.Errorf("there is no tool %s", o.tool)
	}
	args, err := tool.args.parse([]byte(o.args))
	if err == nil && o.tool == "read_record_field" {
		_, err = args.window()
	}
	return err
}

// worldSurface returns a surface over a real server.
func worldSurface(w *resttest.World, token string) *Surface {
	return surface(w.T, w.URL, token, &requests{})
}

// data returns the member data of a result.
func data(t testing.TB, res *Result) string {
	t.Helper()
	var sc struct{ Data json.RawMessage }
	if err := json.Unmarshal(res.Structured, &sc); err != nil {
		t.Fatal(err)
	}
	return string(sc.Data)
}

// reporter is implemented by tests and properties.
type reporter interface {
	Helper()
	Errorf(format string, args ...any)
}

// runnable checks that every call of a text is accepted by its tool.
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

// recorded returns the body of a recorded answer of another server. It skips the test when
// there are no recordings.
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
