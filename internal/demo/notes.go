package demo

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

type note struct {
	title, text      string
	tags             []string
	created, updated time.Time
	pinned           bool
}

func (w *world) notes() []record {
	notes := w.writtenNotes()
	notes = append(notes, w.smallNotes()...)
	notes = append(notes, w.longNotes()...)
	slices.SortStableFunc(notes, func(a, b note) int { return a.created.Compare(b.created) })
	d := newDice("notes")
	var out []record
	for i, n := range notes {
		id := fmt.Sprintf("note-%04d", i+1)
		out = append(out, record{"notes", quoted(id), n.data(id, i), d.after(n.updated)})
	}
	return out
}

func (n note) data(id string, i int) []byte {
	var o object
	o.str("id", id)
	o.strOrNull("title", n.title)
	o.str("text", n.text)
	o.list("tags", n.tags)
	o.str("created_at", utc(n.created))
	o.str("updated_at", utc(n.updated))
	if i%11 != 10 { // the oldest app version had no pins
		o.boolean("pinned", n.pinned)
	}
	o.integer("char_count", int64(len([]rune(n.text))))
	if i%67 == 66 {
		o.raw("x_drawing", `{"strokes":[[0,0,12.50],[1,1e3,-0.0]],"ink":"blue"}`) // undeclared on purpose
	}
	return o.bytes()
}

// writtenNotes returns the notes that belong to the story. The note about the deposit was
// updated until the matter ended.
func (w *world) writtenNotes() []note {
	d := newDice("written notes")
	updates := map[string]string{"Deposit: where we are": "2026-02-06 12:30", "Untranslatables (running list)": "2025-02-03 21:00", "Rent increase: the sums": "2023-09-24 20:10"}
	var out []note
	for _, b := range w.corpus.all("note") {
		n := note{title: b.head[3], text: b.body, pinned: b.head[2] == "pinned", created: d.at(moment(b.head[0]), 7, 22)}
		if b.head[1] != "" {
			n.tags = strings.Split(b.head[1], ",")
		}
		n.updated = n.created
		if at, ok := updates[n.title]; ok {
			n.updated = moment(at)
		}
		out = append(out, n)
	}
	return out
}

// smallNotes returns notes about bread, the choir, shopping lists, jobs and words.
func (w *world) smallNotes() []note {
	d := newDice("small notes")
	var out []note
	add := func(at time.Time, title, text string, tags ...string) {
		created := d.at(at, 7, 22)
		text = adaptTo(text, at)
		out = append(out, note{title: title, text: text, tags: tags, created: created, updated: created.Add(time.Duration(d.between(0, 90)) * time.Minute)})
	}
	for i, b := range w.bakes {
		if i%3 == 0 {
			add(b.at, "Bread: "+b.kind, b.String(), "bread")
		}
	}
	for at := firstDay.AddDate(0, 0, 8); at.Before(lastDay); at = at.AddDate(0, 0, 7*d.between(2, 4)) {
		add(at, "Choir, "+at.Format("2 January"), d.expand(w.corpus.one("choir.note"), nil), "choir")
	}
	for at := firstDay.AddDate(0, 0, 3); at.Before(lastDay); at = at.AddDate(0, 0, d.between(18, 34)) {
		add(at, "List", d.expand(w.corpus.one("list.note"), nil), "lists")
	}
	for i, j := range w.jobs {
		if i%3 == 1 {
			add(j.asked, j.number+" "+j.title, d.expand(w.corpus.one("work.note"), j.vars(w)), "work", j.client)
		}
	}
	for i, word := range w.corpus.table("words") {
		at := firstDay.AddDate(0, 0, 20+i*64)
		add(at, word[0], fmt.Sprintf("%s(%s)\n\n%s\n\nゆきさんに聞くこと:「%s」を使うのはどんなとき?", word[0], word[1], word[2], word[0]), "日本語", "language")
	}
	return out
}

// longNotes returns notes of more than 16 KiB each.
func (w *world) longNotes() []note {
	kyoto := w.diary() + "\n\n単語帳\n"
	for _, word := range w.corpus.table("words") {
		kyoto += fmt.Sprintf("\n%s(%s) %s", word[0], word[1], word[2])
	}
	start := moment("2023-01-05 06:40")
	return []note{
		{title: "Bread log (every loaf)", text: w.bakeLog("2023-01-01", "2026-10-19"), tags: []string{"bread"}, created: start, updated: moment("2026-10-17 19:00"), pinned: true},
		{title: "京都ノート / Kyoto notebook", text: kyoto, tags: []string{"japan", "日本語", "travel"}, created: moment("2024-10-28 12:00"), updated: moment("2024-11-30 22:10")},
		{title: "Boxes 1–64", text: w.boxes(), tags: []string{"move", "lists"}, created: moment("2025-03-02 10:00"), updated: moment("2025-04-15 22:00"), pinned: true},
		{title: "Salt Archive: words, by chapter", text: w.glossary(), tags: []string{"novel", "work"}, created: moment("2023-05-02 08:00"), updated: moment("2025-08-24 19:40")},
	}
}

// boxes returns the list of the boxes of the move.
func (w *world) boxes() string {
	d := newDice("boxes")
	things := []string{"dictionaries A–K", "dictionaries L–Z", "plates (blue)", "winter coats", "cables", "scores, alto", "baking tins", "Jonas's planes, wrapped", "lamp without shade", "shade without lamp", "letters 2009–2019", "tax, do not open", "spices, Samir would laugh", "towels", "bread wrappers from Kyoto", "twelve sheets of paper, flat!", "small tools", "novels, Swedish", "novels, unread (積ん読)", "tea", "the good cushions"}
	where := []string{"kitchen", "study", "bedroom", "hall", "cellar", "balcony", "workshop"}
	var b strings.Builder
	b.WriteString("Numbers on two sides. Nobody lifts with the back.\n")
	for i := 1; i <= 64; i++ {
		switch i {
		case 17:
			b.WriteString("\n17 → kitchen. ODILE. Only I carry 17.\n")
			continue
		case 48:
			b.WriteString("\n48 → ? Cables and \"Diverses\". Did not arrive. We have not missed it, which tells you something about Diverses.\n")
			continue
		}
		fmt.Fprintf(&b, "\n%d → %s (%d kg, packed %s)\n", i, pick(d, where), d.between(4, 23), isoDay(moment("2025-03-02").AddDate(0, 0, i/2)))
		for _, k := range d.r.Perm(len(things))[:d.between(6, 10)] {
			fmt.Fprintf(&b, "\t- %s%s\n", things[k], pick(d, []string{"", "", " (fragile)", " (half)", ", see also next box"}))
		}
	}
	return adaptTo(b.String(), moment("2025-03-02"))
}
