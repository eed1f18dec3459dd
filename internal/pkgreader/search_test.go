package pkgreader_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/pkgreader"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

func hit(key string) string {
	return `{"object":"search_result","stream":"messages","record_key":"` + key + `","connection_id":"cin_s","connector_key":"mail","score":1.50}`
}

func list(hits ...string) string {
	return `{"object":"list","data":[` + strings.Join(hits, ",") + `],"has_more":false,"meta":{"count":{"kind":"exact","value":` + fmt.Sprint(len(hits)) + `}}}`
}

func search(t testing.TB, p *pkgreader.Package, pairs ...string) []byte {
	t.Helper()
	a, err := p.Search(t.Context(), "", params(append([]string{"q", "x"}, pairs...)...), rsclient.Prefer{})
	if err != nil {
		t.Fatal(err)
	}
	if !json.Valid(a.Body) {
		t.Fatalf("not JSON: %s", a.Body)
	}
	return a.Body
}

func TestEnvelopes(t *testing.T) {
	for name, body := range map[string]string{
		"data":         `{"data":[%s]}`,
		"results":      `{"results":[%s]}`,
		"data.data":    `{"data":{"data":[%s]}}`,
		"data.results": `{"data":{"results":[%s]}}`,
		"a bare list":  `[%s]`,
	} {
		t.Run("PKG-1 hits are found in "+name, func(t *testing.T) {
			p := scripted(t, &calls{}, says(200, fmt.Sprintf(body, hit("a")+`, 7, `+hit("b"))), says(200, fmt.Sprintf(body, hit("c"))))
			rows := rsclient.PageOf(search(t, p)).Rows
			var keys []string
			for _, h := range rsclient.HitsOf(rows) {
				keys = append(keys, h.Identity.Record)
			}
			if !slices.Equal(keys, []string{"a", "c", "b"}) {
				t.Errorf("hits %q", keys)
			}
		})
	}
}

func TestAttribution(t *testing.T) {
	for given, want := range map[string]string{
		hit("a"): strings.TrimSuffix(hit("a"), "}") + `,"display_name":"Home","grant_id":"grt_1"}`,
		`{}`:     `{"connection_id":"cin_1","connector_key":"mail","display_name":"Home","grant_id":"grt_1"}`,
		`{"connection_id":null,"id":"a","n":1.0,"display_name":""}`:          `{"id":"a","n":1.0,"connection_id":"cin_1","connector_key":"mail","display_name":"Home","grant_id":"grt_1"}`,
		`{"grant_id":"","display_name":null}`:                                `{"connection_id":"cin_1","connector_key":"mail","display_name":"Home","grant_id":"grt_1"}`,
		`{"grant_id":"g","connector_key":"k","x":{"connection_id":"inner"}}`: `{"grant_id":"g","connector_key":"k","x":{"connection_id":"inner"},"connection_id":"cin_1","display_name":"Home"}`,
	} {
		t.Run("PKG-1 a hit gets what it does not say of its source", func(t *testing.T) {
			p := scripted(t, &calls{}, says(200, list(given)))
			p.Members[0].DisplayName = "Home"
			rows := rsclient.PageOf(search(t, p)).Rows
			if len(rows) != 1 || string(rows[0]) != want {
				t.Errorf("%s\nbecame %s\nwant   %s", given, rows, want)
			}
		})
	}
}

func TestFailedMember(t *testing.T) {
	var c calls
	p := scripted(t, &c, says(200, list(hit("a"))), says(500, `{"error":{"code":"api_error","message":"<secret detail>"}}`))
	t.Run("H-93 a failed member is a warning and the others answer", func(t *testing.T) {
		body := search(t, p)
		want := `{"code":"source_unavailable","message":"This source did not answer. Its results are missing here.","connection_id":"cin_2",` +
			`"detail":{"connector_key":"mail","grant_id":"grt_2","error":{"code":"api_error","status":500}}}`
		var meta struct {
			Warnings []json.RawMessage
			Package  struct{ Partial bool }
			Count    struct{ Kind string }
		}
		if err := json.Unmarshal(rsclient.PageOf(body).Meta, &meta); err != nil {
			t.Fatal(err)
		}
		if len(meta.Warnings) != 1 || string(meta.Warnings[0]) != want || !meta.Package.Partial || meta.Count.Kind != "none" {
			t.Errorf("%s", body)
		}
	})
	t.Run("H-93 when all fail the first error stands, as it was", func(t *testing.T) {
		p := scripted(t, &c, says(400, `{"error":{"type":"t","code":"invalid_request","message":"m","param":"q"}}`), says(500, `{}`))
		p.Members = append(p.Members, pkgreader.Member{GrantID: "grt_9", Connection: "cin_9", ConnectorKey: "bank", Unusable: "grant_expired"})
		_, err := p.Search(t.Context(), "", params("q", "x"), rsclient.Prefer{})
		want := `{"type":"t","code":"invalid_request","message":"m","param":"q","unavailable_connections":[{"connection_id":"cin_9","connector_key":"bank","grant_id":"grt_9",` +
			`"status":"unusable","error":{"code":"grant_expired","message":"The grant for this source is no longer valid."}}]}`
		if e := failure(t, err); e.Status != 400 || string(e.Object) != want {
			t.Errorf("%d %s", e.Status, e.Object)
		}
	})
	t.Run("ERR-2 a lost member that is remembered is not called; its error stands when it is the last", func(t *testing.T) {
		p := scripted(t, &c, says(401, `{"error":{"code":"invalid_token","message":"m"}}`))
		for range 2 {
			_, err := p.Search(t.Context(), "", params("q", "x"), rsclient.Prefer{})
			if e := failure(t, err); e.Status != 401 || e.Code != "invalid_token" || !strings.Contains(string(e.Object), `"unavailable_connections":[{"connection_id":"cin_1"`) ||
				!strings.Contains(string(e.Object), "choose another connection") {
				t.Errorf("%d %s", e.Status, e.Object)
			}
		}
	})
	t.Run("ERR-2 a package without usable members says why", func(t *testing.T) {
		p := scripted(t, &c, says(200, list()))
		p.Members[0].Unusable = "grant_revoked"
		c.take()
		for _, err := range []error{
			second(p.Search(t.Context(), "", params("q", "x"), rsclient.Prefer{})), second(p.Schema(t.Context(), params("view", "compact"))),
			second(p.Records(t.Context(), "messages", params(), rsclient.Prefer{})),
		} {
			if e := failure(t, err); e.Status != 403 || e.Code != "grant_revoked" {
				t.Errorf("%v", e)
			}
		}
		p.Members = nil
		if e := failure(t, second(p.Blob(t.Context(), "b", params(), rsclient.Part{Most: 1}))); e.Status != 403 || len(c.take()) != 0 {
			t.Errorf("%v", e)
		}
	})
}

func second[T any](_ T, err error) error { return err }

// hanging never answers; stubborn does so late, whatever its context says.
func hanging(r *http.Request) (*http.Response, error) {
	<-r.Context().Done()
	return nil, r.Context().Err()
}

func stubborn(*http.Request) (*http.Response, error) {
	time.Sleep(time.Minute)
	return nil, errors.New("too late")
}

// withTransports returns a package whose members are reached through the given
// transports.
func withTransports(t testing.TB, transports ...http.RoundTripper) *pkgreader.Package {
	p := newPackage(t, func() time.Time { return resttest.Start })
	for i, tr := range transports {
		id := fmt.Sprint("cin_", i+1)
		p.Members = append(p.Members, pkgreader.Member{
			GrantID: "grt" + id, Connection: id, ConnectorKey: "mail", Streams: []string{"messages"},
			Reader: (&calls{}).client(t, id, "http://provider.test", "token", tr),
		})
	}
	return p
}

func TestDeadlines(t *testing.T) {
	good := served(says(200, list(hit("a"))))
	for _, c := range []struct {
		name    string
		bad     http.RoundTripper
		members int // that are bad
		most    time.Duration
	}{
		{"a member that hangs is late after 5 s", roundTrip(hanging), 1, 5 * time.Second},
		{"many that hang are late after 15 s in all", roundTrip(hanging), 60, 15 * time.Second},
		{"one that does not stop is not waited for", roundTrip(stubborn), 1, 15 * time.Second},
	} {
		t.Run("H-100 "+c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				p := withTransports(t, append([]http.RoundTripper{good}, slices.Repeat([]http.RoundTripper{c.bad}, c.members)...)...)
				start := time.Now()
				body := search(t, p)
				if took := time.Since(start); took != c.most {
					t.Errorf("it took %v, want %v", took, c.most)
				}
				time.Sleep(2 * time.Minute) // until the last has ended
				page := rsclient.PageOf(body)
				if len(page.Rows) != 1 || len(page.Warnings) != c.members || page.Warnings[0].Error != "timeout" {
					t.Errorf("%s", body)
				}
			})
		})
	}
	t.Run("H-100 when all are late the error says so", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			_, err := withTransports(t, roundTrip(hanging)).Schema(t.Context(), params("view", "compact"))
			if e := failure(t, err); e.Code != "timeout" || e.Status != 503 {
				t.Errorf("%v", e)
			}
		})
	})
	t.Run("H-100 a call that is cancelled ends at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			_, err := withTransports(t, good, roundTrip(hanging)).Search(ctx, "", params("q", "x"), rsclient.Prefer{})
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("err = %v", err)
			}
		})
	})
	t.Run("H-100 at most 8 are called at once", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			running, most := 0, 0
			step := func(n int) {
				mu.Lock()
				defer mu.Unlock()
				running += n
				most = max(most, running)
			}
			slow := roundTrip(func(r *http.Request) (*http.Response, error) {
				step(1)
				time.Sleep(time.Second)
				step(-1)
				return good.RoundTrip(r)
			})
			start := time.Now()
			search(t, withTransports(t, slices.Repeat([]http.RoundTripper{slow}, 24)...))
			if took := time.Since(start); most != 8 || took != 3*time.Second {
				t.Errorf("%d at once, %v in all", most, took)
			}
		})
	})
}

func TestMergedFacts(t *testing.T) {
	const bounded = `{"data":[],"meta":{"count":{"kind":"lower_bound","value":10000},"recall":{"complete":false},"warnings":[{"code":"w","message":"m"}]}}`
	const nothing = `{"data":[],"meta":{"count":{"kind":"none"},"warnings":[{"code":"w","message":"m"},{"code":"page_bytes_limited","message":"m"}]}}`
	for _, c := range []struct{ name, a, b, path, want string }{
		{"exact counts add up", list(hit("a"), hit("b")), list(hit("c")), "meta.count", "map[kind:exact value:3]"},
		{"a lower bound makes the sum one", bounded, list(hit("c")), "meta.count", "map[kind:lower_bound value:10001]"},
		{"an estimate makes the sum one", `{"data":[],"meta":{"count":5,"count_accuracy":"estimated"}}`, bounded, "meta.count", "map[kind:estimated value:10005]"},
		{"nothing found counts as none", nothing, list(hit("c")), "meta.count", "map[kind:exact value:1]"},
		{"hits that are not counted leave no sum", `{"data":[` + hit("a") + `]}`, list(hit("c")), "meta.count", "map[kind:none]"},
		{"a bounded recall is told", bounded, list(hit("c")), "meta.recall", "map[complete:false ranking_scope:candidate_window truncated:true truncated_source_count:1]"},
		{"an unbounded recall is not", nothing, list(hit("c")), "meta.recall", "<nil>"},
		{"equal warnings are merged", bounded, nothing, "meta.warnings", "[map[code:w message:m]]"},
		{"more without a cursor is told", `{"data":[` + hit("a") + `],"has_more":true}`, list(), "meta.warnings.0.code", "cursor_unavailable"},
		{"and is more", `{"data":[` + hit("a") + `],"has_more":true}`, list(), "has_more", "true"},
	} {
		t.Run("FANIN-1 "+c.name, func(t *testing.T) {
			body := search(t, scripted(t, &calls{}, says(200, c.a), says(200, c.b)))
			if got := fmt.Sprint(at(t, body, c.path)); got != c.want {
				t.Errorf("%s = %s, want %s\n%s", c.path, got, c.want, body)
			}
		})
	}
}

func TestHybrid(t *testing.T) {
	var c calls
	p := scripted(t, &c, says(200, list(hit("a"), hit("b"))), says(200, list(hit("c"))))
	t.Run("FANIN-1 hybrid searches are merged and do not page", func(t *testing.T) {
		a, err := p.Search(t.Context(), "hybrid", params("q", "x", "limit", "2"), rsclient.Prefer{})
		if err != nil {
			t.Fatal(err)
		}
		if page := rsclient.PageOf(a.Body); len(page.Rows) != 2 || page.NextCursor != "" || !*page.HasMore || len(page.Warnings) != 0 {
			t.Errorf("%s", a.Body)
		}
		if got := c.take(); got[0] != "cin_1 /v1/search/hybrid?q=x&limit=2" {
			t.Errorf("called %q", got)
		}
	})
}

func TestLongCursor(t *testing.T) {
	t.Run("MS-225 a cursor that would be too long is none, and the text leads into one source", func(t *testing.T) {
		long := `{"data":[%s],"has_more":true,"next_cursor":"` + strings.Repeat("c", 1900) + `"}`
		var handlers []http.HandlerFunc
		for i := range 5 {
			key := strings.Replace(hit(fmt.Sprint(i)), "cin_s", fmt.Sprint("cin_", i+1), 1)
			handlers = append(handlers, says(200, fmt.Sprintf(long, key)))
		}
		res := tool(scripted(t, &calls{}, handlers...), "search", `{"q":"x"}`)
		text := res.Content[0].Text
		if at(t, res.Structured, "data.has_more") != true || at(t, res.Structured, "data.next_cursor") != nil ||
			!strings.Contains(text, `warning code="cursor_unavailable"`) || !strings.Contains(text, `next: search {"q":"x","connection_id":"cin_1"}`) {
			t.Errorf("%s", text)
		}
	})
}

func TestPageBytes(t *testing.T) {
	wide := func(key string) string {
		return `{"stream":"messages","record_key":"` + key + `","pad":"` + strings.Repeat("x", 1500) + `"}`
	}
	p := scripted(t, &calls{}, says(200, list(wide("a"), wide("b"))), says(200, list(wide("c"), wide("d"))))
	t.Run("FANIN-1 a page ends by its size, on a whole hit", func(t *testing.T) {
		q, all := params("q", "x"), []string{}
		for range 4 {
			a, err := p.Search(t.Context(), "", q, rsclient.Prefer{PageBytes: 4096})
			if err != nil {
				t.Fatal(err)
			}
			page := rsclient.PageOf(a.Body)
			for _, h := range rsclient.HitsOf(page.Rows) {
				all = append(all, h.Identity.Record)
			}
			if page.NextCursor == "" {
				break
			}
			if len(page.Rows) != 2 || page.Warnings[0].Code != "page_bytes_limited" || a.Applied.PageBytes != 4096 {
				t.Errorf("%d rows, %s", len(page.Rows), page.Meta)
			}
			q = params("q", "x", "cursor", page.NextCursor)
		}
		if diff := cmp.Diff([]string{"a", "c", "b", "d"}, all); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	})
}

func TestStaleMemberCursor(t *testing.T) {
	for _, code := range []string{"cursor_expired", "invalid_cursor"} {
		t.Run("ERR-1 a member that says "+code+" of its own cursor ends the traversal", func(t *testing.T) {
			p := scripted(t, &calls{}, func(w http.ResponseWriter, r *http.Request) {
				if r.URL.Query().Get("cursor") != "" {
					answer(w, 400, `{"error":{"code":"`+code+`","message":"m"}}`)
					return
				}
				answer(w, 200, `{"data":[`+hit("a")+`],"has_more":true,"next_cursor":"own"}`)
			})
			cursor := rsclient.PageOf(search(t, p)).NextCursor
			_, err := p.Search(t.Context(), "", params("q", "x", "cursor", cursor), rsclient.Prefer{})
			if e := failure(t, err); e.Status != 410 || e.Code != "cursor_expired" {
				t.Errorf("%v", e)
			}
		})
	}
}

func TestDefect(t *testing.T) {
	t.Run("MS-46 a defect in a member's read is the call's own", func(t *testing.T) {
		p := withTransports(t, roundTrip(func(*http.Request) (*http.Response, error) { panic("broken") }))
		if res := tool(p, "search", `{"q":"x"}`); at(t, res.Structured, "error.code") != "internal_error" {
			t.Errorf("%s", res.Structured)
		}
	})
}
