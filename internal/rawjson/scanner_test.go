package rawjson

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// What is found on the way is what a look of its own would find.
func TestScanner(t *testing.T) {
	for _, inside := range []string{`{}`, `[]`, `{"k":"v\"}"}`, `{"q\"\\":1,"\u0061":[{}]}`, `[1,"]",{"a":[]}]`, `"text"`, `7`, "\x00\"},{\x00"} {
		obj := `{"a\u0062":"x,","inside":` + inside + `,"z":null}`
		var names, values []string
		var members Object
		var elements [][]byte
		s := Scan([]byte(obj))
		for name, ok := s.Name(); ok; name, ok = s.Name() {
			start := s.Offset()
			var value []byte
			switch s.Kind() {
			case KindObject:
				members, value = s.Object(nil)
			case KindArray:
				elements, value = s.Array(nil)
			default:
				value = s.Value()
			}
			if obj[start:start+len(value)] != string(value) {
				t.Errorf("%s: %s is not at %d", obj, value, start)
			}
			names, values = append(names, string(name)), append(values, string(value))
		}
		if diff := cmp.Diff([][]string{{"ab", "inside", "z"}, {`"x,"`, inside, "null"}}, [][]string{names, values}); diff != "" {
			t.Errorf("%q (-want +got)\n%s", obj, diff)
		}
		if diff := cmp.Diff(Index(nil, []byte(inside)), members); diff != "" {
			t.Errorf("members of %s (-want +got)\n%s", inside, diff)
		}
		var want [][]byte
		for e := range Elements([]byte(inside)) {
			want = append(want, e)
		}
		if diff := cmp.Diff(want, elements); diff != "" {
			t.Errorf("elements of %s (-want +got)\n%s", inside, diff)
		}
	}
}

// A broken object ends; nothing behind the break is made up.
func TestScannerBroken(t *testing.T) {
	whole := `{"a":{"b":[1,"x"],"c":"d"},"e":[{"f":"g"}]}`
	for n := range len(whole) {
		s := Scan([]byte(whole[:n]))
		for name, ok := s.Name(); ok; name, ok = s.Name() {
			var value []byte
			switch s.Kind() {
			case KindObject:
				_, value = s.Object(nil)
			case KindArray:
				_, value = s.Array(nil)
			default:
				value = s.Value()
			}
			if want, ok := Get([]byte(whole), string(name)); value != nil && (!ok || !bytes.Equal(value, want)) {
				t.Errorf("%s: %s is %s", whole[:n], name, value)
			}
		}
	}
}

// The end of a string is found wherever its escapes stand.
func TestStringEnd(t *testing.T) {
	for n := range 80 {
		for _, tail := range []string{``, `\"`, `\\`, `\\\"`, `\u0022`, "\u00a2\u00dc", `\\\\\"x`} {
			content := strings.Repeat("x", n) + tail
			for _, behind := range []string{``, `,`, `:"` + strings.Repeat("y", 40) + `"`} {
				if end := stringEnd([]byte(`"`+content+`"`+behind), 1); end != len(content)+2 {
					t.Fatalf("stringEnd(%s) = %d, want %d", content+`"`+behind, end, len(content)+2)
				}
			}
			if end := stringEnd([]byte(`"`+content), 1); end != -1 {
				t.Fatalf("stringEnd(%s) = %d without an end", content, end)
			}
		}
	}
}

// Texts stay what they were while others are made.
func TestTexts(t *testing.T) {
	for _, texts := range []*Texts{nil, new(Texts)} {
		buf := make([]byte, 0, 4096)
		var got, want []string
		for i := range 2000 {
			s := fmt.Sprintf(`"%d\n%s"`, i, strings.Repeat("é", i%700))
			buf = append(buf[:0], s...)
			text, ok := texts.String(buf)
			plain, isText := String(buf)
			if ok != isText {
				t.Fatalf("%s is a string: %v", s, ok)
			}
			got, want = append(got, text, texts.Of(buf)), append(want, plain, s)
		}
		clear(buf)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
	if _, ok := new(Texts).String([]byte(`7`)); ok {
		t.Error("a number is no text")
	}
}
