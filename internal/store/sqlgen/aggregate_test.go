package sqlgen

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// TestText compares the text of the main statements.
func TestText(t *testing.T) {
	t.Run("AGG-1 AGG-2 AGG-4 text", func(t *testing.T) {
		probe := func(n int64) func(Statement) (int64, error) {
			return func(Statement) (int64, error) { return n, nil }
		}
		query := func(ids bool, src Source, n int64) *Query {
			q, err := ForAggregate(numbered{}, src, ids, probe(n))
			if err != nil {
				t.Fatal(err)
			}
			return q
		}
		entries := func(field string, src Source) *Query {
			q, ok := Entries(numbered{}, src, stream().Field(field))
			if !ok {
				t.Fatalf("no entries of %s", field)
			}
			return q
		}
		memo, amount := stream().Field("memo"), stream().Field("amount")
		eq, least, place := is("memo", pdpp.OpEq, "x"), is("amount", pdpp.OpGte, "5"), is("place", pdpp.OpEq, "x")
		for _, c := range []struct {
			name string
			got  Statement
			want string
		}{
			{
				"values", entries("memo", source()).Values(),
				"SELECT i.value, count(*) FROM field_index i WHERE i.subject = $1 AND i.field = $2 GROUP BY i.value ORDER BY i.value",
			},
			{
				"values of a range", entries("amount", source(least)).Values(),
				"SELECT i.value, count(*) FROM field_index i WHERE i.subject = $1 AND i.field = $2 AND i.value >= $3 GROUP BY i.value ORDER BY i.value",
			},
			{
				"interval", entries("amount", source(least)).Within([]byte("6"), []byte("7")),
				"SELECT count(*) FROM field_index i WHERE i.subject = $1 AND i.field = $2 AND i.value >= $3 AND i.value < $4",
			},
			{
				"interval of one value", entries("memo", source(eq)).Within([]byte("a"), []byte("z")),
				"SELECT count(*) FROM field_index i WHERE i.subject = $1 AND i.field = $2 AND i.value = $3 AND i.value >= $4 AND i.value < $5",
			},
			{
				"last", entries("memo", source()).Last([]byte("z")),
				"SELECT i.value FROM field_index i WHERE i.subject = $1 AND i.field = $2 AND i.value < $3 ORDER BY i.value DESC LIMIT 1",
			},
			{
				"groups of entries", entries("memo", source()).Pairs(Pairs{Group: memo, Metric: amount}),
				"SELECT i.value, m.value, count(*), NULL, NULL FROM field_index i LEFT JOIN field_values m ON m.record = i.record AND m.field = $1" +
					" WHERE i.subject = $2 AND i.field = $3 GROUP BY i.value, m.value ORDER BY i.value NULLS FIRST, m.value NULLS FIRST",
			},
			{
				"without a group", entries("amount", source()).Pairs(Pairs{Group: memo, Metric: amount, NoGroup: true}),
				"SELECT g.value, i.value, count(*), NULL, NULL FROM field_index i LEFT JOIN field_values g ON g.record = i.record AND g.field = $1" +
					" WHERE i.subject = $2 AND i.field = $3 AND g.value IS NULL GROUP BY g.value, i.value ORDER BY g.value NULLS FIRST, i.value NULLS FIRST",
			},
			{
				"many of a condition", query(false, source(eq), many).Pairs(Pairs{Metric: amount, ByMetric: true}),
				"SELECT NULL, m.value, count(*), NULL, NULL FROM field_index i LEFT JOIN field_values m ON m.record = i.record AND m.field = $1" +
					" WHERE i.subject = $2 AND i.field = $3 AND i.value = $4 GROUP BY m.value ORDER BY m.value NULLS FIRST",
			},
			{
				"ids", query(true, source(eq), many).Pairs(Pairs{Metric: amount, IDs: true}),
				"SELECT NULL, m.value, count(*), min(r.id), NULL FROM field_index i JOIN records r ON r.record = i.record" +
					" LEFT JOIN field_values m ON m.record = r.record AND m.field = $1" +
					" WHERE i.subject = $2 AND i.field = $3 AND i.value = $4 GROUP BY m.value ORDER BY m.value NULLS FIRST",
			},
			{
				"a token leads however many it has", query(false, source(least, place), many).Pairs(Pairs{Group: memo}),
				"SELECT g.value, NULL, count(*), NULL, NULL FROM terms i JOIN records r ON r.record = i.record" +
					" LEFT JOIN field_values g ON g.record = r.record AND g.field = $1 WHERE i.term = $2 AND r.subject = $3" +
					" AND EXISTS (SELECT 1 FROM field_values x WHERE x.record = r.record AND x.field = $4 AND x.value >= $5)" +
					" GROUP BY g.value ORDER BY g.value NULLS FIRST",
			},
		} {
			if diff := cmp.Diff(c.want, flat(c.got)); diff != "" {
				t.Errorf("%s (-want +got):\n%s", c.name, diff)
			}
		}
	})
}

// TestEntriesRefuse: entries cannot test conditions on other fields, a list of ids, or a
// time field that is not declared.
func TestEntriesRefuse(t *testing.T) {
	listed, gone := source(), source()
	listed.Resources = []pdpp.RecordID{"k"}
	gone.Time = &pdpp.TimeConstraint{Field: "gone"}
	for name, src := range map[string]Source{
		"another field": source(is("amount", pdpp.OpGte, "5")),
		"contradiction": source(is("memo", pdpp.OpEq, "x"), is("memo", pdpp.OpEq, "y")),
		"resources":     listed,
		"time gone":     gone,
	} {
		if _, ok := Entries(numbered{}, src, stream().Field("memo")); ok {
			t.Errorf("%s: the entries of memo are taken for all records", name)
		}
	}
	if _, ok := Entries(numbered{}, source(), stream().Field("place")); ok {
		t.Error("a field without entries has some")
	}
}

// TestVerifiedAggregate: under a time range a token is tested in the body, so the
// statement selects record numbers.
func TestVerifiedAggregate(t *testing.T) {
	src := source(is("place", pdpp.OpEq, "x"))
	src.Stream.Field("at").Kind = pdpp.KindDateTime
	src.Time = &pdpp.TimeConstraint{Field: "at", Since: time.Unix(0, 0)}
	q, err := ForAggregate(numbered{}, src, false, func(Statement) (int64, error) {
		t.Error("what is outside the time range was probed (REC-30)")
		return 0, nil
	})
	if err != nil || !q.NeedsVerify() {
		t.Fatalf("partial: %v, %v", q.NeedsVerify(), err)
	}
	want := "SELECT g.value, NULL, 1, NULL, r.record FROM records r /*records_by_order*/ LEFT JOIN field_values g ON g.record = r.record AND g.field = $1" +
		" WHERE r.subject = $2 AND r.binding = $3 AND r.order_key >= $4 AND r.order_key < $5 ORDER BY g.value NULLS FIRST"
	if diff := cmp.Diff(want, flat(q.Pairs(Pairs{Group: src.Stream.Field("memo")}))); diff != "" {
		t.Errorf("text (-want +got):\n%s", diff)
	}
}
