package evidence

import (
	"strings"
	"testing"

	"pdpp/internal/analyzer"
	"pdpp/internal/rawjson"
)

// mail returns the data of a message, the most common kind of hit.
func mail(subject, body string) []byte {
	data := rawjson.AppendString([]byte(`{"id":"5f3c9a7e21b04d68","from":"ada@example.org","subject":`), subject)
	data = rawjson.AppendString(append(data, `,"body":`...), body)
	return append(data, `,"sent_at":"2026-04-30T09:00:00Z","category":"personal","amount":1250.00,"is_read":true,"thread_id":"5f3c9a7e"}`...)
}

const (
	english = "Dear Ada, the April rent was paid by standing order on the second, as the letter from the bank says; " +
		"please tell me if you see it on your side as well. I have put the receipt in the folder with the others.\n\n" +
		"We talked about the garden fence last week: two of the boards are broken and the gate does not close any more. " +
		"I asked for an offer and will send it when it is here. See you on Sunday, Charles"
	german = "Liebe Änne, die Miete für April wurde am zweiten per Überweisung gezahlt, wie der Brief der Bank bestätigt; " +
		"bitte prüfe, ob sie auch bei dir erscheint. Den Beleg habe ich zu den übrigen in den großen Ordner gelegt.\n\n" +
		"Über den Zaun hatten wir vorige Woche gesprochen: Zwei Bretter sind brüchig, und das Törchen schließt nicht mehr. " +
		"Ich habe ein Angebot angefordert und schicke es dir, sobald es da ist. Schöne Grüße, Jürgen"
)

// BenchmarkHit measures the rendering of one hit of a search.
func BenchmarkHit(b *testing.B) {
	long := strings.Repeat(strings.ReplaceAll(english, "April", "March")+"\n", 100)
	for name, tt := range map[string]struct{ subject, body, q string }{
		"ascii":  {"Re: April rent and the garden", english, "rent april"},
		"german": {"Re: Miete für April und der Zaun", german, "überweisung april"},
		"long":   {"Re: rent and the garden", long + english + long, "rent april"},
	} {
		b.Run(name, func(b *testing.B) {
			finder := NewFinder(analyzer.Query(tt.q))
			texts := []Text{{Field: "subject", Content: tt.subject}, {Field: "body", Content: tt.body}}
			data := mail(tt.subject, tt.body)
			r := entry("{}", "actor=from", "primary-title=subject", "primary-text=body", "event-time=sent_at", "amount=amount", "time=sent_at")
			var out []byte
			b.SetBytes(int64(len(data)))
			b.ReportAllocs()
			for b.Loop() {
				r.SetData(data)
				out = AppendRecordURL(out[:0], r)
				at := EventTimeOf(r)
				out = append(out, at.Value...)
				found := finder.Find(texts)
				for _, name := range found.Fields() {
					out = append(out, name...)
				}
				excerpts := Excerpts(r, found)
				out = AppendCard(out, r, at)
				out = AppendExcerpts(out, r, excerpts)
			}
			if !strings.Contains(string(out), "<mark>April</mark>") {
				b.Fatalf("no match in %s", out)
			}
		})
	}
}
