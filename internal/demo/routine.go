package demo

import (
	"fmt"
	"strings"
	"time"
)

// routine is a regular correspondence: a person writes at intervals and sometimes gets an
// answer.
type routine struct {
	from, to   string
	first      string // the day it began
	last       string // "" if it has not ended
	every      [2]int // days between letters
	paragraphs [2]int
	labels     string
	reply      string // bank of answers; "" for none
	replies    int    // percent of letters that are answered
}

var personalRoutines = []routine{
	{from: "ingrid", to: "mara", first: "2023-01-08", every: [2]int{13, 19}, paragraphs: [2]int{2, 4}, labels: "family", reply: "mara.reply", replies: 60},
	{from: "helene", to: "mara", first: "2023-01-20", every: [2]int{15, 24}, paragraphs: [2]int{2, 4}, labels: "friends,bread", reply: "mara.reply", replies: 60},
	{from: "yuki", to: "mara", first: "2023-01-12", every: [2]int{19, 31}, paragraphs: [2]int{2, 4}, labels: "friends,japan", reply: "mara.reply", replies: 60},
	{from: "lucia", to: "mara", first: "2023-02-10", every: [2]int{30, 50}, paragraphs: [2]int{2, 3}, labels: "friends", reply: "mara.reply", replies: 50},
	{from: "jonas", to: "mara", first: "2023-01-05", every: [2]int{14, 26}, paragraphs: [2]int{1, 2}, labels: "home", replies: 0},
	{from: "tomasz", to: "mara", first: "2023-01-06", every: [2]int{6, 11}, paragraphs: [2]int{3, 4}, labels: "choir", reply: "mara.antwort", replies: 35},
	{from: "hafenblatt", to: "mara", first: "2023-01-07", every: [2]int{7, 7}, paragraphs: [2]int{3, 5}, labels: "newsletter,notices"},
}

var workRoutines = []routine{
	{from: "petra", to: "studio", first: "2023-05-10", last: "2026-03-01", every: [2]int{12, 22}, paragraphs: [2]int{2, 3}, labels: "kranich,novel", reply: "mara.antwort", replies: 0},
	{from: "imogen", to: "studio", first: "2023-07-02", last: "2025-09-28", every: [2]int{21, 21}, paragraphs: [2]int{2, 2}, labels: "novel"},
	{from: "verband", to: "studio", first: "2023-01-11", every: [2]int{21, 30}, paragraphs: [2]int{2, 4}, labels: "newsletter,notices"},
}

func (w *world) routines(list []routine) []*letter {
	var out []*letter
	for _, r := range list {
		out = append(out, w.correspondence(r)...)
	}
	return out
}

func (w *world) correspondence(r routine) []*letter {
	d := newDice("routine " + r.from)
	subjects := newBag(d, w.corpus.lines(r.from+".subject"))
	paragraphs := newBag(d, w.corpus.paragraphs(r.from+".par"))
	last := lastDay
	if r.last != "" {
		last = moment(r.last)
	}
	var out []*letter
	for at := moment(r.first); !at.After(last); at = at.AddDate(0, 0, d.between(r.every[0], r.every[1])) {
		if r.from == "yuki" && away(at) {
			continue // on these days they met
		}
		v := vars{"n": fmt.Sprint(len(out)%42 + 1)}
		l := &letter{
			from: w.people.get(r.from), to: w.people.get(r.to), at: d.at(at, 6, 21),
			thread: fmt.Sprintf("%s-%s", r.from, isoDay(at)), subject: d.expand(subjects.next(at), v),
			labels: strings.Split(r.labels, ","),
		}
		var text []string
		for _, p := range paragraphs.some(d.between(r.paragraphs[0], r.paragraphs[1]), at) {
			text = append(text, adaptTo(d.expand(p, v), at))
		}
		l.body = w.envelope(d, r.from, strings.Join(text, "\n\n"))
		l.files = w.enclosure(d, l)
		out = append(out, l)
		if d.chance(r.replies) {
			out = append(out, w.answer(d, l, r.reply))
		}
	}
	return out
}

// envelope adds a person's opening and closing to a text.
func (w *world) envelope(d *dice, from, text string) string {
	return pick(d, w.corpus.lines(from+".open")) + "\n\n" + text + "\n\n" + pick(d, w.corpus.lines(from+".close"))
}

// enclosure returns the attachment that some messages have: a photo or a score.
func (w *world) enclosure(d *dice, l *letter) []file {
	names := map[string]string{"ingrid": "tradgard_%s.png", "helene": "mie_%s.png", "yuki": "店_%s.png", "tomasz": "Stimme_Alt_%s.wav"}
	name, ok := names[l.from.key]
	if !ok || !d.chance(16) {
		return nil
	}
	return []file{{name: fmt.Sprintf(name, isoDay(l.at)), lines: []string{l.subject}}}
}

// answer returns the owner's reply, usually with the quoted message below.
func (w *world) answer(d *dice, l *letter, bank string) *letter {
	reply := &letter{
		from: l.to, to: l.from, at: l.at.Add(time.Duration(d.between(40, 2800)) * time.Minute), thread: l.thread,
		subject: "Re: " + l.subject, labels: l.labels, body: adaptTo(tidy(d.expand(w.corpus.one(bank), nil)), l.at) + "\n\nMara",
	}
	if d.chance(70) {
		reply.quotes(l)
	}
	return reply
}

func quote(text string) string { return "> " + strings.ReplaceAll(text, "\n", "\n> ") }

// notices returns automatic messages: parcels, trains, orders.
func (w *world) notices() []*letter {
	kinds := []struct {
		from  string
		every [2]int
		label string
	}{
		{"strom", [2]int{30, 31}, "flat"},
		{"paket", [2]int{9, 21}, "parcels"},
		{"bib", [2]int{22, 40}, "books"},
		{"muehle", [2]int{28, 50}, "bread"},
		{"bahn", [2]int{30, 60}, "travel"},
	}
	german := []string{"Januar", "Februar", "März", "April", "Mai", "Juni", "Juli", "August", "September", "Oktober", "November", "Dezember"}
	var out []*letter
	for _, k := range kinds {
		d := newDice("notice " + k.from)
		for at := firstDay.AddDate(0, 0, d.between(0, 20)); !at.After(lastDay); at = at.AddDate(0, 0, d.between(k.every[0], k.every[1])) {
			v := vars{"month": german[at.Month()-1], "count": fmt.Sprint(d.between(11, 4000)), "code": fmt.Sprintf("%c%c-%07d", 'A'+d.between(0, 25), 'A'+d.between(0, 25), d.between(1, 9999999))}
			subject, body, _ := strings.Cut(adaptTo(d.expand(w.corpus.one("notice."+k.from), v), at), "\n\n")
			l := &letter{
				from: w.people.get(k.from), to: w.people.get("mara"), at: d.at(at, 4, 19), subject: subject, body: body,
				thread: k.from + "-" + isoDay(at), labels: []string{"notices", k.label},
			}
			if k.from == "bahn" || k.from == "muehle" && d.chance(40) {
				l.files = []file{{name: "Beleg_" + v["code"] + ".pdf", lines: strings.Split(body, "\n")}}
			}
			out = append(out, l)
		}
	}
	return out
}
