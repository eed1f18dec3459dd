package rs_test

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

var update = flag.Bool("update", false, "rewrite the answers of the conversation files")

// worlds are what a conversation can be about; its comment names one and a grant.
var worlds = map[string]func(testing.TB) *resttest.World{
	"ledger": ledger, "cabinet": filledCabinet, "two sources": twoSources,
}

// shown are the headers a conversation records.
var shown = []string{"Allow", "Cache-Control", "Content-Type", "PDPP-Version", "Preference-Applied", "Request-Id", "WWW-Authenticate"}

var cursors = regexp.MustCompile(`(pc1|cc1|cs1)\.[A-Za-z0-9_-]+`)

// fleeting are the values that differ from run to run.
var fleeting = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`req_[0-9a-f]{32}`), "REQUEST_ID"},
	{cursors, "CURSOR"},
	{regexp.MustCompile(`grt_[a-z0-9]+`), "GRANT_ID"},
	{regexp.MustCompile(`cli_[a-z0-9]+`), "CLIENT_ID"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://RS"},
}

// TestConversations replays testdata/*.txtar. The comment of a file says which
// world it is about ("world: ledger") and which grant the client has ("grant:
// {…}"; without one the owner asks). Each file of the archive is a request, its
// lines a request line and headers, and is followed by the answer. CURSOR in a
// request stands for the last cursor that was given.
func TestConversations(t *testing.T) {
	paths, err := filepath.Glob("testdata/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no conversations: %v", err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) { converse(t, path) })
	}
}

func converse(t *testing.T, path string) {
	raw, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	comment, parts := splitArchive(string(raw))
	world, ok := worlds[setting(comment, "world")]
	if !ok || len(parts) == 0 || len(parts)%2 != 0 {
		t.Fatalf("%s is no conversation", path)
	}
	w := world(t)
	token := w.OwnerToken()
	if spec := setting(comment, "grant"); spec != "" {
		token, _ = w.Grant(spec)
	}
	cursor := ""
	for i := 0; i < len(parts); i += 2 {
		request, answer := parts[i], &parts[i+1]
		a := send(t, w, token, strings.ReplaceAll(request.text, "CURSOR", cursor))
		if next := cursors.FindString(string(a.Body)); next != "" {
			cursor = next
		}
		got := transcript(a)
		if *update {
			answer.text = got
		} else if diff := cmp.Diff(answer.text, got); diff != "" {
			t.Errorf("%s: answer differs (-want +got):\n%s", request.name, diff)
		}
	}
	if *update {
		if err := os.WriteFile(path, []byte(joinArchive(comment, parts)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// part is a file of an archive in the txtar format: a line "-- name --", then
// its text.
type part struct{ name, text string }

func splitArchive(raw string) (comment string, parts []part) {
	for line := range strings.Lines(raw) {
		name, ok := strings.CutPrefix(line, "-- ")
		name, closed := strings.CutSuffix(name, " --\n")
		switch {
		case ok && closed:
			parts = append(parts, part{name: name})
		case len(parts) == 0:
			comment += line
		default:
			parts[len(parts)-1].text += line
		}
	}
	return comment, parts
}

func joinArchive(comment string, parts []part) string {
	out := comment
	for _, p := range parts {
		out += "-- " + p.name + " --\n" + p.text
	}
	return out
}

// setting reads "name: value" from the comment of an archive.
func setting(comment, name string) string {
	for line := range strings.SplitSeq(comment, "\n") {
		if value, ok := strings.CutPrefix(line, name+": "); ok {
			return value
		}
	}
	return ""
}

func send(t *testing.T, w *resttest.World, token, request string) resttest.Answer {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(request), "\n")
	method, target, ok := strings.Cut(lines[0], " ")
	if !ok {
		t.Fatalf("no request line: %q", request)
	}
	headers := lines[1:]
	if len(headers) > 0 && headers[0] == "Authorization: none" {
		token, headers = "", headers[1:]
	}
	return w.Do(method, token, target, "", headers...)
}

// transcript is an answer as it is written down: status, headers, the exact body.
func transcript(a resttest.Answer) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n", a.Status)
	for _, name := range shown {
		for _, value := range a.Header.Values(name) {
			fmt.Fprintf(&b, "%s: %s\n", name, value)
		}
	}
	b.WriteByte('\n')
	b.Write(a.Body)
	if len(a.Body) == 0 {
		b.WriteString("(no body)\n")
	}
	out := b.String()
	if !strings.HasSuffix(out, "\n") {
		out += "\n" // the format needs one
	}
	for _, f := range fleeting {
		out = f.pattern.ReplaceAllString(out, f.name)
	}
	return out
}
