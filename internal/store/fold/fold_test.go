package fold

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/query"
	"pdpp/internal/sortkey"
	"pdpp/internal/timebucket"
)

func aggregate(kind pdpp.Kind, metric query.Metric, limit int) *query.Aggregate {
	s := &pdpp.Stream{Fields: []*pdpp.Field{{Name: "group", Kind: kind}, {Name: "n", Kind: pdpp.KindInteger}}}
	m := &pdpp.Manifest{Streams: []*pdpp.Stream{s}}
	m.BuildIndex()
	return &query.Aggregate{
		Sources: []query.Source{{Connection: "b", Stream: s}, {Connection: "a", Stream: s}},
		Metric:  metric, Field: "n", Group: "group", Limit: limit,
	}
}

func written(groups []Group) string {
	var out []string
	for _, g := range groups {
		out = append(out, strings.TrimSpace(fmt.Sprintf("%s %d %s", g.Key, g.Count, g.Value)))
	}
	return strings.Join(out, "|")
}

// Many groups, of which few are kept: AG-7 and AG-9 without remembering the rest.
func TestGroupsKeepTheBest(t *testing.T) {
	g := NewGroups(aggregate(pdpp.KindString, query.MetricCount, 3))
	key := map[int]int{}
	for i := range 5000 {
		n := i*7919%5000 + 1 // each count once, in no order
		key[n] = i
		g.Add(Row{Group: fmt.Appendf(nil, "%04d", i), Count: int64(n)})
		if len(g.best) > 3 {
			t.Fatalf("%d groups are kept", len(g.best))
		}
	}
	g.Add(Row{Count: 4999})
	want := fmt.Sprintf(`"%04d" 5000|"%04d" 4999|null 4999`, key[5000], key[4999])
	if got := written(g.Result()); got != want {
		t.Errorf("groups %s, want %s", got, want)
	}
}

// Rows of the latest buckets push the earlier ones out.
func TestBucketsKeepTheLatest(t *testing.T) {
	for _, desc := range []bool{false, true} {
		q := aggregate(pdpp.KindDateTime, query.MetricCount, 2)
		q.Buckets = &query.TimeBuckets{Granularity: timebucket.Day, Zone: time.UTC, Desc: desc}
		b := NewBuckets(q)
		start := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		for i := range 200 { // two a day
			b.Count(Row{Group: sortkey.FromTime(start.Add(time.Duration(i) * 12 * time.Hour)), Count: 1})
			if len(b.kept) > 4 {
				t.Fatalf("%d buckets are kept", len(b.kept))
			}
		}
		b.Count(Row{Count: 9})
		b.Close(209)
		want := `"2026-01-01" 2|"2026-01-02" 2`
		if desc {
			want = `"2026-04-10" 2|"2026-04-09" 2`
		}
		if got := written(b.Result()); got != want {
			t.Errorf("descending %v: %s, want %s", desc, got, want)
		}
	}
}

// AG-12: among equal values the least id decides, then the least connection, in
// whatever order they come.
func TestTies(t *testing.T) {
	enc := func(text string) []byte {
		key, _ := sortkey.FromText(pdpp.KindInteger, text)
		return key
	}
	rows := []Row{
		{Metric: enc("5"), ID: []byte("y"), Source: 0},
		{Metric: enc("5"), ID: []byte("x"), Source: 0},
		{Metric: enc("5"), ID: []byte("x"), Source: 1},
		{Metric: enc("4"), ID: []byte("a"), Source: 0},
		{Count: 1},
	}
	for first := range rows {
		tally := NewTally(aggregate(pdpp.KindString, query.MetricMax, 1))
		for i := range rows {
			tally.Add(rows[(first+i)%len(rows)])
		}
		if p := tally.Group(nil).Pick; p == nil || string(p.ID) != "x" || p.Source != 1 {
			t.Errorf("from row %d on: %+v, want x of connection a", first, p)
		}
	}
}
