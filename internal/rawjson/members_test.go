package rawjson

import (
	"bytes"
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func collect(obj string) [][2]string {
	var got [][2]string
	for name, value := range Members([]byte(obj)) {
		got = append(got, [2]string{string(name), string(value)})
	}
	return got
}

func TestMembers(t *testing.T) {
	tests := []struct {
		obj  string
		want [][2]string
	}{
		{`{}`, nil},
		{`null`, nil},
		{`[1,2]`, nil},
		{``, nil},
		{`{"a":1}`, [][2]string{{"a", "1"}}},
		{`{"":"","b":null,"c":true}`, [][2]string{{"", `""`}, {"b", "null"}, {"c", "true"}}},
		{`{"q\"\\":"\\","\u0061":"\"","z":-1e5}`, [][2]string{{`q"\`, `"\\"`}, {"a", `"\""`}, {"z", "-1e5"}}},
		{`{"o":{"a":"}","b":[1,{"c":"]\\"}]},"l":[[],{}],"n":0}`, [][2]string{
			{"o", `{"a":"}","b":[1,{"c":"]\\"}]}`}, {"l", `[[],{}]`}, {"n", "0"},
		}},
		{"{\"s\":\x00\"},{\x00,\"t\":[\x00]\x00,2],\"u\":\x00\x00}", [][2]string{
			{"s", "\x00\"},{\x00"}, {"t", "[\x00]\x00,2]"}, {"u", "\x00\x00"},
		}},
	}
	for _, tt := range tests {
		if diff := cmp.Diff(tt.want, collect(tt.obj)); diff != "" {
			t.Errorf("Members(%q) (-want +got):\n%s", tt.obj, diff)
		}
		for _, m := range tt.want {
			if got, ok := Get([]byte(tt.obj), m[0]); !ok || string(got) != m[1] {
				t.Errorf("Get(%q, %q) = %q, %v, want %q", tt.obj, m[0], got, ok, m[1])
			}
		}
	}
}

func TestGetMissing(t *testing.T) {
	obj := []byte(`{"a\u0062":1,"name":"x","n\\":2}`)
	for _, name := range []string{"", "a", `a\u0062`, "nam", "names", `n\\`, "n"} {
		if got, ok := Get(obj, name); ok {
			t.Errorf("Get(%q, %q) = %q, want none", obj, name, got)
		}
	}
	if _, ok := Get([]byte(`[{"a":1}]`), "a"); ok {
		t.Error("Get found a member of an array")
	}
}

func TestMembersStops(t *testing.T) {
	count := 0
	for range Members([]byte(`{"a":1,"b":2,"c":3}`)) {
		if count++; count == 2 {
			break
		}
	}
	for range Elements([]byte(`[1,2,3]`)) {
		if count++; count == 4 {
			break
		}
	}
	if count != 4 {
		t.Errorf("loops ran %d times, want 4", count)
	}
}

func TestElements(t *testing.T) {
	tests := []struct {
		arr  string
		want []string
	}{
		{`[]`, nil},
		{`{}`, nil},
		{``, nil},
		{`"x"`, nil},
		{`[1]`, []string{"1"}},
		{`["a,]",[1,2],{"b":"]"},null,-0.5]`, []string{`"a,]"`, `[1,2]`, `{"b":"]"}`, "null", "-0.5"}},
		{"[\x00,\x00,1]", []string{"\x00,\x00", "1"}},
	}
	for _, tt := range tests {
		var got []string
		for v := range Elements([]byte(tt.arr)) {
			got = append(got, string(v))
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("Elements(%q) (-want +got):\n%s", tt.arr, diff)
		}
	}
}

func TestKindOf(t *testing.T) {
	tests := map[string]Kind{
		"": KindNone, "null": KindNull, "true": KindBool, "false": KindBool, "0": KindNumber, "-1": KindNumber,
		`""`: KindString, "[]": KindArray, "{}": KindObject, "\x00x\x00": KindStub,
	}
	for value, want := range tests {
		if got := KindOf([]byte(value)); got != want {
			t.Errorf("KindOf(%q) = %d, want %d", value, got, want)
		}
	}
}

func TestMembersAllocatesNothing(t *testing.T) {
	obj, err := Compact(nil, []byte(record))
	if err != nil {
		t.Fatal(err)
	}
	size := 0
	n := testing.AllocsPerRun(100, func() {
		for name, value := range Members(obj) {
			size += len(name) + len(value)
		}
		v, _ := Get(obj, "tags")
		for e := range Elements(v) {
			size += len(e)
		}
	})
	if n != 0 || size == 0 {
		t.Errorf("Members, Get and Elements allocate %v times over %d bytes", n, size)
	}
}

// FuzzMembers: on what Compact accepts, the members are those of encoding/json; on
// anything else the loops end without a panic.
func FuzzMembers(f *testing.F) {
	for _, s := range samples {
		f.Add([]byte(s))
	}
	f.Add([]byte("{\"a\":\x00b\x00,\"c\":[\x00,\x00]}"))
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, value := range Members(src) {
			_, _ = Text(value)
		}
		for range Elements(src) {
		}
		_, _ = Get(src, "a")
		obj, err := Compact(nil, src)
		if err != nil || KindOf(obj) != KindObject {
			return
		}
		var want map[string]json.RawMessage
		if err := json.Unmarshal(obj, &want); err != nil {
			t.Fatal(err)
		}
		n := 0
		for name, value := range Members(obj) {
			n++
			got, ok := Get(obj, string(name))
			if !bytes.Equal(want[string(name)], value) || !ok || !bytes.Equal(got, value) {
				t.Fatalf("member %q of %q = %q, Get = %q, want %q", name, obj, value, got, want[string(name)])
			}
		}
		if n != len(want) {
			t.Fatalf("Members(%q) gives %d members, want %d", obj, n, len(want))
		}
	})
}
