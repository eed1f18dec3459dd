package sortkey

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
)

// numbers draws the text of a number with a modest exponent, so that big.Rat can
// hold it.
var numbers = rapid.Custom(func(t *rapid.T) string {
	s := rapid.StringMatching(`-?(0|[1-9][0-9]{0,24}|[1-9]0{0,30})(\.[0-9]{1,12}|\.0{1,6})?`).Draw(t, "mantissa")
	if rapid.Bool().Draw(t, "scientific") {
		s += fmt.Sprintf("e%d", rapid.IntRange(-130, 130).Draw(t, "exponent"))
	}
	return s
})

func rat(t *rapid.T, s string) *big.Rat {
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		t.Fatalf("big.Rat cannot read %q", s)
	}
	return r
}

func TestNumberOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := numbers.Draw(t, "a")
		b := numbers.Draw(t, "b")
		if rapid.Bool().Draw(t, "near") { // the same number, written longer or slightly changed
			b = a
			if !strings.ContainsAny(a, "e.") {
				b += rapid.StringMatching(`\.[0-9]{1,3}`).Draw(t, "more")
			}
		}
		x, okX := FromText(pdpp.KindNumber, a)
		y, okY := FromText(pdpp.KindNumber, b)
		if !okX || !okY {
			t.Fatalf("no encoding of %q or %q", a, b)
		}
		if got, want := bytes.Compare(x, y), rat(t, a).Cmp(rat(t, b)); got != want {
			t.Fatalf("%s (%x) and %s (%x) compare as %d, want %d", a, x, b, y, got, want)
		}
		if len(x) < len(y) && bytes.HasPrefix(y, x) {
			t.Fatalf("%x (%s) is a prefix of %x (%s)", x, a, y, b)
		}
	})
}

func TestNumberRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := numbers.Draw(t, "number")
		enc, _ := FromText(pdpp.KindNumber, s)
		text, ok := Decimal(enc)
		if !ok || !json.Valid([]byte(text)) || rat(t, text).Cmp(rat(t, s)) != 0 {
			t.Fatalf("Decimal of %s = %q, %v", s, text, ok)
		}
		_, ok = FromText(pdpp.KindInteger, s)
		if want := rat(t, s).IsInt(); ok != want {
			t.Fatalf("%s is an integer: %v, want %v", s, ok, want)
		}
	})
}

func TestDecimal(t *testing.T) {
	tests := map[string]string{
		"-0": "0", "12.0": "12", "1.2e1": "12", "-1204.50": "-1204.5", "0.001": "0.001", "1e-6": "0.000001", "1e-7": "0.0000001",
		"1e-8": "1e-8", "12e-9": "1.2e-8", "1e20": "100000000000000000000", "1e21": "1e21", "-1.25e400": "-1.25e400",
		"123456789012345678901234567890.5": "123456789012345678901234567890.5", "1E+2": "100", "100e-2": "1",
		"1e999999": "1e999999", "1e-999999": "1e-999999",
	}
	for s, want := range tests {
		enc, ok := FromText(pdpp.KindNumber, s)
		if got, _ := Decimal(enc); !ok || got != want {
			t.Errorf("Decimal(%x) = %q, want %q (from %s)", enc, got, want, s)
		}
	}
}

// The order at the edges of the forms of the exponent, which big.Rat cannot represent.
func TestNumberEdges(t *testing.T) {
	ascending := []string{
		"0", "1e-999999", "9.99e-999999", "1e-500000", "9e-22", "1e-21", "9.9e-21", "1e-20", "1e-19", "0.1", "0.99", "1", "1.01", "1.1", "9.999",
		"10", "1e98", "9e99", "1e100", "1.1e100", "9e100", "1e101", "1e65535", "1e65536", "1e999999", "9.99e999999",
	}
	var all [][]byte
	for i := len(ascending) - 1; i > 0; i-- {
		all = append(all, encoded(t, "-"+ascending[i]))
	}
	for _, s := range ascending {
		all = append(all, encoded(t, s))
	}
	for i := 1; i < len(all); i++ {
		if bytes.Compare(all[i-1], all[i]) >= 0 {
			t.Errorf("%x is not less than %x", all[i-1], all[i])
		}
	}
}

func encoded(t *testing.T, s string) []byte {
	t.Helper()
	enc, ok := FromText(pdpp.KindNumber, s)
	if !ok {
		t.Fatalf("FromText(%s): no encoding", s)
	}
	return enc
}

// The limits apply to values, so that equal values are both accepted or both refused.
func TestNumberLimits(t *testing.T) {
	nines := strings.Repeat("9", maxDigits)
	zeros := strings.Repeat("0", 5000)
	tests := []struct {
		text string
		ok   bool
	}{
		{"1e999999", true},
		{"1e1000000", false},
		{"10e999999", false},
		{"0.1e1000000", true},
		{"1e-999999", true},
		{"1e-1000000", false},
		{"10e-1000000", true},
		{"1e99999999999999999999999999", false},
		{"-1e-99999999999999999999999999", false},
		{"0e99999999999999999999999999", true},
		{"1e" + zeros + "1", true},
		{nines, true},
		{nines + "9", false},
		{nines + "0", true},
		{nines[1:] + ".9", true},
		{nines + ".9", false},
		{"1." + zeros, true},
		{"1" + zeros, true},
		{"0." + zeros + "1", true},
		{"1" + zeros + "e-5000", true},
		{"1" + zeros + ".1", false},
	}
	for _, tt := range tests {
		enc, ok := FromText(pdpp.KindNumber, tt.text)
		if ok != tt.ok {
			t.Errorf("FromText(%.30s) = %v, want %v", tt.text, ok, tt.ok)
		}
		if _, back := Decimal(enc); back != tt.ok {
			t.Errorf("Decimal of %.30s = %v, want %v", tt.text, back, tt.ok)
		}
	}
	if !bytes.Equal(encoded(t, "1"+zeros+"e-5000"), encoded(t, "1")) {
		t.Error("1 written with 5,000 zeros differs from 1")
	}
}

// FuzzNumber: text is encoded when it is a JSON number within the limits, and decoded to
// an equal canonical text.
func FuzzNumber(f *testing.F) {
	for _, s := range []string{"0", "-0", "12.0", "1.2e1", "1e400", "-1e-400", "01", "+1", "NaN", "1e1000000", "0.00100", "1.", "\"1\""} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		enc, ok := FromJSON(pdpp.KindNumber, text)
		isNumber := json.Valid(text) && len(text) > 0 && (text[0] == '-' || text[0]-'0' <= 9) && text[len(text)-1] > ' '
		if !ok {
			if isNumber && len(text) <= maxDigits && !bytes.ContainsAny(text, "eE") {
				t.Fatalf("FromJSON(%q): no value", text)
			}
			return
		}
		if !isNumber {
			t.Fatalf("FromJSON(%q) = %x, want no value", text, enc)
		}
		plain, ok := Decimal(enc)
		again, ok2 := FromText(pdpp.KindNumber, plain)
		if !ok || !ok2 || !bytes.Equal(enc, again) {
			t.Fatalf("%q: %x comes back as %q: %x", text, enc, plain, again)
		}
	})
}

// FuzzDecimal: only canonical encodings decode.
func FuzzDecimal(f *testing.F) {
	for _, s := range []string{"0", "12", "-12", "1.5", "1e400", "-1e-400", "123456789"} {
		enc, _ := FromText(pdpp.KindNumber, s)
		f.Add(enc)
	}
	f.Fuzz(func(t *testing.T, enc []byte) {
		before := bytes.Clone(enc)
		s, ok := Decimal(enc)
		if !bytes.Equal(before, enc) {
			t.Fatalf("Decimal(%x) changed its input", before)
		}
		if !ok {
			return
		}
		if again, ok := FromText(pdpp.KindNumber, s); !ok || !bytes.Equal(again, enc) {
			t.Fatalf("Decimal(%x) = %q, which encodes as %x", enc, s, again)
		}
	})
}
