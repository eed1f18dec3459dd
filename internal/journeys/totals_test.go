package journeys

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
)

func totalByMonth(w *walker) {
	index := w.do("bank", "schema", args{"stream": "transactions"})
	got := w.do("bank", "aggregate", args{
		"stream": "transactions", "metric": "sum", "field": "amount_minor", "group_by_time": "booked_at", "granularity": "month",
		"connection_id": w.choose(index, "Joint account"), "order": "asc", "limit": 100,
	}).groups()
	expected := map[string]int{}
	for _, l := range w.w.records([]string{"giro"}, "transactions") {
		expected[l.str("booked_at")[:7]+"-01"] += int(l.Data["amount_minor"].(float64))
	}
	if len(got) != len(expected) {
		w.Errorf("%d months, want %d", len(got), len(expected))
	}
	for _, g := range got {
		w.want(g.key, g.value, fmt.Sprint(expected[g.key]))
	}
}

func byCategory(w *walker) {
	got := w.do("bank", "aggregate", args{"stream": "transactions", "metric": "sum", "field": "amount_minor", "group_by": "category", "limit": 100}).groups()
	expected := map[string]int{}
	for _, l := range w.w.records(bank, "transactions") {
		key := l.str("category")
		if l.Data["category"] == nil {
			key = "null"
		}
		expected[key] += int(l.Data["amount_minor"].(float64))
	}
	if len(got) != len(expected) {
		w.Errorf("%d categories, want %d", len(got), len(expected))
	}
	for _, g := range got {
		w.want(g.key, g.value, fmt.Sprint(expected[cmp.Or(g.key, "null")]))
	}
}

func oneTotal(w *walker) {
	sum := 0
	for _, l := range w.w.records(bank, "transactions") {
		sum += int(l.Data["amount_minor"].(float64))
	}
	got := w.do("bank", "aggregate", args{"stream": "transactions", "metric": "sum", "field": "amount_minor"})
	w.want("sum", got.value(), fmt.Sprint(sum))
}

// lastBooking uses the value of one call in the next.
func lastBooking(w *walker) {
	day := w.do("bank", "aggregate", args{"stream": "transactions", "metric": "max", "field": "booked_at"}).value()
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

// manyChildren reads the related records that a record does not show.
func manyChildren(w *walker) {
	rows := w.do("bank", "query_records", args{"stream": "balances", "connection_id": "giro", "filter": args{"as_of": args{"gte": "2026-09-01", "lt": "2026-10-01"}}}).items()
	if len(rows) != 1 {
		w.Fatalf("rows = %v", rows)
	}
	doc := w.do("bank", "fetch", args{"id": rows[0].id, "expand": []string{"transactions"}, "expand_limit": args{"transactions": 3}}).document()
	_, rest, ok := strings.Cut(doc.text, "\nmore: query_records ")
	s := scanner{rest}
	a, isObject := s.mustJSON().(map[string]any)
	if !ok || !isObject {
		w.Fatalf("no offered call in %s", doc.text)
	}
	all, _ := w.pages("bank", "query_records", a)
	expected := 0
	for _, l := range w.w.records([]string{"giro"}, "transactions") {
		if strings.HasPrefix(l.str("booked_at"), "2026-09") {
			expected++
		}
	}
	w.want("bookings", fmt.Sprint(len(all)), fmt.Sprint(expected))
}
