package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/store"
)

// result is the outcome of a run of the program.
type result struct {
	code           int
	stdout, stderr string
}

func runMain(t *testing.T, vars map[string]string, args ...string) result {
	t.Helper()
	var out, errOut bytes.Buffer
	code := Main(t.Context(), Env{
		Program: "pdpp", Args: args, Stdin: strings.NewReader(""), Stdout: &out, Stderr: &errOut,
		Getenv: func(name string) string { return vars[name] }, Now: time.Now,
	})
	return result{code, out.String(), errOut.String()}
}

func TestExitCodes(t *testing.T) {
	for _, test := range []struct {
		err  error
		want int
	}{
		{nil, 0},
		{errors.New("anything"), 1},
		{pdpp.Errorf(pdpp.CodeInternal, "x"), 1},
		{pdpp.Errorf(pdpp.CodeUsage, "x"), 64},
		{pdpp.Errorf(pdpp.CodeInvalidInput, "x"), 65},
		{pdpp.Errorf(pdpp.CodeNotFound, "x"), 65},
		{errReported, 65},
		{pdpp.Errorf(pdpp.CodeInputMissing, "x"), 66},
		{pdpp.Errorf(pdpp.CodeCannotCreate, "x"), 73},
		{pdpp.Errorf(pdpp.CodeBusy, "x"), 75},
		{pdpp.Errorf(pdpp.CodePermission, "x"), 77},
		{pdpp.Errorf(pdpp.CodeNotConfigured, "x"), 78},
		{errors.Join(fmt.Errorf("op: %w", pdpp.Errorf(pdpp.CodeBusy, "x")), errors.New("close")), 75},
		{context.Canceled, 130},
		{&pdpp.Error{Code: pdpp.CodeInputMissing, Err: context.Canceled}, 130},
	} {
		if got := exitCode(test.err); got != test.want {
			t.Errorf("exitCode(%v) = %d, want %d", test.err, got, test.want)
		}
	}
}

func TestFailShape(t *testing.T) {
	err := &pdpp.Error{Code: pdpp.CodeBusy, Message: "It is <busy>.", Hint: "Wait.", Op: "op", Err: errors.New("locked")}
	var out, errOut bytes.Buffer
	env := Env{Stdout: &out, Stderr: &errOut}
	fail(env, err, true)
	if got, want := out.String(), `{"error":{"code":"busy","message":"It is <busy>.","hint":"Wait."}}`+"\n"; got != want {
		t.Errorf("as JSON: %q, want %q", got, want)
	}
	out.Reset()
	errOut.Reset()
	fail(env, err, false)
	if got, want := errOut.String(), "pdpp: It is <busy>.\n      Wait.\n      cause: locked\n"; got != want || out.Len() > 0 {
		t.Errorf("as text: %q and %q on stdout, want %q", got, out.String(), want)
	}
	out.Reset()
	errOut.Reset()
	fail(env, missing("a.json", fs.ErrNotExist), false)
	if got, want := errOut.String(), "pdpp: a.json does not exist.\n      Check the name, and the folder in which you run the command.\n"; got != want {
		t.Errorf("a missing file: %q, want %q", got, want)
	}
	out.Reset()
	fail(env, errors.New("inner detail"), true)
	if got := out.String(); strings.Contains(got, "inner detail") || !strings.Contains(got, `"code":"api_error"`) {
		t.Errorf("an unknown error as JSON: %q", got)
	}
}

func TestPanicIsReportedWithoutItsValue(t *testing.T) {
	var out, errOut bytes.Buffer
	code := Main(t.Context(), Env{
		Args: []string{"serve"}, Stdout: &out, Stderr: &errOut, Now: time.Now,
		Getenv: func(string) string { panic("PAYLOAD") },
	})
	if code != 1 || !strings.Contains(errOut.String(), "pdpp: unexpected failure") || strings.Contains(errOut.String(), "PAYLOAD") {
		t.Errorf("code %d, stderr %q", code, errOut.String())
	}
}

func TestHelpAndUsage(t *testing.T) {
	if r := runMain(t, nil, "--help"); r.code != 0 || !strings.HasPrefix(r.stdout, "Usage: pdpp <command>") || r.stderr != "" {
		t.Errorf("--help: %+v", r)
	}
	r := runMain(t, nil, "grants", "show", "--json")
	var answer struct{ Error problem }
	if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil || r.code != 64 || answer.Error.Code != "usage" {
		t.Errorf("grants show --json: %+v, %v", r, err)
	}
	if r.stderr != "" {
		t.Errorf("usage for a program: %q", r.stderr)
	}
	if r := runMain(t, nil, "grants", "show"); !strings.Contains(r.stderr, "\nUsage: pdpp grants show") {
		t.Errorf("usage: %q", r.stderr)
	}
}

// A mistyped command is answered with what to write, not with the whole help (H-6).
func TestMistypedCommands(t *testing.T) {
	for line, want := range map[string]string{
		"ingets":          "pdpp: There is no command ingets. Did you mean \"ingest\"?\n      To list the commands, run: pdpp help\n",
		"nonsense":        "pdpp: There is no command nonsense.\n      To list the commands, run: pdpp help\n",
		"help nonsense":   "pdpp: There is no command nonsense.\n      To list the commands, run: pdpp help\n",
		"credentials lst": "pdpp: There is no command credentials lst. Did you mean \"list\"?\n      Choose one of: show, list, import, forget. For help, run: pdpp help credentials\n",
		"token lst":       "pdpp: There is no command credentials lst. Did you mean \"list\"?\n      Choose one of: show, list, import, forget. For help, run: pdpp help credentials\n",
		"--data x grants": "pdpp: pdpp grants needs a command.\n      Choose one of: create, list, show, activity, revoke. For help, run: pdpp help grants\n",
		"blobs":           "pdpp: pdpp blobs needs a command.\n      Choose one of: unknown. For help, run: pdpp help blobs\n",
	} {
		if r := runMain(t, nil, strings.Fields(line)...); r.code != 64 || r.stdout != "" || r.stderr != want {
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
	}
}

// Messages of the parser become sentences, followed by the usage of the command.
func TestWrongCommandLines(t *testing.T) {
	for line, want := range map[string]string{
		"grants revoke":              "An argument is missing: <id>.",
		"connections rename":         "An argument is missing: <connection> <label>.",
		"connections rename a":       "An argument is missing: <label>.",
		"grants show a b":            "The argument b is one too many.",
		"grants create --client X":   "A flag is missing: --spec=FILE.",
		"grants list --colour":       "There is no flag --colour.",
		"grants list --statsu all":   `There is no flag --statsu. Did you mean "--status"?`,
		"grants list --status some":  `--status does not accept "some": choose from "active", "all".`,
		"serve --listen":             "--listen needs a value.",
		"serve --listen --log-level": "--listen needs a value.",
		"serve --allow-plain-http=2": "--allow-plain-http: bool value must be true, 1, yes, false, 0 or no but got \"2\".",
	} {
		r := runMain(t, nil, strings.Fields(line)...)
		if r.code != 64 || !strings.HasPrefix(r.stderr, "pdpp: "+want+"\nUsage: pdpp ") || !strings.Contains(r.stderr, `--help" for more information.`) {
			t.Errorf("%s: %+v, want %q", line, r, want)
		}
	}
	if r := runMain(t, nil, "grants", "revoke", "--json"); r.stdout != `{"error":{"code":"usage","message":"An argument is missing: <id>.","hint":"For help, run: pdpp grants revoke --help"}}`+"\n" {
		t.Errorf("as JSON: %+v", r)
	}
}

// Help that a person asks for is an answer; that of the adapter itself is not a message
// of its protocol (H-6).
func TestHelpOfTheAdapter(t *testing.T) {
	asked := runMain(t, nil, "help", "mcp")
	if asked.code != 0 || asked.stderr != "" || !strings.HasPrefix(asked.stdout, "Usage: pdpp mcp") {
		t.Errorf("help mcp: %+v", asked)
	}
	if r := runMain(t, nil, "mcp", "--help"); r.code != 0 || r.stdout != "" || r.stderr != asked.stdout {
		t.Errorf("mcp --help: %+v", r)
	}
}

func TestSynonyms(t *testing.T) {
	all := runMain(t, nil, "--help").stdout
	if r := runMain(t, nil, "help"); r.code != 0 || r.stdout != all {
		t.Errorf("help: %+v", r)
	}
	if r := runMain(t, nil, "help", "grants", "create"); r.code != 0 || !strings.HasPrefix(r.stdout, "Usage: pdpp grants create") {
		t.Errorf("help grants create: %+v", r)
	}
	if r := runMain(t, nil, "--version"); r.code != 0 || r.stdout != runMain(t, nil, "version").stdout {
		t.Errorf("--version: %+v", r)
	}
	if r := runMain(t, nil); r.code != 64 || r.stdout != "" || r.stderr != "pdpp: A command is needed.\n"+all {
		t.Errorf("nothing: %+v", r)
	}
}

func TestDemoHasItsOwnFolder(t *testing.T) {
	if r := runMain(t, nil, "demo", "--help"); strings.Contains(r.stdout, "PDPP_DATA_DIR") || !strings.Contains(r.stdout, "one of the demo's own") {
		t.Errorf("demo --help:\n%s", r.stdout)
	}
	if r := runMain(t, nil, "serve", "--help"); !strings.Contains(r.stdout, "PDPP_DATA_DIR") {
		t.Errorf("serve --help:\n%s", r.stdout)
	}
}

func TestVariablesSetFlags(t *testing.T) {
	vars := map[string]string{"PDPP_DATA_DIR": t.TempDir(), "PDPP_RATE_LIMIT": "never"}
	if r := runMain(t, vars, "serve"); r.code != 64 || !strings.Contains(r.stderr, "--rate-limit does not accept \"never\"") {
		t.Errorf("an invalid variable: %+v", r)
	}
	if r := runMain(t, vars, "serve", "--rate-limit", "off", "--public-url", "http://x.example"); r.code != 78 {
		t.Errorf("a flag that overrides it: %+v", r)
	}
	if r := runMain(t, nil, "serve", "--help"); !strings.Contains(r.stdout, "$PDPP_RATE_LIMIT") {
		t.Errorf("help does not name the variable:\n%s", r.stdout)
	}
}

func TestPlatformFolder(t *testing.T) {
	vars := map[string]string{"HOME": "/h", "LocalAppData": "/l"}
	get := func(name string) string { return vars[name] }
	for _, test := range []struct{ goos, xdg, want string }{
		{"linux", "", "/h/.local/share/pdpp"},
		{"linux", "/x", "/x/pdpp"},
		{"linux", "relative", "/h/.local/share/pdpp"},
		{"darwin", "/x", "/h/Library/Application Support/pdpp"},
		{"windows", "", "/l/pdpp"},
	} {
		vars["XDG_DATA_HOME"] = test.xdg
		got, err := platformFolder(test.goos, get, "pdpp")
		if err != nil || filepath.ToSlash(got) != test.want {
			t.Errorf("platformFolder(%s, XDG %q) = %q, %v, want %q", test.goos, test.xdg, got, err, test.want)
		}
	}
	_, err := platformFolder("linux", func(string) string { return "" }, "pdpp")
	if pdpp.CodeOf(err) != pdpp.CodeNotConfigured {
		t.Errorf("without a home: %v", err)
	}
}

func TestLifetime(t *testing.T) {
	for s, want := range map[string]time.Duration{"": time.Hour, "90s": 90 * time.Second, "12h": 12 * time.Hour, "365d": 365 * day} {
		if got, err := lifetime("--ttl", s, time.Hour); err != nil || got != want {
			t.Errorf("lifetime(%q) = %v, %v, want %v", s, got, err, want)
		}
	}
	for _, s := range []string{"0d", "-1d", "366d", "8761h", "213504d", "2147483647d", "1y", "d", "1.5h", "99999999999d"} {
		if _, err := lifetime("--ttl", s, time.Hour); pdpp.CodeOf(err) != pdpp.CodeUsage {
			t.Errorf("lifetime(%q) = %v", s, err)
		}
	}
}

func TestChooseOwner(t *testing.T) {
	two := []store.Subject{{ID: "own_1", Name: "ada"}, {ID: "own_2", Name: "ben"}}
	if got, err := chooseOwner(two[:1], ""); err != nil || got.ID != "own_1" {
		t.Errorf("the only one: %v, %v", got, err)
	}
	if got, err := chooseOwner(two, "ben"); err != nil || got.ID != "own_2" {
		t.Errorf("by name: %v, %v", got, err)
	}
	for _, name := range []string{"", "eve"} {
		_, err := chooseOwner(two, name)
		if shown, _ := describe(err); shown.Code != "usage" || !strings.Contains(shown.Hint, "ada, ben") {
			t.Errorf("%q of two: %+v", name, shown)
		}
	}
}

func TestSourceFind(t *testing.T) {
	mail := &pdpp.Manifest{ConnectorKey: "mail"}
	chat := &pdpp.Manifest{ConnectorKey: "chat"}
	c := &pdpp.Catalog{
		Manifests: []*pdpp.Manifest{chat, mail},
		Connections: []pdpp.Connection{
			{ID: "cin_1", Connector: "mail", Name: "home"},
			{ID: "cin_2", Connector: "chat", Name: "home"},
			{ID: "cin_3", Connector: "mail", Name: "work", Label: "Work"},
		},
	}
	for _, test := range []struct {
		name string
		src  source
		want pdpp.ConnectionID // "new": to be created
		code pdpp.Code
	}{
		{"by id", source{connection: "cin_3"}, "cin_3", ""},
		{"by name", source{connection: "work"}, "cin_3", ""},
		{"by name and source", source{manifest: chat, connection: "home"}, "cin_2", ""},
		{"new name", source{manifest: chat, connection: "work"}, "new", ""},
		{"ambiguous name", source{connection: "home"}, "", pdpp.CodeUsage},
		{"new name, no source", source{connection: "away"}, "", pdpp.CodeConnectionNotFound},
		{"unknown id", source{manifest: mail, connection: "cin_9"}, "", pdpp.CodeConnectionNotFound},
		{"id of another source", source{manifest: chat, connection: "cin_3"}, "", pdpp.CodeInvalidInput},
		{"no name", source{manifest: chat, connection: "A B"}, "", pdpp.CodeUsage},
		{"taken", source{manifest: mail, connection: "work", fresh: true}, "", pdpp.CodeInvalidInput},
	} {
		got, err := test.src.find(c)
		if pdpp.CodeOf(err) != test.code {
			t.Errorf("%s: error %v, want %q", test.name, err, test.code)
		}
		id := got.connection.ID
		if got.isNew {
			id = "new"
		}
		if id != test.want {
			t.Errorf("%s: %q, want %q", test.name, id, test.want)
		}
	}
	for _, name := range []string{"away", "cin_9"} {
		_, err := source{connection: name}.find(c)
		if shown, _ := describe(err); !strings.Contains(shown.Hint, "home (chat, cin_2), work (mail, cin_3)") {
			t.Errorf("%s: %+v does not list the connections", name, shown)
		}
	}
	same, _ := source{connection: "work", label: "Work"}.find(c)
	other, _ := source{connection: "work", label: "Office"}.find(c)
	if same.relabel || !other.relabel || other.connection.Label != "Office" {
		t.Errorf("labels: %+v, %+v", same, other)
	}
}

func TestTableRemovesControlCharacters(t *testing.T) {
	got := table([]string{"A", "LONG", ""}, []string{"evil\x1b[31m\ttab", "b", "c"})
	want := "A              LONG\nevil\ufffd[31m\ufffdtab  b     c\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestProgressLine(t *testing.T) {
	s := step{name: "a.jsonl", done: 50, total: 200, records: 12345, wrong: 2}
	got := line(s, 2*time.Second, 100)
	if want := "a.jsonl [######..................]  25%  12,345 records  6,172/s  2 rejected"; got != want {
		t.Errorf("line = %q, want %q", got, want)
	}
	if got := line(step{name: "-", records: 1}, 0, 100); got != "-  1 record" {
		t.Errorf("without a total: %q", got)
	}
	if got := line(step{name: "-", done: 9, total: 3}, 0, 100); !strings.Contains(got, "100%") {
		t.Errorf("a file that grew: %q", got)
	}
	if got := []rune(line(s, time.Second, 20)); len(got) != 20 {
		t.Errorf("cut to %d characters: %q", len(got), string(got))
	}
}

func TestBarIsThrottledAndCleared(t *testing.T) {
	var out bytes.Buffer
	now := time.Unix(1000, 0)
	b := &bar{w: &out, width: 80, now: func() time.Time { return now }, start: now}
	b.clear()
	if out.Len() > 0 {
		t.Errorf("an undrawn bar is cleared: %q", out.String())
	}
	for range 10 {
		b.show(step{name: "x"})
		now = now.Add(30 * time.Millisecond)
	}
	if n := strings.Count(out.String(), "\r"); n != 3 {
		t.Errorf("drawn %d times in 300 ms, want 3", n)
	}
	b.clear()
	if !strings.HasSuffix(out.String(), "\r\x1b[K") {
		t.Errorf("not cleared: %q", out.String())
	}
	var none *bar
	none.show(step{})
	none.clear()
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", -1000: "-1,000", -999: "-999"} {
		if got := thousands(n); got != want {
			t.Errorf("thousands(%d) = %q, want %q", n, got, want)
		}
	}
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{"/a/b-c_1.d": "/a/b-c_1.d", "it's here": `'it'\''s here'`, "": "''", "$HOME": "'$HOME'", "~": "'~'"} {
		if got := quote(s); got != want {
			t.Errorf("quote(%q) = %s, want %s", s, got, want)
		}
	}
}

// A failed write is an error: the answer may have contained a token.
func TestAnswerThatCannotBeWritten(t *testing.T) {
	a := &app{Env: Env{Stdout: brokenWriter{}}}
	if err := a.printJSON(1); pdpp.CodeOf(err) != pdpp.CodeCannotCreate {
		t.Errorf("printJSON = %v", err)
	}
}

type brokenWriter struct{}

func (brokenWriter) Write([]byte) (int, error) { return 0, errors.New("broken") }
