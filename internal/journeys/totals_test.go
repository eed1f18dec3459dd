package journeys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func totalByMonth(w *walker) {
	index := w.good("bank", "schema", args{"stream": "transactions"})
	got := w.good("bank", "aggregate", args{
		"stream": "transactions", "metric": "sum", "field": "amount_minor", "group_by_time": "booked_at", "granularity": "month",
		"connection_id": w.choose(index, "Joint account"), "order": "asc", "limit": 100,
	}).groups()
	known := map[string]int{}
	for _, l := range w.w.records([]string{"giro"}, "transactions") {
		known[l.str("booked_at")[:7]+"-01"] += int(l.Data["amount_minor"].(float64))
	}
	if len(got) != len(known) {
		w.Errorf("%d months, want %d", len(got), len(known))
	}
	for _, g := range got {
		w.want(g.key, g.value, fmt.Sprint(known[g.key]))
	}
}

func byCategory(w *walker) {
	got := w.good("bank", "aggregate", args{"stream": "transactions", "metric": "sum", "field": "amount_minor", "group_by": "category", "limit": 100}).groups()
	known := map[string]int{}
	for _, l := range w.w.records(bank, "transactions") {
		key := l.str("category")
		if l.Data["category"] == nil {
			key = "null"
		}
		known[key] += int(l.Data["amount_minor"].(float64))
	}
	if len(got) != len(known) {
		w.Errorf("%d categories, want %d", len(got), len(known))
	}
	for _, g := range got {
		w.want(g.key, g.value, fmt.Sprint(known[cmp.Or(g.key, "null")]))
	}
}

func oneTotal(w *walker) {
	sum := 0
	for _, l := range w.w.records(bank, "transactions") {
		sum += int(l.Data["amount_minor"].(float64))
	}
	got := w.good("bank", "aggregate", args{"stream": "transactions", "metric": "sum", "field": "amount_minor"})
	w.want("sum", got.value(), fmt.Sprint(sum))
}

// lastBooking takes the answer to one question into the next.
func lastBooking(w *walker) {
	day := w.good("bank", "aggregate", args{"stream": "transactions", "metric": "max", "field": "booked_at"}).value()
	rows, _ := w.pages("bank", "query_records", args{"stream": "transactions", "filter": args{"booked_at": day}})
	var got, want []string
	for _, r := range rows {
		got = append(got, r.title)
	}
	for _, l := range w.w.records(bank, "transactions") {
		if l.str("booked_at") == day {
			want = append(want, l.str("memo"))
		}
	}
	slices.Sort(got)
	slices.Sort(want)
	if len(want) == 0 {
		w.Errorf("nothing was booked on %q", day)
	}
	w.want("memos", fmt.Sprint(got), fmt.Sprint(want))
}

// manyChildren follows the way on from a record whose related records are not all
// shown with it.
func manyChildren(w *walker) {
	rows := w.good("bank", "query_records", args{"stream": "balances", "connection_id": "giro", "filter": args{"as_of": args{"gte": "2026-09-01", "lt": "2026-10-01"}}}).items()
	if len(rows) != 1 {
		w.Fatalf("rows = %v", rows)
	}
	doc := w.good("bank", "fetch", args{"id": rows[0].id, "expand": []string{"transactions"}, "expand_limit": args{"transactions": 3}}).document()
	_, rest, ok := strings.Cut(doc.text, "\nmore: query_records ")
	s := scanner{rest}
	a, isObject := s.mustJSON().(map[string]any)
	if !ok || !isObject {
		w.Fatalf("no way on in %s", doc.text)
	}
	all, _ := w.pages("bank", "query_records", a)
	known := 0
	for _, l := range w.w.records([]string{"giro"}, "transactions") {
		if strings.HasPrefix(l.str("booked_at"), "2026-09") {
			known++
		}
	}
	w.want("bookings", fmt.Sprint(len(all)), fmt.Sprint(known))
}
