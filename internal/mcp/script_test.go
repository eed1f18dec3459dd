package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/jsonschema-go/jsonschema"

	"pdpp/internal/rawjson"
)

// script is a server that answers what it is told to, and a surface over it.
type script struct {
	*Surface
	URL  string
	sent *requests

	mu      sync.Mutex
	answers map[string]string // by path; "409 {…}" is an error
	applies bool              // it says that it applied what was preferred
}

// newScript makes a server with answers: path, body, path, body, …
func newScript(t testing.TB, answers ...string) *script {
	t.Helper()
	s := &script{answers: map[string]string{}, applies: true, sent: &requests{}}
	for i := 0; i < len(answers); i += 2 {
		s.answers[answers[i]] = answers[i+1]
	}
	srv := httptest.NewServer(s)
	t.Cleanup(srv.Close)
	s.URL = srv.URL
	s.Surface = surface(t, srv.URL, "token", s.sent)
	return s
}

// says sets the answer of a path, and whether preferences are applied.
func (s *script) says(path, body string, applies bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answers[path], s.applies = body, applies
}

func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	body, known := s.answers[r.URL.Path]
	applies := s.applies
	s.mu.Unlock()
	status := http.StatusOK
	if !known {
		status, body = http.StatusNotFound, `{"error":{"type":"not_found_error","code":"not_found","message":"No such thing."}}`
	}
	if body != "" && body[0] >= '0' && body[0] <= '9' {
		if _, err := fmt.Sscanf(body, "%d", &status); err != nil {
			panic(err)
		}
		body = body[len("409 "):]
	}
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

// show is a result as a person reads it: the text, and the structured output without
// the received data.
func (s *script) show(t testing.TB, res *Result) string {
	t.Helper()
	rest := []byte(`{"data":"as received"`)
	for name, place := range rawjson.Places(res.Structured) {
		if string(name) != "data" {
			rest = append(append(rest, ','), res.Structured[place.Start:place.End]...)
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

// text is the text of a result.
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
		if err := json.Unmarshal(Lookup(tool).OutputSchema(), &schema); err != nil {
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

// offers are the calls that a text offers.
func offers(text string) (list []offered) {
	for _, m := range offer.FindAllStringSubmatch(text, -1) {
		list = append(list, offered{m[1], m[2]})
	}
	return list
}

// accepted checks that a call would be taken by the tool it names.
func (o offered) accepted() error {
	tool := Lookup(o.tool)
	if tool == nil {
		return fmt.Errorf("there is no tool %s", o.tool)
	}
	args, err := tool.args.parse([]byte(o.args))
	if err == nil && o.tool == "read_record_field" {
		_, err = args.window()
	}
	return err
}
