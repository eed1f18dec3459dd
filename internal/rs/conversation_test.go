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

// worlds are the fixtures that the comment of a conversation can name.
var worlds = map[string]func(testing.TB) *resttest.World{
	"ledger": ledger, "cabinet": filledCabinet, "two sources": twoSources,
}

// recordedHeaders are the headers that a conversation contains.
var recordedHeaders = []string{"Allow", "Cache-Control", "Content-Type", "PDPP-Version", "Preference-Applied", "Request-Id", "WWW-Authenticate"}

var cursors = regexp.MustCompile(`(pc1|cc1|cs1)\.[A-Za-z0-9_-]+`)

// volatileValues are replaced by names because they differ from run to run.
var volatileValues = []struct {
	pattern *regexp.Regexp
	name    string
}{
	{regexp.MustCompile(`req_[0-9a-f]{32}`), "REQUEST_ID"},
	{cursors, "CURSOR"},
	{regexp.MustCompile(`grt_[a-z0-9]+`), "GRANT_ID"},
	{regexp.MustCompile(`cli_[a-z0-9]+`), "CLIENT_ID"},
	{regexp.MustCompile(`http://127\.0\.0\.1:\d+`), "http://RS"},
}

// TestConversations replays testdata/*.txtar. The comment of an archive names the world
// ("world: ledger") and the grant of the client ("grant: {…}"; without it the owner reads).
// The files of an archive are requests, each followed by its answer. A request consists of a
// request line and headers. CURSOR in a request is replaced by the last cursor received.
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
		t.Fatalf("%s is not a valid conversation", path)
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

// part is a file of a txtar archive: a line "-- name --", then its text.
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

// setting returns the value of "name: value" in the comment of an archive.
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

// transcript returns an answer as conversations contain it: status, headers, exact body.
func transcript(a resttest.Answer) string {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%d\n", a.Status)
	for _, name := range recordedHeaders {
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
	for _, f := range volatileValues {
		out = f.pattern.ReplaceAllString(out, f.name)
	}
	return out
}
