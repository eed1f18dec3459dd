package rs_test

import (
	"fmt"
	"regexp"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp/internal/rs/resttest"
)

// TestChangesOfHiddenFieldsAreNotReported: when only hidden fields of visible records change,
// answers differ only in emitted_at and the changes feed is empty (REC-30, REC-34).
func TestChangesOfHiddenFieldsAreNotReported(t *testing.T) {
	t.Parallel()
	w := resttest.New(t)
	rapid.Check(t, func(rt *rapid.T) {
		u := drawUniverse(rt)
		a, b := u.populate(w, allFields, everyRecord), u.populate(w, allFields, everyRecord)
		tokA, idA := a.Grant(u.spec())
		tokB, idB := b.Grant(u.spec())
		bookmarks := map[string]string{}
		for _, g := range u.grants {
			page := b.Get(tokB, changesOf(g, "beginning")).OK()
			bookmarks[g.stream.name] = page.At("next_changes_since").(string)
		}
		u.changeHidden(b)
		for _, g := range u.grants {
			if reported := b.Get(tokB, changesOf(g, bookmarks[g.stream.name])).IDs(); len(reported) > 0 {
				rt.Fatalf("REC-34 changes of hidden fields are reported for %v under %s", reported, u.spec())
			}
		}
		for range 12 {
			c := drawCall(rt, u, nil)
			want := a.Do(c.method, tokA, c.target, "", c.headers...)
			got := b.Do(c.method, tokB, c.target, "", c.headers...)
			if diff := cmp.Diff(withoutArrivals(normalized(want, idA)), withoutArrivals(normalized(got, idB))); diff != "" || got.Status != want.Status {
				rt.Fatalf("REC-30 %s %s: %d, after hidden changes %d under %s (-before +after):\n%s", c.method, c.target, want.Status, got.Status, u.spec(), diff)
			}
		}
	})
}

func changesOf(g *modelGrant, since string) string {
	return fmt.Sprintf("/v1/streams/%s/records?limit=100&changes_since=%s", g.stream.name, since)
}

// changeHidden ingests every visible record again, a month later and in the same order, with
// other values of all ungranted fields except the one that the time range applies to.
func (u *universe) changeHidden(w *resttest.World) {
	for _, g := range u.grants {
		for _, r := range u.visible(g) {
			changed := *r
			changed.emitted = r.emitted.AddDate(0, 1, 0)
			changed.values = map[string]string{}
			for name, raw := range r.values {
				isHidden := !slices.Contains(g.fields, name) && (g.since.IsZero() || name != g.stream.consent())
				if isHidden {
					raw = u.otherValue(g.stream.kind(name))
				}
				changed.values[name] = raw
			}
			w.Ingest(r.conn, r.stream.name, changed.line(r.names))
		}
	}
}

// otherValue returns a new value of a kind.
func (u *universe) otherValue(kind string) string {
	n := u.next()
	switch kind {
	case "integer":
		return fmt.Sprint(600_000_000 - n)
	case "date-time":
		return fmt.Sprintf(`"2026-01-%02dT10:20:30.%06dZ"`, 1+n%28, 100_000+n)
	case "object":
		return fmt.Sprintf(`{"inner":"vmk%04dq"}`, n)
	}
	return fmt.Sprintf(`"vmk%04dq"`, n)
}

// arrival matches the emitted_at of records, before and after changeHidden.
var arrival = regexp.MustCompile(`2026-0[34]-01T00:00:[0-9.]+Z`)

func withoutArrivals(answer string) string { return arrival.ReplaceAllString(answer, "T") }
