package analyzer

import (
	"strings"
	"testing"
)

func BenchmarkTerms(b *testing.B) {
	for name, text := range map[string]string{
		"ascii":    "Paid by standing order, see the letter from the bank of 2 April; amount 1,249.90 EUR. ",
		"english":  "“It’s paid”, she wrote – see the bank’s letter of 2 April; the amount didn’t change. ",
		"german":   "Die Überweisung an Müller in der Bergstraße wurde am 3. März ausgeführt. ",
		"russian":  "Оплачено постоянным поручением, см. письмо банка от 2 апреля. ",
		"japanese": "四月の家賃は銀行からの手紙のとおり、自動引き落としで支払いました。",
		"korean":   "은행의 편지에 따르면 사월 집세는 자동 이체로 지불되었습니다. ",
		"hindi":    "बैंक के पत्र के अनुसार अप्रैल का किराया चुका दिया गया है। ",
	} {
		b.Run(name, func(b *testing.B) {
			long := strings.Repeat(text, 100)
			b.SetBytes(int64(len(long)))
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				Terms(long, func(term []byte) bool { n += len(term); return true })
			}
			if n == 0 {
				b.Fatal("no terms")
			}
		})
	}
}

// BenchmarkShort is the cost of a call on a field of one word.
func BenchmarkShort(b *testing.B) {
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		Terms("Groceries", func([]byte) bool { n++; return true })
	}
	if n == 0 {
		b.Fatal("no terms")
	}
}
