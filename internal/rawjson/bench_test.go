package rawjson

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// record is an ordinary record, pretty the same with white space.
const record = `{"id":"msg_018f3c","thread_id":"thr_77","sent_at":"2026-04-30T09:12:44Z","from":"ada@example.org",` +
	`"to":["grace@example.org","alan@example.org"],"subject":"Minutes of the April meeting","unread":false,` +
	`"size":18234,"amount":-1204.50,"tags":["work","board","2026"],"body":"Dear all,\n\nattached are the minutes. ` +
	`The next meeting is on the 14th of May; please send me what you would like to discuss until the 10th.\n\nAda",` +
	`"place":{"name":"Café Zentral, Wien","lat":48.2104,"lon":16.3655},"parent_id":null}`

var pretty = func() string {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(record), "", "  "); err != nil {
		panic(err)
	}
	return b.String()
}()

func BenchmarkCompact(b *testing.B) {
	texts := map[string]string{
		"record": record, "pretty": pretty, "keys32": object(32, "field_name_%d"), "keys500": object(500, "field_name_%d"),
		"ascii": `{"body":"` + strings.Repeat("Plain text, and a lot of it. ", 200) + `"}`,
		"cjk":   `{"body":"` + strings.Repeat("日本語のテキスト", 200) + `"}`,
	}
	for name, text := range texts {
		src := []byte(text)
		dst := make([]byte, 0, len(src))
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(src)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := Compact(dst, src); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkMembers(b *testing.B) {
	obj := []byte(record)
	b.SetBytes(int64(len(obj)))
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for name, value := range Members(obj) {
			n += len(name) + len(value)
		}
	}
}

func BenchmarkGet(b *testing.B) {
	obj := []byte(record)
	b.ReportAllocs()
	for b.Loop() {
		if _, ok := Get(obj, "parent_id"); !ok {
			b.Fatal("not found")
		}
	}
}

func BenchmarkAppendString(b *testing.B) {
	s := strings.Repeat("Plain text, and a lot of it. ", 10)
	var dst []byte
	b.SetBytes(int64(len(s)))
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendString(dst[:0], s)
	}
}

func BenchmarkCharCount(b *testing.B) {
	content := []byte(strings.Repeat(`Some text, é, 日本, and an escape.\n`, 40))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		_ = CharCount(content)
	}
}

func BenchmarkPrefix(b *testing.B) {
	content := []byte(strings.Repeat(`Some text, é, 日本, and an escape.\n`, 40))
	b.SetBytes(int64(len(content)))
	for b.Loop() {
		_ = Prefix(content, 1000)
	}
}
