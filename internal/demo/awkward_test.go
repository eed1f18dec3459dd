package demo

import (
	"encoding/base64"
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode"
)

// anyRecord reports whether some record of a stream satisfies a condition.
func anyRecord(all []parsed, connector, stream string, ok func(parsed) bool) bool {
	return slices.ContainsFunc(all, func(p parsed) bool {
		return p.connector == connector && p.Stream == stream && ok(p)
	})
}

func str(p parsed, name string) string { s, _ := p.Data[name].(string); return s }

func has(p parsed, name string) bool { _, ok := p.Data[name]; return ok }

func raw(pattern string) func(parsed) bool {
	re := regexp.MustCompile(pattern)
	return func(p parsed) bool { return re.Match(p.raw) }
}

func TestAwkwardValues(t *testing.T) {
	all := everything(t)
	beyond := regexp.MustCompile(`"reference_no":9007199254[0-9]{8}`)
	cases := []struct {
		name, connector, stream string
		ok                      func(parsed) bool
	}{
		{"null", "bank", "transactions", func(p parsed) bool { return has(p, "category") && p.Data["category"] == nil }},
		{"absent", "mail", "messages", func(p parsed) bool { return !has(p, "is_read") }},
		{"null contact field", "mail", "contacts", raw(`"phone":null`)},
		{"absent contact field", "mail", "contacts", func(p parsed) bool { return !has(p, "phone") }},
		{"undeclared in mail", "mail", "messages", func(p parsed) bool { return has(p, "x_mailer") }},
		{"undeclared object", "chat", "messages", func(p parsed) bool { return has(p, "export_meta") }},
		{"undeclared in notes", "notes", "notes", func(p parsed) bool { return has(p, "x_drawing") }},
		{"beyond 2^53", "bank", "transactions", func(p parsed) bool { return beyond.Match(p.raw) }},
		{"12.50", "bank", "transactions", raw(`"amount":-12\.50,`)},
		{"1e3", "bank", "transactions", raw(`"amount":1e3,`)},
		{"number key", "bank", "transactions", raw(`"key":1[0-9]{5},`)},
		{"compound key", "bank", "balances", raw(`"key":\["acc-giro","2025-04"\]`)},
		{"empty text", "chat", "messages", func(p parsed) bool { return has(p, "text") && str(p, "text") == "" }},
		{"empty memo", "bank", "transactions", func(p parsed) bool { return str(p, "memo") == "" }},
		{"null title", "notes", "notes", func(p parsed) bool { return has(p, "title") && p.Data["title"] == nil }},
		{"mark literal", "mail", "messages", raw(`<mark>WARNING</mark>`)},
		{"tabs, quotes, backslashes", "mail", "messages", func(p parsed) bool {
			b := str(p, "body_text")
			return strings.Contains(b, "\n\t0412") && strings.Contains(b, `"Close valve V\3`)
		}},
		{"right to left", "mail", "messages", func(p parsed) bool { return inScript(str(p, "body_text"), unicode.Arabic) }},
		{"Japanese letter", "mail", "messages", func(p parsed) bool { return inScript(str(p, "body_text"), unicode.Hiragana) }},
		{"Japanese note", "notes", "notes", func(p parsed) bool { return inScript(str(p, "text"), unicode.Han) }},
		{"French", "mail", "messages", raw(`elle n'est pas fonctionnaire`)},
		{"Spanish", "mail", "messages", raw(`¿Te das cuenta`)},
		{"emoji", "chat", "messages", raw(`🥖`)},
		{"offset in time", "chat", "messages", raw(`"sent_at":"2025-07-[0-9T:-]+\+02:00"`)},
		{"winter offset", "chat", "messages", raw(`"sent_at":"2025-01-[0-9T:-]+\+01:00"`)},
	}
	for _, c := range cases {
		if !anyRecord(all, c.connector, c.stream, c.ok) {
			t.Errorf("no record of %s/%s with %s", c.connector, c.stream, c.name)
		}
	}
}

func inScript(s string, table *unicode.RangeTable) bool {
	return strings.ContainsFunc(s, func(r rune) bool { return unicode.Is(table, r) })
}

func TestLongTexts(t *testing.T) {
	letters, largest, middling, notes := 0, 0, 0, 0
	for _, p := range everything(t) {
		switch n := len(str(p, "body_text")); {
		case n > 16<<10:
			letters++
			largest = max(largest, n)
		case n >= 500 && n <= 2500:
			middling++
		}
		if p.connector == "notes" && len(str(p, "text")) > 16<<10 {
			notes++
		}
	}
	if letters < 12 || notes < 3 || middling < 700 {
		t.Errorf("%d letters and %d notes over 16 KiB, %d middling letters", letters, notes, middling)
	}
	if largest < 60000 || largest > 70000 {
		t.Errorf("largest letter has %d bytes", largest)
	}
}

func TestAwkwardIDs(t *testing.T) {
	ids := map[string]bool{}
	for _, p := range everything(t) {
		if p.connector == "chat" {
			ids[p.id(t)] = true
		}
	}
	for _, want := range []string{
		"jonas/zuhause", "yuki:京都", "Hélène & moi", "Alt 2: 100%", "../family/malmö", "سمير / الطابق الثالث", "0042",
		`"Radwerk" <Altona>`, `umzug\2025?kisten=64&ort=Ottensen#plan`, "%2Fverlag%2Fkranich", "1e3", "null", "-0", "...",
		"a/../b", " leading and trailing ", "../family/7", "0000017", "🥖 '9'", "alt 2 12%", "self.9..",
	} {
		if !ids[want] {
			t.Errorf("no chat record has id %q", want)
		}
	}
	longest := 0
	for id := range ids {
		longest = max(longest, len(id))
	}
	if longest != 200 {
		t.Errorf("longest id has %d bytes, want 200", longest)
	}
}

// The same stream name under two connectors has other fields.
func TestSharedStreamName(t *testing.T) {
	all := everything(t)
	for _, p := range all {
		if p.Stream == "messages" && has(p, "body_text") == has(p, "text") {
			t.Fatalf("%s has both texts or none: %.100s", p.place(), p.raw)
		}
	}
}

// signature_b64 is binary by its content alone (EX-8).
func TestBase64Field(t *testing.T) {
	n := 0
	for _, p := range everything(t) {
		s := str(p, "signature_b64")
		if s == "" {
			continue
		}
		n++
		kinds := strings.ContainsFunc(s, unicode.IsUpper) && strings.ContainsFunc(s, unicode.IsLower) && strings.ContainsAny(s, "0123456789")
		if _, err := base64.StdEncoding.DecodeString(s); err != nil || len(s) <= 256 || !kinds {
			t.Errorf("%s: signature of %d characters, %v", p.id(t), len(s), err)
		}
	}
	if n == 0 {
		t.Error("no record has a signature")
	}
}

// Every source that would know of an event contains it.
func TestThreadsConnect(t *testing.T) {
	all := everything(t)
	cases := []struct{ story, connector, stream, pattern string }{
		{"rent increase", "mail", "messages", `1\.058,40 EUR`},
		{"rent increase", "bank", "transactions", `"booked_at":"2023-12-01","amount":-1058\.40`},
		{"rent increase", "notes", "notes", `980\.00 → 1,058\.40`},
		{"rent increase", "chat", "messages", `Brandt wants 1,058\.40`},
		{"before it", "bank", "transactions", `"booked_at":"2023-11-01","amount":-980\.00`},
		{"deposit", "mail", "messages", `850,50 EUR`},
		{"deposit", "bank", "transactions", `"amount":850\.50`},
		{"deposit", "notes", "notes", `850\.50`},
		{"bicycle", "mail", "messages", `187,50`},
		{"bicycle", "bank", "transactions", `"amount":-187\.50`},
		{"bicycle", "health", "steps", `"day":"2024-05-18","steps":[0-9]{3,4},`},
		{"Japan", "bank", "transactions", `"original_currency":"JPY"`},
		{"the night after", "health", "sleep", `"id":"night:2025-09-30".*"minutes":662`},
	}
	for _, c := range cases {
		if !anyRecord(all, c.connector, c.stream, raw(c.pattern)) {
			t.Errorf("%s: nothing in %s/%s", c.story, c.connector, c.stream)
		}
	}
}

// Generated texts do not mention later events.
func TestNoNeighboursBeforeTheMove(t *testing.T) {
	for _, p := range everything(t) {
		if p.Stream == "contacts" || p.EmittedAt >= "2025-01-01" {
			continue
		}
		if s := str(p, "text") + str(p, "body_text"); strings.Contains(s, "Samir") || strings.Contains(s, "Aylin") {
			t.Errorf("%s at %s: %.120q", p.place(), p.EmittedAt, s)
		}
	}
}

func TestQuotedIsJSON(t *testing.T) {
	for _, s := range []string{"", `"\`, "\n\t\r\x00\x1f", "<mark>&", "日本 🥖 أهلاً"} {
		var got string
		if err := json.Unmarshal([]byte(quoted(s)), &got); err != nil || got != s {
			t.Errorf("quoted(%q) = %s: %q, %v", s, quoted(s), got, err)
		}
	}
}
