package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// job is one translation. It appears as a mail thread, a payment, a line in the yearly list
// for the tax adviser and sometimes as a note.
type job struct {
	number      string // of the invoice
	client      string // key of a person
	pair, title string
	words       int
	cents       int
	asked, due  time.Time
	paid        time.Time
}

func makeJobs(c *corpus) []job {
	d := newDice("jobs")
	rows := c.table("jobs")
	var out []job
	year, n := 0, 0
	for at := firstDay.AddDate(0, 0, 7); at.Before(lastDay.AddDate(0, 0, -10)); at = at.AddDate(0, 0, d.between(8, 16)) {
		if at.Year() != year {
			year, n = at.Year(), 0
		}
		if away(at) {
			continue
		}
		n++
		r := pick(d, rows)
		words := d.between(number(r[3]), number(r[4]))
		due := weekday(at.AddDate(0, 0, d.between(5, 16)))
		out = append(out, job{
			number: fmt.Sprintf("R-%d-%03d", year, n), client: r[0],
			pair: arrow(r[1]), title: d.expand(r[2], nil), words: words, cents: words * number(r[5]),
			asked: weekday(at), due: due, paid: weekday(due.AddDate(0, 0, d.between(9, 28))),
		})
	}
	return out
}

func arrow(pair string) string { return strings.ToUpper(strings.ReplaceAll(pair, ">", " → ")) }

// away reports whether the owner took no work at a time.
func away(t time.Time) bool {
	trips := [][2]string{{"2024-05-17", "2024-06-02"}, {"2024-10-27", "2024-11-15"}, {"2025-04-10", "2025-04-20"}, {"2026-05-13", "2026-05-18"}}
	return slices.ContainsFunc(trips, func(p [2]string) bool {
		return !t.Before(moment(p[0])) && !t.After(moment(p[1]))
	})
}

// weekday moves a weekend day to Monday.
func weekday(t time.Time) time.Time {
	for t.Weekday() == time.Saturday || t.Weekday() == time.Sunday {
		t = t.AddDate(0, 0, 1)
	}
	return t
}

// euros formats cents with a decimal point, as a JSON number.
func euros(cents int) string {
	sign := ""
	if cents < 0 {
		sign, cents = "-", -cents
	}
	return fmt.Sprintf("%s%d.%02d", sign, cents/100, cents%100)
}

func (j job) vars(w *world) vars {
	client := w.people.get(j.client)
	hello := map[string]string{"tanabe": "リンドクヴィスト様\nDear Ms Lindqvist,", "festival": "Chère Mara,", "seguros": "Estimada Mara:", "nordlicht": "Hej Mara,"}
	v := vars{
		"title": j.title, "pair": j.pair, "number": j.number, "amount": euros(j.cents),
		"words": fmt.Sprint(j.words), "due": j.due.Format("Monday, 2 January"),
		"client": client.org, "hello": hello[j.client], "sign": client.name + "\n" + client.org,
	}
	first, _, _ := strings.Cut(client.name, " ")
	v["greet"] = "Dear " + first + ","
	if j.client == "tanabe" {
		v["greet"], v["sign"] = "Dear Mr Tanabe,", first+"\n"+client.org
	}
	if v["hello"] == "" {
		v["hello"] = "Dear Mara,"
	}
	return v
}

// bake is one loaf of bread.
type bake struct {
	at        time.Time
	kind      string
	hydration int
	celsius   int
	hours     int
	remark    string
}

func makeBakes(c *corpus) []bake {
	d := newDice("bakes")
	kinds, remark := c.lines("bake.kind"), c.one("bake.note")
	var out []bake
	for at := firstDay.AddDate(0, 0, 5); at.Before(lastDay); at = at.AddDate(0, 0, d.between(5, 9)) {
		if away(at) {
			continue
		}
		out = append(out, bake{
			at: at, kind: pick(d, kinds), hydration: d.between(68, 80), celsius: d.between(17, 26),
			hours: d.between(5, 14), remark: adaptTo(d.expand(remark, nil), at),
		})
	}
	return out
}

func (b bake) String() string {
	return fmt.Sprintf("%s · %s\n\t%d %% water, %d °C, %d h. %s", isoDay(b.at), b.kind, b.hydration, b.celsius, b.hours, b.remark)
}
