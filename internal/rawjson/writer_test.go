package rawjson

import "testing"

func TestWriter(t *testing.T) {
	var w Writer
	w.Object()
	w.Text("a", "x\"\n")
	w.Optional("b", "")
	w.TextOrNull("c", "")
	w.Number("d", -7)
	w.NumberOrNull("d0", 0)
	w.NumberOrNull("d1", -1)
	w.Flag("e", true)
	w.Member("f", []byte(`{"kept":1.50}`))
	w.OpenObject("g\"")
	w.End("}")
	w.OpenArray("h")
	w.Int(1)
	w.Bool(false)
	w.String("[")
	w.Array()
	w.End("]")
	w.Object()
	w.Literal(`"i":1,"j":2`)
	w.Key("k")
	w.Raw([]byte("null"))
	w.End("}]")
	w.Raw(nil)
	w.Literal("")
	List(&w, "l", []word{"{", ":"})
	w.Values("m", [][]byte{[]byte(`"n"`), []byte("{}")})
	w.Comma()
	w = append(w, `"o":`...)
	w.Comma()
	w = append(w, '0')
	w.End("}")
	const want = `{"a":"x\"\n","c":null,"d":-7,"d0":0,"d1":null,"e":true,"f":{"kept":1.50},"g\"":{},` +
		`"h":[1,false,"[",[],{"i":1,"j":2,"k":null}],"l":["{",":"],"m":["n",{}],"o":0}`
	if string(w) != want {
		t.Errorf("wrote %s\nwant  %s", w, want)
	}
	if got, err := Compact(nil, w); err != nil || string(got) != want {
		t.Errorf("not compact JSON: %v", err)
	}
}

type word string

// Reopen leaves the object as it is, also where its buffer has space.
func TestReopen(t *testing.T) {
	for object, want := range map[string]string{`{}`: `{"a":1}`, `{"b":[]}`: `{"b":[],"a":1}`} {
		b := append(make([]byte, 0, 64), object...)
		w := Reopen(b)
		w.Number("a", 1)
		if w.End("}"); string(w) != want || string(b) != object {
			t.Errorf("%s becomes %s and %s, want %s", object, b, w, want)
		}
	}
}

// A Writer can go on in a buffer of the caller.
func TestWriterContinues(t *testing.T) {
	for before, want := range map[string]string{"": "1", "{\"a\":": "{\"a\":1", "[": "[1", "[2": "[2,1", "{}\n": "{}\n1", "[2,": "[2,1"} {
		w := Writer(before)
		if w.Int(1); string(w) != want {
			t.Errorf("after %q: %q, want %q", before, w, want)
		}
	}
}
