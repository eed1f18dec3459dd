package recordtext

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp/internal/evidence"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// readCalls writes calls with the arguments that it is given.
type readCalls struct{}

func (readCalls) AppendFields(b []byte, fields []string) []byte {
	return append(b, "fields "+quote.List(fields)...)
}

func (readCalls) AppendRest(b []byte, field string, offset int) []byte {
	return strconv.AppendInt(append(b, "rest "+quote.ID(field)+" "...), int64(offset), 10)
}

func (readCalls) AppendExpand(b []byte, relations []string) []byte {
	return append(b, "expand "+quote.List(relations)...)
}

// fieldOf returns a field of a record with a JSON value.
func fieldOf(name, value string) *evidence.Field {
	r := evidence.Record{Presentation: &evidence.Presentation{}}
	r.SetData([]byte(`{` + quote.ID(name) + `:` + value + `}`))
	return &r.AppendFields(nil)[0]
}

// start begins the nth item with a title.
func start(it *Item, n int) {
	it.Start(n, Subject{ID: "c/s:" + strconv.Itoa(n), Calls: readCalls{}})
	it.Title(evidence.Title{Text: "Title", Field: "title"}, evidence.EventTime{Value: "2026-01-02"})
}

func add(it *Item, name, value string) {
	it.AddField(Named(name), fieldOf(name, value), new(rawjson.Texts))
}

func TestItems(t *testing.T) {
	long := `"` + strings.Repeat("word ", 100) + `"`
	for _, c := range []struct {
		name   string
		fill   func(*Item)
		budget int
		want   string
	}{
		{"whole", func(it *Item) { add(it, "n", "7"); add(it, "memo", `"rent"`) }, 500, `1. "c/s:1" "Title" at="2026-01-02" | n=7 | memo="rent"` + "\n"},
		{
			"a text that does not fit is shortened", func(it *Item) { add(it, "body", long) }, 200,
			`1. "c/s:1" "Title" at="2026-01-02" | body="` + strings.Repeat("word ", 20) + `wo…"(cut:500)` + "\n   more: rest \"body\" 102\n",
		},
		{
			"fields that do not fit are counted", func(it *Item) { add(it, "n", "7"); add(it, "body", long) }, 70,
			`1. "c/s:1" "Title" at="2026-01-02" | n=7 | more_fields=1` + "\n",
		},
		{
			"relations are expanded by a call", func(it *Item) { it.AddRelation("messages", 2, true) }, 500,
			`1. "c/s:1" "Title" at="2026-01-02" | messages=expanded(2, has_more)` + "\n   more: expand [\"messages\"]\n",
		},
		{"fields without a value are named", func(it *Item) { it.AddEmpty([]string{"a", "b"}) }, 500, `1. "c/s:1" "Title" at="2026-01-02" | empty_fields=a,b` + "\n"},
		{"the first handle is always shown", func(it *Item) { add(it, "n", "7") }, 5, `1. "c/s:1"` + "\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var it Item
			start(&it, 1)
			c.fill(&it)
			w := NewItemWriter(c.budget, 1, 0)
			w.Add(&it)
			if got := w.String(); got != c.want {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestItemsWithinBudget: any items take at most the budget, except for the first handle, and
// every item that omits something has a call.
func TestItemsWithinBudget(t *testing.T) {
	values := rapid.SampledFrom([]string{
		"7", "true", `""`, `"short"`, `"` + strings.Repeat("long text ", 60) + `"`, `"` + strings.Repeat(`\u202e<b>\n`, 80) + `"`,
		`{"a":[1,2,3]}`, `[` + strings.Repeat(`"nested",`, 90) + `1]`,
	})
	rapid.Check(t, func(t *rapid.T) {
		budget, count := rapid.IntRange(20, 3000).Draw(t, "budget"), rapid.IntRange(1, 12).Draw(t, "items")
		w := NewItemWriter(budget, count, rapid.IntRange(0, 300).Draw(t, "least"))
		var it Item
		for n := 1; n <= count && w.IsOpen(); n++ {
			start(&it, n)
			for i, v := range rapid.SliceOfN(values, 0, 8).Draw(t, "values") {
				add(&it, "field"+strconv.Itoa(i), v)
			}
			before := len(w.String())
			if !w.Add(&it) {
				break
			}
			item := w.String()[before:]
			if len(it.CutFields()) > 0 && !strings.Contains(item, "\n   more: ") && !strings.Contains(item, "more_fields=") && before > 0 {
				t.Fatalf("cut without a call: %q", item)
			}
		}
		if got := w.String(); len(got) > budget && w.Shown() > 1 {
			t.Fatalf("%d items take %d of %d bytes:\n%s", w.Shown(), len(got), budget, got)
		}
	})
}
