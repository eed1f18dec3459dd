package as

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestH142Resources(t *testing.T) {
	isOwn := func(origin string) bool { return strings.EqualFold(origin, "https://data.example") }
	for _, test := range []struct {
		resources []string
		want      []string
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{"https://data.example"}, []string{"rest"}},
		{[]string{"https://data.example/"}, []string{"rest"}},
		{[]string{"HTTPS://Data.Example/mcp"}, []string{"mcp"}},
		{[]string{"https://data.example/mcp/"}, []string{"mcp"}},
		{[]string{"https://data.example/mcp/developer"}, []string{"mcp-developer"}},
		{[]string{"https://data.example/mcp", "https://data.example", "https://data.example/mcp"}, []string{"rest", "mcp"}},
	} {
		got, err := audiences(test.resources, isOwn)
		if diff := cmp.Diff(test.want, got); err != nil || diff != "" {
			t.Errorf("audiences(%q) = %v (-want +got):\n%s", test.resources, err, diff)
		}
	}
	for _, resource := range []string{
		"https://other.example/mcp", "https://data.example.evil.example", "https://data.example/MCP", "https://data.example/mcp//", "https://data.example/mcp?x",
		"https://data.example/mcp#f", "https://data.example/v1", "https://data.example//", "https://u@data.example/mcp", "data.example", "mcp", "//data.example",
		"https://data.example/%6dcp", "urn:x",
	} {
		if got, err := audiences([]string{"https://data.example", resource}, isOwn); err != errInvalidTarget {
			t.Errorf("audiences(%q) = %v, %v; want invalid_target", resource, got, err)
		}
	}
}

func TestH142TokensNarrowResources(t *testing.T) {
	both := []string{"rest", "mcp"}
	if got, err := narrowed(both, nil); err != nil || len(got) != 2 {
		t.Errorf("no resource = %v, %v; want all", got, err)
	}
	if got, err := narrowed(both, []string{"mcp"}); err != nil || len(got) != 1 {
		t.Errorf("one resource = %v, %v; want it", got, err)
	}
	if _, err := narrowed([]string{"mcp"}, both); err != errInvalidTarget {
		t.Errorf("more than authorized: %v, want invalid_target", err)
	}
}

func TestH156UserCodes(t *testing.T) {
	for range 100 {
		code, err := newUserCode()
		if err != nil {
			t.Fatal(err)
		}
		for _, typed := range []string{code, strings.ToLower(code), strings.ReplaceAll(code, "-", ""), " " + code[:2] + " " + code[2:] + " ", code[:4] + "\u2013" + code[5:]} {
			if got, ok := parseUserCode(typed); !ok || got != code {
				t.Errorf("parseUserCode(%q) = %q, %v; want %q", typed, got, ok, code)
			}
		}
	}
	for _, typed := range []string{"", "WDJB-MJH", "WDJB-MJHTT", "AEIO-UUUU", "WDJB MJH1", "ＷDJB-MJHT", strings.Repeat("W", 10000)} {
		if got, ok := parseUserCode(typed); ok {
			t.Errorf("parseUserCode(%.20q) = %q", typed, got)
		}
	}
}

func TestH161Verifier(t *testing.T) {
	const verifier, challenge = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk", "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	if !verifies(verifier, challenge) {
		t.Error("the verifier of RFC 7636 does not verify")
	}
	if verifies(challenge, challenge) || verifies("", challenge) || verifies(verifier, "") {
		t.Error("another verifier verifies")
	}
	for s, want := range map[string]bool{verifier: true, verifier[:42]: false, strings.Repeat("~", 128): true, strings.Repeat("a", 129): false, verifier[:42] + "=": false} {
		if isVerifier(s) != want {
			t.Errorf("isVerifier(%.50s) = %v", s, !want)
		}
	}
}

func TestH152HostileNames(t *testing.T) {
	for name, want := range map[string]string{
		"Bank\u202eknaB":                "BankknaB",
		"a\u200b\u2066b\x00c\nd":        "abc d",
		" <script>alert(1)</script>  x": "<script>alert(1)</script> x",
		"\u202e":                        "Unnamed client",
		"":                              "Unnamed client",
	} {
		m := &metadata{Name: name, RedirectURIs: []string{"https://app.example/cb"}}
		if err := m.normalize(); err != nil || m.Name != want {
			t.Errorf("client_name %q = %q, %v; want %q", name, m.Name, err, want)
		}
	}
	long := &metadata{Name: strings.Repeat("ü", 101), RedirectURIs: []string{"https://app.example/cb"}}
	if err := long.normalize(); err == nil || resolve(err).code != "invalid_client_metadata" {
		t.Errorf("a name of 101 characters: %v", err)
	}
}

func TestH140DescriptionsAreASCII(t *testing.T) {
	if got := ascii("a \"b\" \\ ü\n"); got != "a 'b' ' ??" {
		t.Errorf("ascii = %q", got)
	}
}
