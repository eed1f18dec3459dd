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
	w.End("}")
	const want = `{"a":"x\"\n","c":null,"d":-7,"d0":0,"d1":null,"e":true,"f":{"kept":1.50},"g\"":{},` +
		`"h":[1,false,"[",[],{"i":1,"j":2,"k":null}],"l":["{",":"]}`
	if string(w) != want {
		t.Errorf("wrote %s\nwant  %s", w, want)
	}
	if got, err := Compact(nil, w); err != nil || string(got) != want {
		t.Errorf("not compact JSON: %v", err)
	}
}

type word string

// A Writer can go on in a buffer of the caller.
func TestWriterContinues(t *testing.T) {
	for before, want := range map[string]string{"": "1", "{\"a\":": "{\"a\":1", "[": "[1", "[2": "[2,1", "{}\n": "{}\n1", "[2,": "[2,1"} {
		w := Writer(before)
		if w.Int(1); string(w) != want {
			t.Errorf("after %q: %q, want %q", before, w, want)
		}
	}
}
