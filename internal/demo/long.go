package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// longPersonal returns long private messages: contracts, inspection protocols, and the
// whole file for the tenants' association (over 60 KB).
func (w *world) longPersonal() []*letter {
	lease := w.lease()
	moveIn, moveOut := w.protocol("Einzug, 1. März 2019, Osterstraße 41"), w.protocol("Auszug, 28. April 2025, Osterstraße 41")
	return []*letter{
		w.long("2023-09-13 08:15", "brandt>mara", "rent-2023", "Ihr Mietvertrag (Abschrift) nebst Hausordnung und Protokoll", "flat,rent", lease,
			file{name: "Mietvertrag_Scan.png", lines: []string{"Mietvertrag"}, scale: 12}),
		w.long("2024-01-30 21:50", "birte>mara", "agm-2024", "Protokoll der Mitgliederversammlung 2024 mit Anlagen", "choir", w.minutes(2024)),
		w.long("2026-01-27 21:33", "birte>mara", "agm-2026", "Protokoll der Mitgliederversammlung 2026 mit Anlagen", "choir", w.minutes(2026)),
		w.long("2025-04-16 10:10", "demir>mara", "new-flat", "Übergabeprotokoll Bahrenfelder Straße, bitte gegenlesen", "flat,move", w.protocol("Einzug, 15. April 2025, Bahrenfelder Straße")),
		w.long("2025-05-02 07:45", "brandt>mara", "notice", "Übergabeprotokoll Osterstraße 41", "flat,move", moveOut),
		w.long("2025-07-01 22:30", "mara>verein", "deposit", "Der ganze Vorgang (MR-25-0417)", "flat,deposit", w.wholeFile(lease, moveIn, moveOut)),
		w.long("2024-12-01 19:05", "mara>helene", "kyoto", "The Kyoto diary, typed up", "japan,friends", w.diary()),
		w.long("2024-12-27 15:20", "mara>helene", "odile", "Every loaf, as ordered (2023–2024)", "bread,friends", w.bakeLog("2023-01-01", "2025-01-01")),
		w.long("2026-09-06 09:00", "mara>helene", "odile", "Every loaf, second volume (2025–2026)", "bread,friends", w.bakeLog("2025-01-01", "2026-09-01")),
		w.long("2026-01-02 11:44", "mara>lucia", "export", "Fwd: chat export – Yuki and I, three years", "friends,japan", w.chatExport("yuki")),
	}
}

func (w *world) longWork() []*letter {
	return []*letter{
		w.long("2024-02-05 18:30", "studio>vogt", "tax-2023", "Tätigkeitsnachweis 2023", "tax", w.timesheet(2023)),
		w.long("2025-02-11 17:10", "studio>vogt", "tax-2024", "Tätigkeitsnachweis 2024", "tax", w.timesheet(2024)),
		w.long("2026-02-12 16:42", "studio>vogt", "tax-2025", "Tätigkeitsnachweis 2025", "tax", w.timesheet(2025)),
		w.long("2024-03-08 09:20", "tanabe>studio", "tanabe-tm", "対訳一覧 / translation memory, TK series (EN–JA–DE)", "tanabe", w.pumpMemory()),
		w.long("2025-08-24 20:15", "studio>petra", "salt", "Das Salzarchiv: Wortliste, Kapitel für Kapitel", "kranich,novel", w.glossary()),
	}
}

func (w *world) long(at, who, thread, subject, labels, body string, files ...file) *letter {
	from, to, _ := strings.Cut(who, ">")
	return &letter{
		at: moment(at), from: w.people.get(from), to: w.people.get(to), thread: thread, subject: subject,
		labels: strings.Split(labels, ","), body: body, files: files,
	}
}

func (w *world) lease() string {
	var b strings.Builder
	b.WriteString("Sehr geehrte Frau Lindqvist,\n\nauf Ihre Bitte die Abschrift des Mietvertrages vom 1. März 2019, der Hausordnung und des Protokolls. Eine Kopie des Originals liegt bei.\n\nMIETVERTRAG\n")
	for i, p := range w.corpus.paragraphs("lease") {
		title, text, _ := strings.Cut(p, ". ")
		fmt.Fprintf(&b, "\n§ %d %s\n%s\n", i+1, title, text)
	}
	b.WriteString("\n\nANLAGE: " + w.protocol("Einzug, 1. März 2019, Osterstraße 41"))
	return b.String()
}

// protocol returns the inspection protocol of a flat.
func (w *world) protocol(title string) string {
	d := newDice(title)
	rooms, things := w.corpus.lines("rooms"), w.corpus.table("fixtures")
	var b strings.Builder
	fmt.Fprintf(&b, "ÜBERGABEPROTOKOLL\n%s\n", title)
	for n, room := range rooms {
		fmt.Fprintf(&b, "\n%d. %s\n", n+1, strings.ToUpper(room))
		for i, t := range things {
			fmt.Fprintf(&b, "\t%d.%d\t%s (%s)\tBefund: %s\tFoto Nr. %03d, aufgenommen bei Tageslicht; anwesend beide Parteien\n",
				n+1, i+1, t[0], room, d.expand(t[1], nil), d.between(1, 240))
		}
	}
	b.WriteString("\nZählerstände: Strom 48.211, Wasser kalt 312,04, Wasser warm 188,90.\nSchlüssel: 5 Stück.\nAnmerkung Vermieter: Parkett: erhebliche Gebrauchsspuren.\nAnmerkung Mieter: NORMALE ABNUTZUNG.\n\nUnterschriften: gez. beide Parteien")
	return b.String()
}

// wholeFile returns all documents about the flat for the lawyer: a cover letter, the
// payments, then the papers.
func (w *world) wholeFile(lease, moveIn, moveOut string) string {
	var b strings.Builder
	b.WriteString("Liebe Frau Sülldorf,\n\nSie wollten den ganzen Vorgang; dies ist der ganze Vorgang. Inhalt: (1) Mietzahlungen, (2) Schriftwechsel, (3) Vertrag, (4) Protokoll 2019, (5) Protokoll 2025. Der Kratzer an der Balkontür steht in (3) § 6. Bitte kochen Sie sich vorher einen Tee.\n\nMara Lindqvist\n\n(1) MIETZAHLUNGEN\n")
	for m := range months() {
		if m.Year() == 2025 && m.Month() > time.April {
			break
		}
		fmt.Fprintf(&b, "\t%s\t%s EUR\tDauerauftrag, Eingang am dritten Werktag\n", month(m), euros(brandtRent(m)))
	}
	b.WriteString("\n(2) SCHRIFTWECHSEL\n")
	letters := w.story("personal")
	slices.SortStableFunc(letters, func(x, y *letter) int { return x.at.Compare(y.at) })
	for _, l := range letters {
		if slices.Contains(l.labels, "flat") && l.at.Before(moment("2025-07-01")) {
			fmt.Fprintf(&b, "\nVon: %s\nAn: %s\nDatum: %s\nBetreff: %s\n\n%s\n", l.from.name, l.to.name, isoDay(l.at), l.subject, quote(l.body))
		}
	}
	fmt.Fprintf(&b, "\n(3) VERTRAG\n\n%s\n\n(4) PROTOKOLL 2019\n\n%s\n\n(5) PROTOKOLL 2025\n\n%s", lease, moveIn, moveOut)
	return b.String()
}

func (w *world) minutes(year int) string {
	d := newDice(fmt.Sprint("minutes ", year))
	var b strings.Builder
	fmt.Fprintf(&b, "Liebe alle,\n\nanbei das Protokoll der Mitgliederversammlung %d, mit zwei Anlagen. Wer sich falsch wiedergegeben fühlt, meldet sich bis Ende des Monats oder singt es richtig.\n\n", year)
	for i, p := range w.corpus.paragraphs("minutes") {
		fmt.Fprintf(&b, "TOP %d: %s\n\n", i+1, p)
	}
	b.WriteString("ANLAGE 1: Probentagebuch\n\n")
	pieces, remark := w.corpus.table("pieces"), w.corpus.one("rehearsal")
	for at := time.Date(year-1, 1, 10, 0, 0, 0, 0, time.UTC); at.Year() < year; at = at.AddDate(0, 0, 7) {
		order := d.r.Perm(len(pieces))
		first, second, third := pieces[order[0]], pieces[order[1]], pieces[order[2]]
		voices := [4]int{d.between(9, 14), d.between(9, 14), d.between(2, 5), d.between(7, 11)}
		fmt.Fprintf(&b, "%s, 19:30 Uhr, %d Anwesende (S %d, A %d, T %d, B %d)\n\t%s (%s): %s\n\t%s (%s): %s\n\t%s (%s): %s\n\t%s\n", isoDay(at),
			voices[0]+voices[1]+voices[2]+voices[3], voices[0], voices[1], voices[2], voices[3],
			first[0], first[1], d.expand(first[2], nil), second[0], second[1], d.expand(second[2], nil), third[0], third[1], d.expand(third[2], nil), d.expand(remark, nil))
	}
	b.WriteString("\nANLAGE 2: Kekse\n\nDie Liste der Kekse wird aus Gründen des Datenschutzes nur mündlich verlesen.\n\nFür das Protokoll: Birte Claasen")
	return b.String()
}

func (w *world) diary() string {
	d := newDice("diary")
	more := newBag(d, w.corpus.paragraphs("diary.more"))
	var b strings.Builder
	b.WriteString("Chère Hélène,\n\nHere it is, as it stands in the notebook, with the tea stains left out.\n\n")
	for i, p := range w.corpus.paragraphs("diary") {
		b.WriteString(p + "\n\n")
		if i%6 == 4 {
			b.WriteString(d.expand(more.next(lastDay), nil) + "\n\n")
		}
	}
	b.WriteString("À toi,\nMara")
	return b.String()
}

func (w *world) bakeLog(from, to string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Every loaf from %s to %s, as Hélène ordered: not because the numbers matter.\n", from, to)
	for _, x := range w.bakes {
		if !x.at.Before(moment(from)) && x.at.Before(moment(to)) {
			b.WriteString("\n" + x.String() + "\n")
		}
	}
	b.WriteString("\nThe perfect one is not among them. I know exactly what I was thinking about, though.")
	return b.String()
}

func (w *world) chatExport(key string) string {
	var b strings.Builder
	b.WriteString("Querida Lucía: you asked how Yuki and I talk, with no language that is both of ours. Here is the export, up to New Year. Steal what you like for the preface.\n\n")
	for _, c := range w.conversations() {
		if c.key != key {
			continue
		}
		for _, m := range c.messages {
			if m.at.Before(moment("2026-01-01")) {
				fmt.Fprintf(&b, "[%s] %s: %s\n", m.at.Format("02.01.06, 15:04"), m.sender, m.text)
			}
		}
	}
	return b.String()
}

func (w *world) pumpMemory() string {
	var b strings.Builder
	b.WriteString("リンドクヴィスト様\n\nいつもありがとうございます。対訳一覧をお送りいたします。Please find below all approved segments; the first column is the number.\n\n")
	n := 0
	for _, a := range w.corpus.table("pump.actions") {
		for _, p := range w.corpus.table("pump.parts") {
			n++
			fmt.Fprintf(&b, "%04d\tEN\t"+a[0]+"\n\tJA\t"+a[1]+"\n\tDE\t"+a[2]+"\n", n, p[0], p[1], p[2])
		}
	}
	b.WriteString("\n以上でございます。ありがとうございました。\n田辺")
	return b.String()
}

func (w *world) glossary() string {
	d := newDice("glossary")
	terms := w.corpus.table("glossary")
	var b strings.Builder
	b.WriteString("Liebe Petra,\n\ndie Wortliste, Kapitel für Kapitel, mit Seite im Original und in der Rohfassung. Was mit ! markiert ist, würde ich verteidigen.\n")
	for chapter := 1; chapter <= 42; chapter++ {
		fmt.Fprintf(&b, "\nKAPITEL %d\n", chapter)
		for _, i := range d.r.Perm(len(terms))[:d.between(5, 8)] {
			t := terms[i]
			fmt.Fprintf(&b, "\tS. %d / %d\t%s\t→ %s\t(%s)%s\n", chapter*9+d.between(0, 8), chapter*10+d.between(0, 8), t[0], t[1], t[2], pick(d, []string{"", "", " !"}))
		}
	}
	b.WriteString("\nMara")
	return b.String()
}
