package demo

import (
	"fmt"
	"strings"
	"time"
)

// jobThreads returns the mail threads about each job, in the studio's mailbox.
func (w *world) jobThreads() []*letter {
	d := newDice("job mail")
	var out []*letter
	for _, j := range w.jobs {
		out = append(out, w.jobThread(d, j)...)
	}
	// The newest threads are incomplete at the end of the data.
	for i := 0; i < len(out); {
		if out[i].at.After(lastDay.Add(day)) {
			out = append(out[:i], out[i+1:]...)
			continue
		}
		i++
	}
	return out
}

func (w *world) jobThread(d *dice, j job) []*letter {
	client, studio := w.people.get(j.client), w.people.get("studio")
	v := j.vars(w)
	ask := w.jobLetter(d, "job.request", v)
	ask.from, ask.to, ask.at = client, studio, d.at(j.asked, 7, 16)
	ask.files = []file{{name: "source_" + slug(j.title) + ".txt", lines: []string{j.title, ask.body}}}

	yes := w.jobLetter(d, "job.confirm", v)
	yes.from, yes.to, yes.at = studio, client, ask.at.Add(time.Duration(d.between(20, 600))*time.Minute)
	yes.quotes(ask)
	out := []*letter{ask, yes}

	if d.chance(55) {
		q, a := w.jobLetter(d, "job.question", v), w.jobLetter(d, "job.answer", v)
		q.from, q.to, q.at = studio, client, d.at(j.asked.AddDate(0, 0, 2), 8, 17)
		a.from, a.to, a.at = client, studio, q.at.Add(time.Duration(d.between(60, 1500))*time.Minute)
		a.quotes(q)
		out = append(out, q, a)
	}
	done, bill := w.jobLetter(d, "job.deliver", v), w.jobLetter(d, "job.invoice", v)
	done.from, done.to, done.at = studio, client, d.at(j.due, 8, 18)
	bill.from, bill.to, bill.at = studio, client, done.at.Add(35*time.Minute)
	done.files = []file{{name: "translation_" + slug(j.title) + ".txt", lines: []string{j.title, done.body}}}
	bill.files = []file{{name: "Rechnung_" + j.number + ".pdf", lines: strings.Split(bill.body, "\n")}}
	out = append(out, done, bill)

	if d.chance(70) {
		t := w.jobLetter(d, "job.thanks", v)
		t.from, t.to, t.at = client, studio, done.at.Add(time.Duration(d.between(90, 4000))*time.Minute)
		t.quotes(done)
		out = append(out, t)
	}
	for _, l := range out {
		l.thread = "job-" + j.number
		l.labels = []string{"jobs", j.client}
	}
	return out
}

// quotes appends the answered message, quoted, to the answer.
func (l *letter) quotes(other *letter) {
	l.body += fmt.Sprintf("\n\nOn %s, %s wrote:\n", other.at.Format("2 January 2006"), other.from.name) + quote(other.body)
}

func (w *world) jobLetter(d *dice, bank string, v vars) *letter {
	subject, body, _ := strings.Cut(d.expand(w.corpus.one(bank), v), "\n\n")
	return &letter{subject: subject, body: tidy(body)}
}

// slug returns a file name for a title.
func slug(title string) string {
	var b strings.Builder
	for _, r := range title {
		switch {
		case r == ' ' || r == ':' || r == ',' || r == '"' || r == '/':
			if b.Len() > 0 && !strings.HasSuffix(b.String(), "_") {
				b.WriteByte('_')
			}
		default:
			b.WriteRune(r)
		}
	}
	return strings.Trim(b.String(), "_")
}

// novelDay returns a diary entry about the novel. Its contract is of April 2023, it was
// delivered in September 2025, and its chapters were translated in order.
func novelDay(d *dice, at time.Time) string {
	start, end := moment("2023-05-01"), moment("2025-09-29")
	switch {
	case at.Before(start):
		return "Akquise, Probeseiten"
	case at.After(end):
		return d.expand("Das Salzarchiv, {Fahnen|Umbruch|Vorschautext}", nil)
	}
	chapter := 1 + 41*int(at.Sub(start)/day)/int(end.Sub(start)/day)
	return d.expand("Das Salzarchiv, Kapitel $n, {vormittags|bis mittags|einen einzigen Satz}", vars{"n": fmt.Sprint(chapter)})
}

// timesheet returns the list of a year's jobs for the tax adviser.
func (w *world) timesheet(year int) string {
	d := newDice(fmt.Sprint("timesheet ", year))
	var b strings.Builder
	fmt.Fprintf(&b, "Liebe Frau Vogt,\n\nhier wie gewünscht der Tätigkeitsnachweis für %d, Tag für Tag. Alles, was nach Arbeit aussieht, war Arbeit; was nach Spaziergang aussieht, war die letzte Zeile von Kapitel neun.\n\n", year)
	did := []string{"{Rohfassung|erste Fassung}, {Abschnitt|Seite} %d", "{Rückfragen|Termini} mit %s geklärt", "{zweite Lesung auf Papier|Korrektur} zu »%s«", "{Buchhaltung|Ablage|Porto und Umschläge}"}
	places := []string{"Arbeitszimmer", "Küchentisch", "Bücherhalle", "im Zug", "Arbeitszimmer, abends"}
	minutes := 0
	for at := range days(time.Date(year, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(year, 12, 30, 0, 0, 0, 0, time.UTC)) {
		if at.Weekday() == time.Sunday || at.Weekday() == time.Saturday || away(at) {
			continue
		}
		j := w.jobs[0]
		for _, x := range w.jobs {
			if !x.asked.After(at) {
				j = x
			}
		}
		what := d.expand(pick(d, did), nil)
		if d.chance(30) {
			what = novelDay(d, at)
		}
		switch {
		case strings.Contains(what, "%d"):
			what = fmt.Sprintf(what, d.between(1, 42))
		case strings.Contains(what, "mit %s"):
			what = fmt.Sprintf(what, w.people.get(j.client).org)
		case strings.Contains(what, "%s"):
			what = fmt.Sprintf(what, j.title)
		}
		m := d.between(10, 32) * 15
		minutes += m
		fmt.Fprintf(&b, "%s\t%d:%02d\t%s\t%s\t%s\n", isoDay(at), m/60, m%60, j.number, what, pick(d, places))
	}
	fmt.Fprintf(&b, "\nSumme: %d Stunden %d Minuten. Die Rechnungen haben Sie; den Kassenbon für das Wörterbuch der Seemannssprache finde ich noch.\n\nHerzliche Grüße\nMara Lindqvist", minutes/60, minutes%60)
	return b.String()
}
