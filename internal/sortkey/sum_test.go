package sortkey

import (
	"bytes"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
)

func sumOf(t testing.TB, values ...string) *Sum {
	t.Helper()
	var s Sum
	for _, v := range values {
		enc, ok := FromText(pdpp.KindNumber, v)
		if !ok {
			t.Fatalf("%q is no number", v)
		}
		s.Add(enc, 1)
	}
	return &s
}

// AG-12: sums are exact decimals.
func TestSum(t *testing.T) {
	nines := strings.Repeat("9", 30)
	for _, c := range []struct {
		values []string
		want   string
	}{
		{nil, "0"},
		{[]string{"0", "-0.0"}, "0"},
		{[]string{"0.1", "0.2"}, "0.3"},
		{[]string{"1.50", "1.5"}, "3"},
		{[]string{"9007199254740993", "1"}, "9007199254740994"},
		{[]string{nines, "1"}, "1e30"},
		{[]string{"0." + nines, "-0." + nines}, "0"},
		{[]string{"12.34", "-100", "0.001"}, "-87.659"},
		{[]string{"1e400", "-1e400", "5"}, "5"},
		{[]string{"1e400"}, "1e400"},
		{[]string{"1e300", "1"}, "1" + strings.Repeat("0", 299) + "1"},
		{[]string{"4e18", "4e18", "4e18"}, "12000000000000000000"},
		{[]string{"1e-8", "1e-9"}, "1.1e-8"},
		{[]string{"1.5e-30", "1"}, "1.0000000000000000000000000000015"},
		{[]string{"999999999999999999", "999999999999999999", "0.01"}, "1999999999999999998.01"},
	} {
		s := sumOf(t, c.values...)
		if text, _, ok := s.Result(); !ok || text != c.want {
			t.Errorf("sum of %v = %s, %v, want %s", c.values, text, ok, c.want)
		}
		s.Reset()
		if text, _, _ := s.Result(); text != "0" {
			t.Errorf("after Reset the sum of %v is %s", c.values, text)
		}
	}
	var s Sum
	s.Add([]byte("no number"), 1)
	s.Add(nil, 1)
	if text, _, ok := s.Result(); text != "0" || !ok {
		t.Errorf("sum of what is no number = %s, %v", text, ok)
	}
}

// The number of digits of a sum is limited, in whatever order values are added.
func TestSumTooWide(t *testing.T) {
	for _, values := range [][]string{
		{"1e2000", "1e-201"}, {"1e-201", "1e2000"}, {"1e999999", "1", "-1e999999"}, {"1e-999999", "-7", "1e-999999"},
	} {
		if text, _, ok := sumOf(t, values...).Result(); ok {
			t.Errorf("sum of %v = %.40s, want none", values, text)
		}
	}
	if text, _, ok := sumOf(t, "1e2000", "1e-199").Result(); !ok || len(text) != 2001+1+199 {
		t.Errorf("a sum of 2,200 places has %d characters, %v", len(text), ok)
	}
}

// The sum is the one of math/big, and its key sorts as the sum does.
func TestSumEqualsBig(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		draw := func() (*big.Rat, string, []byte) {
			var s Sum
			want := new(big.Rat)
			for range rapid.IntRange(0, 12).Draw(t, "terms") {
				v := numbers.Draw(t, "value")
				times := rapid.Int64Range(1, 1<<rapid.IntRange(1, 40).Draw(t, "bits")).Draw(t, "times")
				enc, _ := FromText(pdpp.KindNumber, v)
				s.Add(enc, times)
				r, _ := new(big.Rat).SetString(v)
				want.Add(want, r.Mul(r, new(big.Rat).SetInt64(times)))
			}
			text, key, ok := s.Result()
			if got, valid := new(big.Rat).SetString(text); !ok || !valid || got.Cmp(want) != 0 {
				t.Fatalf("sum = %s, %v, want %s", text, ok, want.FloatString(60))
			}
			return want, text, key
		}
		a, textA, keyA := draw()
		b, textB, keyB := draw()
		if a.Cmp(b) != bytes.Compare(keyA, keyB) {
			t.Fatalf("keys of %s and %s compare as %d", textA, textB, bytes.Compare(keyA, keyB))
		}
	})
}

func BenchmarkSumAdd(b *testing.B) {
	enc, _ := FromText(pdpp.KindNumber, "-1234.56")
	var s Sum
	b.ReportAllocs()
	for b.Loop() {
		s.Add(enc, 3)
	}
}
