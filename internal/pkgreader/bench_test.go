package pkgreader_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"

	"pdpp/internal/pkgreader"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

// BenchmarkSearch compares a search of packages with one of a single grant. The
// members are read in process, as the hosted server does.
func BenchmarkSearch(b *testing.B) {
	w := resttest.New(b)
	w.ManifestFile("../session/testdata/post.json")
	p := newPackage(b, w.Now)
	for i := range 50 {
		id := fmt.Sprintf("cin_%02d", i)
		w.Connect("post", id, "")
		var lines []string
		for n := range 200 {
			lines = append(lines, fmt.Sprintf(`{"key":"m%d","data":{"id":"m%d","subject":"Letter %d about the rent","body":"It is due on day %d.","sent_at":"2026-04-01T09:00:00Z"}}`, n, n, n, n))
		}
		w.Ingest(id, "messages", lines...)
		token, grant := w.Grant(fmt.Sprintf(`{"source":{"connector_key":"post"},"streams":[{"name":"messages","connections":[%q]}],"access_mode":"continuous"}`, id))
		client := w.Client(token, roundTrip(func(r *http.Request) (*http.Response, error) {
			rec := httptest.NewRecorder()
			r.RemoteAddr = "127.0.0.1:1"
			w.Server.Handler().ServeHTTP(rec, r)
			return rec.Result(), nil
		}))
		p.Members = append(p.Members, pkgreader.Member{GrantID: string(grant), Connection: id, ConnectorKey: "post", Streams: []string{"messages"}, Reader: client})
	}
	want := rsclient.Prefer{PageBytes: 49152}
	b.Run("single", func(b *testing.B) {
		for b.Loop() {
			if _, err := p.Members[0].Reader.Search(b.Context(), "", params("q", "rent"), want); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{1, 5, 50} {
		b.Run(fmt.Sprint(n, " members"), func(b *testing.B) {
			some := *p
			some.Members = p.Members[:n]
			for b.Loop() {
				if _, err := some.Search(b.Context(), "", params("q", "rent"), want); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
