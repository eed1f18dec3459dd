package pkgreader_test

import (
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"pdpp/internal/pkgreader"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

// shelf is a server with a list of hits, which it sends in pages of at most a given
// size. A page may have fewer hits than requested.
type shelf struct {
	name   string
	hits   int
	most   int // of a page
	shape  int // of the envelope
	status int // not 0: it fails
}

var shapes = []string{
	`{"object":"list","data":[%s],%s}`, `{"results":[%s],%s}`, `{"data":{"data":[%s]},%s}`, `{"data":{"results":[%s]},%s}`,
}

func (s *shelf) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if s.status != 0 {
		answer(w, s.status, `{"error":{"code":"failed_`+s.name+`","message":"m"}}`)
		return
	}
	from, _ := strconv.Atoi(r.URL.Query().Get("cursor"))
	limit, _ := strconv.Atoi(r.URL.Query().Get("limit"))
	to := min(s.hits, from+min(limit, s.most))
	var hits []string
	for i := from; i < to; i++ {
		hits = append(hits, fmt.Sprintf(`{"stream":"messages","record_key":"%s-%d"}`, s.name, i))
	}
	end := `"has_more":false`
	if to < s.hits {
		end = fmt.Sprintf(`"has_more":true,"next_cursor":"%d"`, to)
	}
	end += fmt.Sprintf(`,"meta":{"count":{"kind":"exact","value":%d}}`, s.hits)
	answer(w, 200, fmt.Sprintf(shapes[s.shape], strings.Join(hits, ","), end))
}

// traversal is a search that is read page by page while its members come to grief.
type traversal struct {
	*rapid.T
	pkg     *pkgreader.Package
	shelves []*shelf
	failed  map[int]bool // members that failed in a call of the traversal
	gone    map[int]bool // members whose stored grant has ended
	seen    []place      // the hits that came, in order
}

// place is where a hit stands: its rank in its own list, and its member.
type place struct{ rank, member int }

func (p place) before(q place) bool {
	return p.rank < q.rank || p.rank == q.rank && p.member < q.member
}

func draw(t *testing.T, rt *rapid.T) *traversal {
	tr := &traversal{T: rt, failed: map[int]bool{}, gone: map[int]bool{}}
	tr.pkg = newPackage(t, func() time.Time { return resttest.Start })
	for i := range rapid.IntRange(1, 6).Draw(rt, "members") {
		s := &shelf{
			name: fmt.Sprint("m", i), hits: rapid.IntRange(0, 12).Draw(rt, "hits"), most: rapid.IntRange(1, 6).Draw(rt, "page"),
			shape: rapid.IntRange(0, len(shapes)-1).Draw(rt, "shape"),
		}
		tr.shelves = append(tr.shelves, s)
		tr.pkg.Members = append(tr.pkg.Members, pkgreader.Member{
			GrantID: fmt.Sprint("grt_", i), Connection: fmt.Sprint("cin_", i), ConnectorKey: "mail", Streams: []string{"messages"},
			Reader: (&calls{}).client(t, s.name, "http://provider.test", "token", served(s.ServeHTTP)),
		})
	}
	return tr
}

// trouble lets a member fail from now on, or its stored grant end, now and then.
func (tr *traversal) trouble() {
	if !rapid.Bool().Draw(tr.T, "trouble") {
		return
	}
	i := rapid.IntRange(0, len(tr.shelves)-1).Draw(tr.T, "whose")
	if status := rapid.SampledFrom([]int{0, 401, 403, 500}).Draw(tr.T, "status"); status != 0 {
		tr.shelves[i].status = status
		return
	}
	tr.pkg.Members[i].Unusable = "grant_revoked"
	tr.gone[i] = true
}

// page reads a page; false when that was the last.
func (tr *traversal) page(cursor *string) bool {
	limit := rapid.IntRange(1, 7).Draw(tr.T, "limit")
	a, err := tr.pkg.Search(tr.Context(), "", params("q", "x", "limit", fmt.Sprint(limit), "cursor", *cursor), rsclient.Prefer{})
	if err != nil {
		tr.checkRefused(err)
		return false
	}
	page := rsclient.PageOf(a.Body)
	if len(page.Rows) > limit {
		tr.Fatalf("%d hits, asked for %d", len(page.Rows), limit)
	}
	for _, h := range rsclient.HitsOf(page.Rows) {
		tr.see(h)
	}
	warned := map[int]bool{}
	for _, w := range page.Warnings {
		i, _ := strconv.Atoi(strings.TrimPrefix(w.Connection, "cin_"))
		warned[i] = true
	}
	for i := range tr.failed {
		if !warned[i] && !tr.gone[i] {
			tr.Fatalf("member %d failed before and is not named: %s", i, page.Meta)
		}
	}
	for i := range warned {
		if tr.shelves[i].status == 0 || tr.gone[i] {
			tr.Fatalf("member %d has not failed and is named: %s", i, page.Meta)
		}
		tr.failed[i] = true
	}
	if more := page.NextCursor != ""; *page.HasMore != more {
		tr.Fatalf("has_more is %v, the cursor %q", *page.HasMore, page.NextCursor)
	}
	*cursor = page.NextCursor
	return *cursor != ""
}

// see takes a hit: it is of a member that gives hits, and comes after all before it.
func (tr *traversal) see(h rsclient.Hit) {
	var at place
	if _, err := fmt.Sscanf(h.Identity.Record, "m%d-%d", &at.member, &at.rank); err != nil {
		tr.Fatalf("a hit from outside: %s", h.Raw)
	}
	if h.Connection != fmt.Sprint("cin_", at.member) || tr.failed[at.member] || tr.gone[at.member] {
		tr.Fatalf("a hit of another member, or of one that is out: %s", h.Raw)
	}
	if n := len(tr.seen); n > 0 && !tr.seen[n-1].before(at) {
		tr.Fatalf("%v comes after %v", at, tr.seen[n-1])
	}
	tr.seen = append(tr.seen, at)
}

// checkRefused checks that a page is refused only when there is nobody to give one.
func (tr *traversal) checkRefused(err error) {
	for i, s := range tr.shelves {
		given := slices.ContainsFunc(tr.seen, func(p place) bool { return p.member == i && p.rank == s.hits-1 })
		if s.status == 0 && !tr.gone[i] && !given && s.hits > 0 {
			tr.Fatalf("member %d has something to give: %v", i, err)
		}
	}
}

func TestPagingProperty(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		tr := draw(t, rt)
		cursor := ""
		for pages := 0; ; pages++ {
			tr.trouble()
			if pages > 200 {
				rt.Fatal("no end")
			}
			if !tr.page(&cursor) {
				break
			}
		}
		for i, s := range tr.shelves {
			n := 0
			for _, p := range tr.seen {
				if p.member != i {
					continue
				}
				if p.rank != n {
					rt.Fatalf("of member %d rank %d comes where %d is due", i, p.rank, n)
				}
				n++
			}
			if n != s.hits && s.status == 0 && !tr.gone[i] {
				rt.Fatalf("%d of %d hits of member %d came: %v", n, s.hits, i, tr.seen)
			}
		}
	})
}
