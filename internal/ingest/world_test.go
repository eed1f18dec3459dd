package ingest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/query"
	"pdpp/internal/store"
	"pdpp/internal/store/sqlite"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const ledger = `{"protocol_version":"0.1.0","declaration_version":"1","display":{"name":"Ledger"},
"source":{"kind":"connector","id":"https://reg.acme.test/c/ledger"},"streams":[
{"name":"entries","semantics":"mutable_state","primary_key":["id"],"cursor_field":"posted_at","selection":{"fields":true,"resources":false},
 "schema":{"type":"object","properties":{"id":{"type":"string"},"memo":{"type":["string","null"]},"note":{"type":"string"},
  "amount":{"type":"integer"},"price":{"type":["number","null"]},"paid":{"type":"boolean"},"day":{"type":"string","format":"date"},
  "posted_at":{"type":"string","format":"date-time"},"tags":{"type":"array"},"place":{"type":["object","null"]},"any":{}}},
 "query":{"search":{"lexical_fields":["memo"]}}},
{"name":"months","semantics":"mutable_state","primary_key":["account","month"],"selection":{"fields":true,"resources":false},
 "schema":{"type":"object","properties":{"account":{"type":"string"},"month":{"type":"string"},"total":{"type":"integer"}}}},
{"name":"items","semantics":"mutable_state","primary_key":["n"],"selection":{"fields":true,"resources":false},
 "schema":{"type":"object","properties":{"n":{"type":"integer"},"x":{"type":"string"}}}}]}`

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

func parse(t testing.TB, text string) *pdpp.Manifest {
	t.Helper()
	m, err := manifest.Parse([]byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// world is a store with one owner and one connection of the ledger.
type world struct {
	*Runner
	t       testing.TB
	m       *pdpp.Manifest
	subject pdpp.SubjectID
	conn    pdpp.Connection
}

func newWorld(t testing.TB) *world {
	t.Helper()
	db, err := sqlite.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{Runner: &Runner{Store: db, Clock: func() time.Time { return noon }}, t: t, m: parse(t, ledger)}
	w.conn = pdpp.Connection{ID: "cin_1", Connector: w.m.ConnectorKey, Name: "main", Status: "active", CreatedAt: noon}
	w.update(func(tx store.Tx) error {
		s, err := tx.CreateSubject("owner", noon)
		if err != nil {
			return err
		}
		w.subject = s.ID
		if err := tx.PutManifest(s.ID, w.m); err != nil {
			return err
		}
		return tx.PutConnection(s.ID, w.conn)
	})
	return w
}

func (w *world) update(fn func(store.Tx) error) {
	w.t.Helper()
	if err := w.Store.Update(w.t.Context(), fn); err != nil {
		w.t.Fatal(err)
	}
}

func (w *world) binding(stream string) *store.Binding {
	w.t.Helper()
	var b *store.Binding
	err := w.Store.View(w.t.Context(), func(v store.View) (err error) {
		b, err = v.Binding(w.subject, w.conn, w.m.Stream(stream))
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return b
}

// dump lists all records as "stream id body", and the state.
func (w *world) dump() []string {
	w.t.Helper()
	var out []string
	err := w.Store.View(context.Background(), func(v store.View) error {
		for _, s := range w.m.Streams {
			q := query.List{Subject: w.subject, Sources: []query.Source{{Connection: w.conn.ID, Stream: s}}, Limit: 1 << 20}
			_, err := v.List(q, func(r *store.Record) (bool, error) {
				out = append(out, fmt.Sprintf("%s %s %s", s.Name, r.ID, r.Body))
				return true, nil
			})
			if err != nil {
				return err
			}
		}
		st, err := v.State(w.subject, w.conn.ID)
		for _, s := range w.m.Streams {
			if value, ok := st.Values[s.Name]; ok {
				out = append(out, "state "+s.Name+" "+string(value))
			}
		}
		return err
	})
	if err != nil {
		w.t.Fatal(err)
	}
	return out
}

func (w *world) ingest(opts Options, texts ...string) Summary {
	w.t.Helper()
	sum, err := w.Run(w.t.Context(), w.subject, w.conn, w.m, opts, texted(texts...))
	if err != nil {
		w.t.Fatal(err)
	}
	balanced(w.t, sum)
	return sum
}

func (w *world) imported(opts ImportOptions, files ...File) Summary {
	w.t.Helper()
	sum, err := w.Import(w.t.Context(), w.subject, w.conn, w.m, opts, files)
	if err != nil {
		w.t.Fatal(err)
	}
	balanced(w.t, sum)
	return sum
}

// balanced checks the sums of a summary.
func balanced(t testing.TB, sum Summary) {
	t.Helper()
	var all Counts
	for _, c := range sum.Streams {
		all.add(*c)
	}
	if all.Accepted != sum.Records.Accepted || all.Unchanged != sum.Records.Unchanged || all.Deleted != sum.Records.Deleted ||
		all.Rejected > sum.Records.Rejected {
		t.Errorf("streams add up to %+v, records are %+v", all, sum.Records)
	}
	if states := sum.Lines - sum.Records.Total() - sum.SkippedMessages; states < int64(len(sum.State)) {
		t.Errorf("%d lines are %+v, %d skipped and at least %d states", sum.Lines, sum.Records, sum.SkippedMessages, len(sum.State))
	}
	if listed := int64(len(sum.Rejections)); listed != min(sum.Records.Rejected, maxRejections) ||
		sum.RejectionsTruncated != (sum.Records.Rejected > maxRejections) {
		t.Errorf("%d of %d rejections listed, truncated %v", listed, sum.Records.Rejected, sum.RejectionsTruncated)
	}
}

// texted returns inputs a, b, c … with texts.
func texted(texts ...string) []File {
	files := make([]File, len(texts))
	for i, text := range texts {
		files[i] = File{Name: string(rune('a' + i)), Reader: strings.NewReader(text)}
	}
	return files
}

func written(t testing.TB, name, text string) File {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return File{Name: path}
}
