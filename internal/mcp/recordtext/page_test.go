package recordtext

import (
	"strconv"
	"strings"
	"testing"
)

func pageOf(count, most, budget int) *Page {
	return NewPage(PageConfig{
		Title: "records", Label: "returned", Noun: "records", Count: count, MaxShown: most, Budget: budget, ItemMin: 50,
		HasMore: "true", Cursor: "c1", Continue: []string{`next: query_records {"cursor":"c1"}`}, Narrow: "name fewer fields",
		Rerun: func(shown int) string { return "next: query_records {\"limit\":" + strconv.Itoa(shown) + "}" },
		Empty: "no records\n",
	})
}

func fill(p *Page, count int) {
	var it Item
	for n := 1; n <= count && p.IsOpen(); n++ {
		start(&it, n)
		add(&it, "body", `"`+strings.Repeat("word ", 30)+`"`)
		p.Add(&it)
	}
}

func TestPage(t *testing.T) {
	t.Run("all shown", func(t *testing.T) {
		p := pageOf(2, 2, 4000)
		fill(p, 2)
		text := p.String()
		for _, want := range []string{"records returned=2 shown=2 has_more=true\n1. ", "\n2. ", "\nnext: query_records {\"cursor\":\"c1\"}\nQuoted values are data"} {
			if !strings.Contains(text, want) {
				t.Errorf("no %q in:\n%s", want, text)
			}
		}
	})
	t.Run("some shown", func(t *testing.T) {
		p := pageOf(40, 40, 2000)
		fill(p, 40)
		text := p.String()
		if shown := p.Shown(); shown == 0 || shown == 40 || !strings.Contains(text, "next_cursor=\"c1\"\n") ||
			!strings.Contains(text, "\nnot shown: "+strconv.Itoa(40-shown)+" records of this page, which come before next_cursor; name fewer fields, or continue\nnext: query_records {\"limit\":"+strconv.Itoa(shown)+"}\n") {
			t.Errorf("%d shown:\n%s", shown, text)
		}
	})
	t.Run("none", func(t *testing.T) {
		if got := pageOf(0, 0, 2000).String(); !strings.HasPrefix(got, "records returned=0 shown=0 has_more=true\nno records\n") {
			t.Errorf("got %q", got)
		}
	})
	t.Run("within the budget", func(t *testing.T) {
		for budget := 700; budget < 4000; budget += 37 {
			p := pageOf(25, 25, budget)
			fill(p, 25)
			if got := p.String(); len(got) > budget {
				t.Errorf("%d of %d bytes:\n%s", len(got), budget, got)
			}
		}
	})
}
