package httpx

import (
	"strings"
	"testing"
)

func TestParseHost(t *testing.T) {
	long := strings.Repeat("a", 63)
	tests := []struct {
		in, scheme string
		want       string // "" when invalid
	}{
		{"data.example", "https", "data.example"},
		{"DATA.Example", "https", "data.example"},
		{"data.example:443", "https", "data.example"},
		{"data.example:80", "http", "data.example"},
		{"data.example:443", "http", "data.example:443"},
		{"data.example:80", "https", "data.example:80"},
		{"data.example:65535", "http", "data.example:65535"},
		{"my_box", "http", "my_box"},
		{"data.example.", "http", "data.example."},
		{"127.0.0.1:7663", "http", "127.0.0.1:7663"},
		{"[::1]", "http", "[::1]"},
		{"[::1]:7663", "http", "[::1]:7663"},
		{"[0:0:0:0:0:0:0:1]:80", "http", "[::1]"},
		{"[2001:DB8::A]", "http", "[2001:db8::a]"},
		{long + ".example", "http", long + ".example"},

		{"", "http", ""},
		{".", "http", ""},
		{":80", "http", ""},
		{"a..b", "http", ""},
		{".a", "http", ""},
		{"data.example:", "http", ""},
		{"data.example:0", "http", ""},
		{"data.example:080", "http", ""},
		{"data.example:+80", "http", ""},
		{"data.example:65536", "http", ""},
		{"data.example:80:80", "http", ""},
		{"data.example/x", "http", ""},
		{"data.example,b.example", "http", ""},
		{"user@data.example", "http", ""},
		{"data example", "http", ""},
		{"d\u00e4ta.example", "http", ""},
		{"::1", "http", ""},
		{"[::1", "http", ""},
		{"[::1]x", "http", ""},
		{"[::1]:", "http", ""},
		{"[127.0.0.1]", "http", ""},
		{"[fe80::1%eth0]", "http", ""},
		{"[]", "http", ""},
		{long + "a.example", "http", ""},
		{strings.Repeat(long+".", 4), "http", ""},
	}
	for _, tt := range tests {
		h, ok := parseHost(tt.in, tt.scheme)
		if ok != (tt.want != "") || h.String() != tt.want {
			t.Errorf("parseHost(%q, %s) = %q, %v, want %q", tt.in, tt.scheme, h, ok, tt.want)
		}
	}
}

func TestHostLoopback(t *testing.T) {
	for in, want := range map[string]bool{
		"localhost": true, "a.localhost": true, "LOCALHOST:99": true, "127.0.0.1": true, "127.9.9.9": true,
		"[::1]": true, "[::ffff:127.0.0.1]": true,
		"localhost.example": false, "notlocalhost": false, "localhost.": false, "0.0.0.0": false, "[::]": false,
		"10.0.0.1": false, "127.1": false, "127.0.0.1.example": false,
	} {
		h, ok := parseHost(in, "http")
		if !ok || h.loopback() != want {
			t.Errorf("%q: parsed %v, loopback %v, want %v", in, ok, h.loopback(), want)
		}
	}
}

// A parsed host is in normal form: it parses to itself, and contains no character that
// could end a header, a quoted string or the authority of a URL.
func FuzzParseHost(f *testing.F) {
	for _, s := range []string{"a.example:80", "[::1]:7663", "127.0.0.1", "[::ffff:1.2.3.4]", "A_b.", "x:1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		h, ok := parseHost(s, "https")
		if !ok {
			return
		}
		again, ok := parseHost(h.String(), "https")
		if !ok || again != h {
			t.Errorf("parseHost(%q) = %+v, again %+v, %v", s, h, again, ok)
		}
		if i := strings.IndexAny(h.String(), "/?#@\\\"', \t\r\n<>"); i >= 0 {
			t.Errorf("parseHost(%q) = %q", s, h)
		}
	})
}
