package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rawjson"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// drawer is a surface over a real server with the cabinet on two connections:
// cin_c1 ("Left drawer") and cin_c2 (no label).
type drawer struct {
	*resttest.World
	*Surface
	sent *requests
}

const wholeCabinet = `{"source":{"connector_key":"cabinet"},"streams":[{"name":"*"}]}`

// newDrawer returns a drawer with these items on cin_c1. The grant covers the connections
// that exist when it is created.
func newDrawer(t *testing.T, grant string, items ...string) *drawer {
	t.Helper()
	w := resttest.Cabinet(t)
	if len(items) > 0 {
		w.Ingest("cin_c1", "items", items...)
	}
	d := &drawer{World: w, sent: &requests{}}
	d.as(grant)
	return d
}

// as replaces the surface of the drawer by one with another grant.
func (d *drawer) as(grant string) *drawer {
	d.T.Helper()
	token, _ := d.Grant(grant)
	d.Surface = surface(d.T, d.URL, token, d.sent)
	return d
}

// surface returns a surface over HTTP that records its requests in sent.
func surface(t testing.TB, provider, token string, sent *requests) *Surface {
	t.Helper()
	client, err := rsclient.New(rsclient.Config{
		Provider: provider, Version: "test", Transport: sent,
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		t.Fatal(err)
	}
	return &Surface{RS: client, Log: slog.New(slog.DiscardHandler)}
}

// requests are the requests that a surface sent.
type requests struct {
	mu   sync.Mutex
	list []string
}

func (r *requests) RoundTrip(req *http.Request) (*http.Response, error) {
	r.mu.Lock()
	line := req.URL.RequestURI()
	if p := req.Header.Get("Prefer"); p != "" {
		line += " Prefer: " + p
	}
	r.list = append(r.list, line)
	r.mu.Unlock()
	return http.DefaultTransport.RoundTrip(req)
}

// take returns the requests since the last call of take.
func (r *requests) take() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := r.list
	r.list = nil
	return list
}

// filed returns a line for the items stream; members follow the id.
func filed(id, members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"key":%s,"data":{"id":%[1]s%s}}`, jsonText(id), members)
}

// jsonText returns a string as JSON.
func jsonText(s string) string {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// do calls a tool, which may fail.
func do(t testing.TB, s *Surface, tool, args string) *Result {
	t.Helper()
	res := s.Call(t.Context(), tools.Lookup(tool), []byte(args))
	if !json.Valid(res.Structured) {
		t.Fatalf("%s %s: structured output is not JSON: %s", tool, args, res.Structured)
	}
	conforms(t, tool, res.Structured)
	if res.IsError && len(res.Content) != 1 {
		t.Fatalf("MS-41 %s %s: an error with %d blocks", tool, args, len(res.Content))
	}
	return res
}

// mustDo calls a tool that must succeed.
func mustDo(t testing.TB, s *Surface, tool, args string) *Result {
	t.Helper()
	res := do(t, s, tool, args)
	if res.IsError {
		t.Fatalf("%s %s: %s", tool, args, res.Content[0].Text)
	}
	return res
}

// mustFail calls a tool that must fail with a code.
func mustFail(t testing.TB, s *Surface, tool, args, code string) *Result {
	t.Helper()
	res := do(t, s, tool, args)
	if got := find(t, res.Structured, "error.code"); !res.IsError || got != code {
		t.Fatalf("%s %s: code %v, want %s: %.500s", tool, args, got, code, res.Content[0].Text)
	}
	if !strings.HasPrefix(res.Content[0].Text, "error "+code) {
		t.Errorf("MS-42 %s %s: text %q", tool, args, res.Content[0].Text)
	}
	return res
}

// find returns the value at a dotted path of a JSON text, or nil.
func find(t testing.TB, raw []byte, path string) any {
	t.Helper()
	return resttest.Answer{T: t, Body: raw}.At(path)
}

var requestIDs = regexp.MustCompile(`req_[A-Za-z0-9_-]{8,}`)

// steady replaces what differs from run to run.
func (d *drawer) steady(s string) string {
	s = strings.ReplaceAll(s, d.URL, "https://p.example")
	return requestIDs.ReplaceAllString(s, "req_1")
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	path := filepath.Join("testdata", name)
	if *update {
		if err := os.MkdirAll("testdata", 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// callOf returns the arguments of the line that starts with a label and a tool.
func callOf(text, label, tool string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if args, ok := strings.CutPrefix(strings.TrimSpace(line), label+" "+tool+" "); ok {
			args, _, _ = strings.Cut(args, " other_fields=")
			return args
		}
	}
	return ""
}

// letter returns a text of n characters, some of two and four bytes, in which no part
// repeats.
func letter(n int) string {
	var b strings.Builder
	for i := 0; b.Len() < 5*n; i++ {
		fmt.Fprintf(&b, "Zeile %d: für \"Ada\" 😀\n", i)
	}
	return string([]rune(b.String())[:n])
}

// orderedMembers returns the members of a JSON object in their order.
func orderedMembers(raw []byte) iter.Seq2[string, string] {
	return func(yield func(string, string) bool) {
		for name, value := range rawjson.Members(raw) {
			if !yield(string(name), string(value)) {
				return
			}
		}
	}
}
