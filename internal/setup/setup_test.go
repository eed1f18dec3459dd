package setup

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"strings"
	"testing"
)

const (
	local  = "http://127.0.0.1:7663"
	public = "https://data.example"
)

func texts(r Recipe) string {
	var b strings.Builder
	for _, s := range r.Steps {
		b.WriteString(s.Text + "\n" + s.Snippet + "\n")
	}
	return b.String()
}

func answer(t *testing.T, name string, at Place) Answer {
	t.Helper()
	a, ok := For(name, at)
	if !ok || a.Client != name || a.Title == "" || len(a.Recommended.Steps) == 0 || a.Alternatives == nil {
		t.Fatalf("For(%q, %+v) = %+v, %v", name, at, a, ok)
	}
	return a
}

// Which way is recommended depends on whether the client can reach the server, and on
// whether a credential is saved.
func TestSETUP1Recommended(t *testing.T) {
	for _, c := range []struct {
		client            string
		at                Place
		kind, want        string
		connect, isHosted bool // the first step gets a credential; it is the address of the server
	}{
		{"claude-code", Place{Base: local}, KindCommand, "claude mcp add --scope user --transport http pdpp " + local + "/mcp\n", false, true},
		{"claude-code", Place{Base: local, Connected: true}, KindCommand, "claude mcp add --scope user pdpp -- pdpp mcp " + local + "\n", false, false},
		{"claude-desktop", Place{Base: public}, KindUI, public + "/mcp\n", false, true},
		{"claude-desktop", Place{Base: local}, KindFile, `"command": "pdpp"`, true, false},
		{"claude-desktop", Place{Base: local, Program: "/opt/my tools/pdpp", CacheRoot: "/a b"}, KindFile, `"command": "/opt/my tools/pdpp"`, true, false},
		{"claude-desktop", Place{Base: local, Connected: true}, KindFile, `"args": [`, false, false},
		{"chatgpt", Place{Base: public}, KindUI, public + "/mcp\n", false, true},
		{"chatgpt", Place{Base: local, Connected: true}, KindUI, "--public-url", false, false},
		{"codex", Place{Base: public}, KindCommand, "codex mcp login pdpp", false, true},
		{"cursor", Place{Base: local}, KindLink, "cursor://anysphere.cursor-deeplink/mcp/install?name=pdpp&config=", false, true},
		{"vscode", Place{Base: local}, KindCommand, `code --add-mcp '{"name":"pdpp","type":"http","url":"` + local + `/mcp"}'`, false, true},
		{"vscode", Place{Base: local, Connected: true}, KindCommand, `code --add-mcp '{"name":"pdpp","command":"pdpp","args":["mcp","` + local + `"]}'`, false, false},
		{"gemini-cli", Place{Base: local}, KindCommand, "/mcp auth pdpp", false, true},
	} {
		a := answer(t, c.client, c.at)
		text := texts(a.Recommended)
		if a.Recommended.Kind != c.kind || !strings.Contains(text, c.want) {
			t.Errorf("%s at %+v: %s\n%s", c.client, c.at, a.Recommended.Kind, text)
		}
		if got := strings.Contains(a.Recommended.Steps[0].Snippet, " connect "+c.at.Base); got != c.connect {
			t.Errorf("%s at %+v: connect first is %v:\n%s", c.client, c.at, got, text)
		}
		if c.isHosted && c.kind != KindLink && !strings.Contains(text, c.at.Base+"/mcp") {
			t.Errorf("%s at %+v: no address in\n%s", c.client, c.at, text)
		}
	}
}

// No recipe shows what only developers and owners need, or a place for a secret.
func TestSETUP1NothingForeign(t *testing.T) {
	foreign := regexp.MustCompile(`(?i)pdpp_|token|bearer|header|--profile|profile|subscription|developer-|/developer|mcp-developer|list_streams|fetch_blob|credentials import`)
	for _, c := range Clients() {
		for _, at := range []Place{{Base: local}, {Base: public}, {Base: local, Connected: true}, {Base: public, Connected: true, Program: "/bin/pdpp", CacheRoot: "/cache"}} {
			a := answer(t, c.Name, at)
			for _, r := range append([]Recipe{a.Recommended}, a.Alternatives...) {
				if found := foreign.FindString(texts(r)); found != "" {
					t.Errorf("%s at %+v shows %q:\n%s", c.Name, at, found, texts(r))
				}
				if r.Kind == KindFile && r.Path == "" {
					t.Errorf("%s: a file without a name", c.Name)
				}
			}
		}
	}
	if _, ok := For("nobody", Place{}); ok {
		t.Error("a recipe for nobody")
	}
}

// What is to be copied is valid JSON, also with unusual names.
func TestSETUP1Snippets(t *testing.T) {
	at := Place{Base: local, Program: `C:\my "tools"\pdpp.exe`, CacheRoot: "/é <b>", Connected: true}
	for _, c := range Clients() {
		a := answer(t, c.Name, at)
		for _, r := range append([]Recipe{a.Recommended}, a.Alternatives...) {
			snippet := r.Steps[0].Snippet
			if r.Kind == KindFile && !strings.Contains(r.Path, ".toml") && !json.Valid([]byte(snippet)) {
				t.Errorf("%s: not JSON:\n%s", c.Name, snippet)
			}
		}
	}
	link := strings.TrimSpace(answer(t, "cursor", Place{Base: local}).Recommended.Steps[0].Snippet)
	config, err := base64.StdEncoding.DecodeString(link[strings.Index(link, "config=")+len("config="):])
	if want := `{"url":"` + local + `/mcp"}`; err != nil || string(config) != want {
		t.Errorf("the link has %s, %v, want %s", config, err, want)
	}
}

func TestH185cPublicServers(t *testing.T) {
	for base, want := range map[string]bool{
		public: true, "https://203.0.113.5:8443": true, "http://data.example": false, local: false, "https://localhost": false, "https://nas.local": false,
		"https://nas": false, "https://192.168.1.5": false, "https://[::1]": false, "https://a.localhost:1": false,
	} {
		if got := isPublic(base); got != want {
			t.Errorf("isPublic(%q) = %v", base, got)
		}
	}
}

func TestQuote(t *testing.T) {
	for s, want := range map[string]string{"": "''", "a/b-c.d": "a/b-c.d", "a b": "'a b'", "it's": `'it'\''s'`, "$x": "'$x'"} {
		if got := Quote(s); got != want {
			t.Errorf("Quote(%q) = %s, want %s", s, got, want)
		}
	}
}
