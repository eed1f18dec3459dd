package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestString(t *testing.T) {
	for _, s := range samples {
		var want string
		isString := json.Unmarshal([]byte(s), &want) == nil && strings.HasPrefix(s, `"`)
		if !isString || !utf8.ValidString(s) {
			continue
		}
		if got, ok := String([]byte(s)); !ok || got != want {
			t.Errorf("String(%q) = %q, %v, want %q", s, got, ok, want)
		}
		if got, ok := Text([]byte(s)); !ok || string(got) != want {
			t.Errorf("Text(%q) = %q, %v, want %q", s, got, ok, want)
		}
	}
	for _, s := range []string{``, `"`, `1`, `null`, `["a"]`, "\x00a\x00"} {
		if got, ok := String([]byte(s)); ok {
			t.Errorf("String(%q) = %q, want none", s, got)
		}
	}
}

func TestStringSurrogates(t *testing.T) {
	tests := map[string]string{
		`"\ud83d\ude00"`: "😀", `"\ud83d"`: "\uFFFD", `"\ude00x"`: "\uFFFDx", `"\ud83d\ud83d\ude00"`: "\uFFFD😀",
		`"\ud83d\n\ude00"`: "\uFFFD\n\uFFFD", `"\ud83d\u0041"`: "\uFFFDA", `"\u0000"`: "\x00",
	}
	for value, want := range tests {
		if got, _ := String([]byte(value)); got != want {
			t.Errorf("String(%s) = %q, want %q", value, got, want)
		}
	}
}

func TestAppendString(t *testing.T) {
	tests := map[string]string{
		"":                        `""`,
		"plain <b>&amp; ASCII":    `"plain <b>&amp; ASCII"`,
		"a\"b\\c/":                `"a\"b\\c/"`,
		"\n\t\r\b\f":              `"\n\t\r\b\f"`,
		"\x00\x1f\x7f":            "\"\\u0000\\u001f\x7f\"",
		"é 日本 😀 \u2028":           "\"é 日本 😀 \u2028\"",
		"eight by\xffeight byt\n": "\"eight by\uFFFDeight byt\\n\"",
		"\xe2\x82":                "\"\uFFFD\uFFFD\"",
	}
	for s, want := range tests {
		if got := AppendString(nil, s); string(got) != want {
			t.Errorf("AppendString(%q) = %s, want %s", s, got, want)
		}
	}
}

func FuzzAppendString(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		quoted := AppendString(nil, s)
		if c, err := Compact(nil, quoted); err != nil || !bytes.Equal(c, quoted) {
			t.Fatalf("AppendString(%q) = %q: %v", s, quoted, err)
		}
		want := string([]rune(s)) // invalid bytes become U+FFFD, one each
		if got, ok := String(quoted); !ok || got != want {
			t.Fatalf("String(AppendString(%q)) = %q, want %q", s, got, want)
		}
		if got := StringLen(s); got != len(quoted) {
			t.Fatalf("StringLen(%q) = %d, want %d", s, got, len(quoted))
		}
	})
}

func TestCharCountAndPrefix(t *testing.T) {
	tests := []struct {
		content string
		count   int
		n       int
		prefix  string
	}{
		{``, 0, 3, ``},
		{`abc`, 3, 2, `ab`},
		{`abc`, 3, 0, ``},
		{`abc`, 3, -1, ``},
		{`abc`, 3, 3, `abc`},
		{`abcdefghijklmnopqrstuvwxyz`, 26, 17, `abcdefghijklmnopq`},
		{`日本語テキスト文字列`, 10, 3, `日本語`},
		{`a\nb\"c\\d`, 7, 2, `a\n`},
		{`a\nb\"c\\d`, 7, 6, `a\nb\"c\\`},
		{`\u0041\ud83d\ude00\ud83dx`, 4, 2, `\u0041\ud83d\ude00`},
		{`\u0041\ud83d\ude00\ud83dx`, 4, 3, `\u0041\ud83d\ude00\ud83d`},
		{`\ud83d\ud83d\ude00`, 2, 1, `\ud83d`},
		{`12345678\u00e912345678`, 17, 9, `12345678\u00e9`},
		{`😀😀`, 2, 1, `😀`},
	}
	for _, tt := range tests {
		if got := CharCount([]byte(tt.content)); got != tt.count {
			t.Errorf("CharCount(%s) = %d, want %d", tt.content, got, tt.count)
		}
		if got := Prefix([]byte(tt.content), tt.n); string(got) != tt.prefix {
			t.Errorf("Prefix(%s, %d) = %s, want %s", tt.content, tt.n, got, tt.prefix)
		}
	}
}

// FuzzPrefix: a prefix is a whole number of characters, exactly as many as asked
// for, and decodes to the same characters as the full text starts with.
func FuzzPrefix(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(strings.Trim(s, `"`)), 3)
	}
	f.Fuzz(func(t *testing.T, content []byte, n int) {
		value := append(append([]byte(`"`), content...), '"')
		_ = Prefix(content, n) // no panic on any bytes
		_ = CharCount(content)
		if c, err := Compact(nil, value); err != nil || !bytes.Equal(c, value) {
			return
		}
		full, _ := String(value)
		count := utf8.RuneCountInString(full)
		if got := CharCount(content); got != count {
			t.Fatalf("CharCount(%q) = %d, want %d", content, got, count)
		}
		p := Prefix(content, n)
		want := max(0, min(n, count))
		if got := CharCount(p); got != want || !bytes.HasPrefix(content, p) {
			t.Fatalf("Prefix(%q, %d) = %q: %d characters, want %d", content, n, p, got, want)
		}
		quoted := append(append([]byte(`"`), p...), '"')
		if c, err := Compact(nil, quoted); err != nil || !bytes.Equal(c, quoted) {
			t.Fatalf("Prefix(%q, %d) = %q splits: %v", content, n, p, err)
		}
		if got, _ := String(quoted); got != string([]rune(full)[:want]) {
			t.Fatalf("Prefix(%q, %d) decodes to %q", content, n, got)
		}
	})
}

func FuzzPlain(f *testing.F) {
	for _, s := range samples {
		f.Add(s)
	}
	f.Add("eight by\x7f")
	f.Add("\x7e\x7f~")
	f.Fuzz(func(t *testing.T, s string) {
		want := strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r >= 0x7f || r == '"' || r == '\\' })
		if want < 0 {
			want = len(s)
		}
		if got := Plain(s); got != want {
			t.Fatalf("Plain(%q) = %d, want %d", s, got, want)
		}
		if got := Plain([]byte(s)); got != want {
			t.Fatalf("Plain(%q) of bytes = %d, want %d", s, got, want)
		}
	})
}

func FuzzWithin(f *testing.F) {
	for _, s := range samples {
		f.Add(s, 7)
	}
	f.Fuzz(func(t *testing.T, s string, n int) {
		content, _ := Content(AppendString(nil, s))
		got := Within(content, n)
		if !bytes.HasPrefix(content, got) || len(got) > max(n, 0) {
			t.Fatalf("Within(%q, %d) = %q", content, n, got)
		}
		chars := CharCount(got)
		if string(Prefix(content, chars)) != string(got) {
			t.Fatalf("Within(%q, %d) splits a character: %q", content, n, got)
		}
		if more := Prefix(content, chars+1); len(more) > len(got) && len(more) <= n {
			t.Fatalf("Within(%q, %d) = %q, but %q fits", content, n, got, more)
		}
	})
}
