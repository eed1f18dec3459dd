package rsclient_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/evidence"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/rsclient"
)

// recordOf reads a row of a page by itself.
func recordOf(raw []byte, asked rsclient.Identity) rsclient.Record {
	r := rsclient.RecordReader{Asked: asked}
	r.Row(raw)
	return r.Record
}

// detailOf reads the answer of the record route.
func detailOf(body []byte, asked rsclient.Identity) rsclient.Record {
	r := rsclient.RecordReader{Asked: asked}
	r.Detail(body)
	return r.Record
}

// household returns a ledger with an id that needs escaping and an amount above
// 2^53, and a client that was granted it.
func household(t *testing.T) (*resttest.World, *rsclient.Client) {
	t.Helper()
	w := resttest.Ledger(t)
	w.Ingest("cin_a1", "entries", `{"key":"ent_31","op":"delete"}`,
		`{"key":"ent/31","data":{"id":"ent/31","memo":"April rent","amount_minor":90071992547409931,"posted_at":"2026-04-30T09:00:00Z"}}`)
	w.Ingest("cin_a1", "receipts", `{"key":"rc_9","data":{"id":"rc_9","entry_id":"ent/31"}}`)
	token, _ := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"},{"name":"receipts"}]}`)
	return w, client(t, w.URL, func(cfg *rsclient.Config) {
		cfg.Token = func(context.Context) (string, error) { return token, nil }
	})
}

func TestRealServerRecords(t *testing.T) {
	t.Run("HOSTED-5 real server records", func(t *testing.T) {
		_, c := household(t)
		p := rsclient.Prefer{FieldPreview: 2048, PageBytes: 65536}
		a, err := c.Records(t.Context(), "entries", query("limit", "2", "count", "exact"), p)
		if err != nil {
			t.Fatal(err)
		}
		page := rsclient.PageOf(a.Body)
		if a.Applied != p || a.RequestID == "" || len(page.Rows) != 2 || page.NextCursor == "" || page.Count.String() != "exact:3" {
			t.Fatalf("%+v, %+v", a, page)
		}
		r := recordOf(page.Rows[0], rsclient.Identity{})
		if want := (rsclient.Identity{Connection: "cin_a1", Stream: "entries", Record: "ent/31"}); r.Identity != want || !bytes.Contains(r.Payload, []byte("90071992547409931")) {
			t.Errorf("%+v: %s", r.Identity, r.Payload)
		}
		e := r.Evidence(page.Presentation)
		if title, at := evidence.TitleOf(e), evidence.EventTimeOf(e); title.Source != evidence.SourceRole || title.Text != "April rent" || at.Value != "2026-04-30T09:00:00Z" {
			t.Errorf("%+v at %+v", title, at)
		}
		next, err := c.Records(t.Context(), "entries", query("limit", "2", "count", "exact", "cursor", page.NextCursor), p)
		if err != nil || len(rsclient.PageOf(next.Body).Rows) != 1 {
			t.Errorf("next page: %+v, %v", next, err)
		}
		d, err := c.Record(t.Context(), "entries", "ent/31", query("connection_id", "cin_a1", "expand", "receipts"), rsclient.Prefer{FieldPreview: 65536})
		if err != nil {
			t.Fatal(err)
		}
		detail := detailOf(d.Body, rsclient.Identity{})
		if d.Applied.FieldPreview != 65536 || detail.Identity != r.Identity || len(detail.Expanded) != 1 || len(detail.Expanded[0].Records) != 1 {
			t.Errorf("%+v, %+v", d.Applied, detail)
		}
	})
}

func TestRealServerOtherReads(t *testing.T) {
	t.Run("HOSTED-5 real server other reads", func(t *testing.T) {
		_, c := household(t)
		found, err := c.Search(t.Context(), "", query("q", "rent"), rsclient.Prefer{PageBytes: 49152})
		if err != nil {
			t.Fatal(err)
		}
		page := rsclient.PageOf(found.Body)
		hits := rsclient.HitsOf(page.Rows)
		if len(hits) != 2 || page.Count.String() != "exact:2" || found.Applied.PageBytes != 49152 {
			t.Fatalf("%s", found.Body)
		}
		h := hits[0]
		if h.Card == nil || h.Card.Title == "" || h.Card.EventTime == "" || h.Snippet.Field != "memo" || !h.Excerpts[0].Complete || h.Excerpts[0].Offset != 0 || h.Payload != nil {
			t.Errorf("hit %+v", h)
		}
		w, err := c.FieldWindow(t.Context(), "entries", "ent/31", query("connection_id", "cin_a1", "field", "memo", "offset_chars", "6", "limit_chars", "3"))
		if err != nil {
			t.Fatal(err)
		}
		window, ok := rsclient.WindowOf(w.Body, rsclient.Identity{}, "memo")
		if !ok || window.Text != "ren" || window.Next != 9 || window.Previous != 3 || window.Identity.Record != "ent/31" || window.ConnectorKey != "ledgerly" {
			t.Errorf("window %+v", window)
		}
		sum, err := c.Aggregate(t.Context(), "entries", query("metric", "sum", "field", "amount_minor"))
		if err != nil || !bytes.Contains(sum.Body, []byte("90071992547534931")) {
			t.Errorf("sum %s, %v", sum.Body, err)
		}
		_, err = c.Record(t.Context(), "entries", "none", query("connection_id", "cin_a1"), rsclient.Prefer{})
		if e := failed(t, err); e.Status != 404 || e.RequestID == "" {
			t.Errorf("%+v", e)
		}
		_, err = c.Blob(t.Context(), "blob_sha256_none", rsclient.Query{}, rsclient.Part{Most: 100})
		if e := failed(t, err); e.Status != 404 {
			t.Errorf("%+v", e)
		}
	})
}

func TestRealServerSchema(t *testing.T) {
	t.Run("SCHEMA-2 real server schema", func(t *testing.T) {
		_, c := household(t)
		for _, q := range []rsclient.Query{query("view", "compact"), query("view", "compact", "stream", "entries"), query("stream", "entries", "connection_id", "cin_a1", "detail", "full")} {
			a, err := c.Schema(t.Context(), q)
			if err != nil {
				t.Fatalf("%s: %v", q, err)
			}
			s := rsclient.SchemaOf(a.Body)
			rows := s.Rows()
			if len(rows) == 0 || rows[0].Name != "entries" || rows[0].ConnectorKey != "ledgerly" || len(s.Streams) != 0 {
				t.Fatalf("%s: %+v", q, rows)
			}
			r := rows[0]
			switch q.String() {
			case "view=compact":
				want := []rsclient.Connection{{ID: "cin_a1", DisplayName: "Joint account"}, {ID: "cin_b2"}}
				if diff := cmp.Diff(want, r.Connections); diff != "" || r.FieldCount < 5 || r.Capabilities != nil || len(r.Fields) != 0 {
					t.Errorf("index %+v (-want +got)\n%s", r, diff)
				}
			case "view=compact&stream=entries":
				if r.Capabilities == nil || len(r.Fields) < 5 || r.Fields[0].Flags == "" || len(r.Relations) != 1 || r.Relations[0].Name != "receipts" {
					t.Errorf("scoped %+v", r)
				}
			default:
				if s.Compact || r.Connection != "cin_a1" || r.Fields[0].Object == nil || len(r.Connections) != 1 {
					t.Errorf("full %+v", r)
				}
			}
		}
	})
}
