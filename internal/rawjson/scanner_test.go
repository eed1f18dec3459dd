package rawjson

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A scan finds what Index and Elements find, and where it is.
func TestScanner(t *testing.T) {
	for _, inside := range []string{`{}`, `[]`, `{"k":"v\"}"}`, `{"q\"\\":1,"\u0061":[{}]}`, `[1,"]",{"a":[]}]`, `"text"`, `7`, "\x00\"},{\x00"} {
		obj := `{"a\u0062":"x,","inside":` + inside + `,"z":null}`
		var names, keys, values []string
		s := Scan([]byte(obj))
		for name := range s.Members() {
			names, keys = append(names, string(name)), append(keys, string(s.Key()))
			start := s.Offset()
			switch s.Kind() {
			case KindObject:
				if diff := cmp.Diff(Index(nil, []byte(inside)), s.Index(nil)); diff != "" {
					t.Errorf("members of %s (-want +got)\n%s", inside, diff)
				}
			case KindArray:
				var elements [][]byte
				for range s.Elements() {
					elements = append(elements, s.Value())
				}
				if diff := cmp.Diff(slices.Collect(Elements([]byte(inside))), elements); diff != "" {
					t.Errorf("elements of %s (-want +got)\n%s", inside, diff)
				}
			default:
				s.Value()
			}
			values = append(values, obj[start:s.Offset()])
		}
		want := [][]string{{"ab", "inside", "z"}, {`"a\u0062":`, `"inside":`, `"z":`}, {`"x,"`, inside, "null"}}
		if diff := cmp.Diff(want, [][]string{names, keys, values}); diff != "" {
			t.Errorf("%q (-want +got)\n%s", obj, diff)
		}
	}
}

func TestScannerMember(t *testing.T) {
	const members = `"a\u0062":"x,","b":{"c":[1]},"z":null`
	var got []string
	s := Scan([]byte("{" + members + "}"))
	for range s.Members() {
		got = append(got, string(s.Member()))
	}
	if all := strings.Join(got, ","); len(got) != 3 || all != members {
		t.Errorf("members %q, want %q", got, members)
	}
}

// A broken value ends the scan; nothing after the break is invented.
func TestScannerBroken(t *testing.T) {
	whole := `{"a":{"b":[1,"x"],"c":"d"},"e":[{"f":"g"}]}`
	for n := range len(whole) {
		s := Scan([]byte(whole[:n]))
		for name := range s.Members() {
			if value := s.Value(); value != nil {
				if want, ok := Get([]byte(whole), string(name)); !ok || !bytes.Equal(value, want) {
					t.Errorf("%s: %s is %s", whole[:n], name, value)
				}
			}
		}
		s = Scan([]byte(whole[:n]))
		for range s.Members() {
			for range s.Members() {
				for range s.Elements() {
				}
			}
		}
		s = Scan([]byte(whole[:n]))
		for range s.Members() {
			s.Member()
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
			got, want = append(got, text, texts.Copy(buf)), append(want, plain, s)
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
