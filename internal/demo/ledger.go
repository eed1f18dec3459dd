package demo

import (
	"time"
)

// regular returns the monthly and quarterly transactions.
func (w *world) regular(account string) []entry {
	var out []entry
	for m := range months() {
		for _, r := range w.corpus.table("standing") {
			if r[0] == account && month(m) >= r[7] && month(m) <= r[8] {
				out = append(out, entry{weekday(m.AddDate(0, 0, number(r[1])-1)), number(r[5]), r[2], r[3], r[4], r[6], 0})
			}
		}
		if m.Month()%3 != 1 {
			continue
		}
		for _, r := range w.corpus.table("quarterly") {
			if r[0] == account {
				out = append(out, entry{weekday(m.AddDate(0, 0, number(r[1])-1)), number(r[5]), r[2], r[3], r[4], r[6], 0})
			}
		}
	}
	return out
}

// events returns the transactions that belong to the story.
func (w *world) events(account string) []entry {
	var out []entry
	for _, r := range w.corpus.table("events") {
		if r[0] == account {
			out = append(out, entry{moment(r[1]), number(r[2]), r[3], r[4], r[5], r[6], 0})
		}
	}
	return out
}

func (w *world) rents() []entry {
	var out []entry
	for m := range months() {
		landlord, memo, cents := rent(m)
		out = append(out, entry{weekday(m), -cents, landlord, "rent", memo, "standing_order", 0})
		if landlord == "Brandt Hausverwaltung" {
			out = append(out, entry{weekday(m), -19000, landlord, "rent", "Nebenkosten Osterstr. 41", "standing_order", 0})
		}
	}
	return out
}

// income returns the payments of the studio's clients.
func (w *world) income() []entry {
	var out []entry
	for _, j := range w.jobs {
		out = append(out, entry{j.paid, j.cents, w.people.get(j.client).org, "income", j.number + " " + j.title, "transfer", 0})
	}
	return out
}

func (w *world) interest() []entry {
	d := newDice("interest")
	var out []entry
	for m := range months() {
		out = append(out, entry{m.AddDate(0, 1, -1), d.between(310, 1490), "Sparbank Nord", "", "Zinsen", "interest", 0})
	}
	return out
}

// shopping returns the small daily payments.
func (w *world) shopping() []entry {
	d := newDice("shopping")
	shops := w.corpus.table("shops")
	total := 0
	for _, s := range shops {
		total += number(s[5])
	}
	var out []entry
	for at := range days(firstDay, lastDay) {
		if at.After(moment("2024-10-27")) && at.Before(moment("2024-11-15")) {
			continue // in Japan
		}
		for range pick(d, []int{0, 0, 1, 2}) {
			s := weighted(d, shops, total)
			e := entry{at, -d.between(number(s[3]), number(s[4])), s[0], s[1], d.expand(s[2], nil), "card", 0}
			if d.chance(6) {
				e.category = "" // not classified by the bank
			}
			if at.After(moment("2025-04-15")) && e.counterparty == "Markthalle Eimsbüttel" {
				e.counterparty = "Markthalle Ottensen"
			}
			out = append(out, e)
		}
	}
	return out
}

func weighted(d *dice, shops [][]string, total int) []string {
	n := d.r.IntN(total)
	for _, s := range shops {
		n -= number(s[5])
		if n < 0 {
			return s
		}
	}
	return shops[0]
}

// kyoto returns the card payments of the trip to Japan, at 163 yen to the euro. The shops
// in once have one payment, on a fixed day.
func (w *world) kyoto() []entry {
	d := newDice("kyoto")
	once := map[string]string{"黒谷和紙": "2024-11-01", "弘法市": "2024-11-03", "有次": "2024-11-11"}
	var out []entry
	spend := func(at time.Time, s []string) {
		yen := d.between(number(s[3]), number(s[4]))
		out = append(out, entry{at, -yen * 100 / 163, s[0], s[1], s[2], "card", yen})
	}
	shops := w.corpus.table("kyoto")
	for at := range days(moment("2024-10-28"), moment("2024-11-13")) {
		for _, s := range shops {
			if once[s[0]] == isoDay(at) || once[s[0]] == "" && d.chance(32) {
				spend(at, s)
			}
		}
	}
	return out
}
