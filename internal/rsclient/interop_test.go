package rsclient_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rsclient"
)

// recordings are answers of the other implementation, beside the repository.
const recordings = "../../../shared/interop"

// recorded starts a server that answers as another one was recorded.
func recorded(t *testing.T) *rsclient.Client {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(recordings, "*.json"))
	if err != nil || len(files) == 0 {
		t.Skip("the recorded answers are not here")
	}
	answers := make(map[string]http.HandlerFunc)
	for _, name := range files {
		raw, err := os.ReadFile(name)
		var r struct {
			Request string            `json:"request"`
			Status  int               `json:"status"`
			Headers map[string]string `json:"headers"`
			Body    json.RawMessage   `json:"body"`
		}
		if err := errors.Join(err, json.Unmarshal(raw, &r)); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		u, err := url.Parse(r.Request[len("GET "):])
		if err != nil {
			t.Fatal(err)
		}
		answers[u.Path+"?"+u.Query().Encode()] = says(r.Status, r.Headers["content-type"], string(r.Body), "Request-Id: "+r.Headers["request-id"])
	}
	return serve(t, func(w http.ResponseWriter, r *http.Request) {
		if h, ok := answers[r.URL.Path+"?"+r.URL.Query().Encode()]; ok {
			h(w, r)
			return
		}
		t.Errorf("nothing was recorded for %s", r.RequestURI)
	})
}

func query(pairs ...string) (q rsclient.Query) {
	for i := 0; i < len(pairs); i += 2 {
		q.Set(pairs[i], pairs[i+1])
	}
	return q
}

func TestRecordedRecords(t *testing.T) {
	c := recorded(t)
	work := query("connection_id", "cin_gmail_work", "limit", "3")
	a, err := c.Records(t.Context(), "messages", work, rsclient.Prefer{FieldPreview: 2048, PageBytes: 65536})
	if err != nil || a.Applied != (rsclient.Prefer{}) || a.RequestID != "req_1e3b7e97074ed34c" {
		t.Fatalf("%+v, %v", a, err)
	}
	p := rsclient.PageOf(a.Body)
	r := recordOf(p.Rows[0], rsclient.Identity{})
	want := rsclient.Identity{Connection: "cin_gmail_work", Stream: "messages", Record: "wm05999"}
	if len(p.Rows) != 3 || p.NextCursor == "" || p.HasMore == nil || !*p.HasMore || r.Identity != want || r.Label() != "Work mail" || r.Flat {
		t.Errorf("page %+v, record %+v", p, r)
	}
	d, err := c.Record(t.Context(), "messages", "wm00000", query("connection_id", "cin_gmail_work"), rsclient.Prefer{})
	if err != nil {
		t.Fatal(err)
	}
	if r := detailOf(d.Body, rsclient.Identity{}); rsclient.ShortKey(r.ConnectorKey) != "gmail" || r.Identity.Record != "wm00000" {
		t.Errorf("detail %+v", r)
	}
	feed, err := c.Records(t.Context(), "messages", query("connection_id", "cin_gmail_work", "limit", "3", "changes_since", "beginning"), rsclient.Prefer{})
	if err != nil {
		t.Fatal(err)
	}
	if p := rsclient.PageOf(feed.Body); p.NextChangesSince == "" || p.NextCursor == "" {
		t.Errorf("feed %+v", p)
	}
}

func TestRecordedSearch(t *testing.T) {
	a, err := recorded(t).Search(t.Context(), "lexical", query("q", "zebrafish", "limit", "25"), rsclient.Prefer{})
	if err != nil {
		t.Fatal(err)
	}
	p := rsclient.PageOf(a.Body)
	hits := rsclient.HitsOf(p.Rows)
	if len(hits) != 11 || p.Count.String() != "exact:11" {
		t.Fatalf("%d hits, %v", len(hits), p.Count)
	}
	h := hits[0]
	if h.Identity != (rsclient.Identity{Connection: "cin_gmail_work", Stream: "messages", Record: "wm00000"}) || h.ConnectorKey != "gmail" || h.Card != nil {
		t.Errorf("hit %+v", h)
	}
	const text = "dinner schedule homework teacher <mark>zebrafish</mark>"
	if h.Snippet != (rsclient.Snippet{Field: "subject", Text: text, Total: -1, Offset: -1}) {
		t.Errorf("snippet %+v", h.Snippet)
	}
	if diff := cmp.Diff([]rsclient.Excerpt{{Field: "subject", Text: text, Total: -1, Offset: -1}}, h.Excerpts); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestRecordedSchema(t *testing.T) {
	a, err := recorded(t).Schema(t.Context(), query("view", "compact", "stream", "messages"))
	if err != nil {
		t.Fatal(err)
	}
	s := rsclient.SchemaOf(a.Body)
	rows := s.Rows()
	if len(rows) != 1 || !s.Compact || s.Scope != "grant" {
		t.Fatalf("schema %+v", s)
	}
	r := rows[0]
	want := []rsclient.Connection{{ID: "cin_gmail_work", DisplayName: "Work mail"}, {ID: "cin_gmail_home", DisplayName: "Home mail"}}
	if diff := cmp.Diff(want, r.Connections); diff != "" || r.ConnectorKey != "gmail" || len(r.Fields) != 22 || r.Fields[0].Flags != "declared" || r.Capabilities != nil {
		t.Errorf("%+v (-want +got)\n%s", r, diff)
	}
}

func TestRecordedWindow(t *testing.T) {
	q := query("connection_id", "cin_gmail_work", "field", "body_text", "q", "needle-haystack-marker", "before_chars", "50", "after_chars", "50")
	a, err := recorded(t).FieldWindow(t.Context(), "message_bodies", "wm00007", q)
	if err != nil {
		t.Fatal(err)
	}
	asked := rsclient.Identity{Connection: "cin_gmail_work", Stream: "message_bodies", Record: "wm00007"}
	w, ok := rsclient.WindowOf(a.Body, asked, "body_text")
	if !ok || w.Identity != asked || w.Start != 52314 || w.Next != 52436 || w.Total != 55387 || w.MatchStart != 52364 || len(w.Text) != 122 {
		t.Errorf("%+v", w)
	}
}

func TestRecordedErrors(t *testing.T) {
	t.Run("ERR-1 recorded errors", func(t *testing.T) {
		c := recorded(t)
		tests := map[string]func() error{
			"context.active_false": func() error { _, err := c.Schema(t.Context(), rsclient.Query{}); return err },
			"context.stream_not_allowed": func() error {
				_, err := c.Records(t.Context(), "threads", rsclient.Query{}, rsclient.Prefer{})
				return err
			},
		}
		for code, call := range tests {
			e := failed(t, call())
			if string(e.Code) != code || e.Status != 401 || e.Message != "Token introspection failed closed" || e.RequestID == "" {
				t.Errorf("%+v", e)
			}
		}
	})
}
