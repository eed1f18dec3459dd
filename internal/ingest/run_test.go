package ingest

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/store"
)

func TestRunMessages(t *testing.T) {
	w := newWorld(t)
	sum := w.ingest(Options{}, `{"type":"RECORD","stream":"entries","key":"a","data":{"id":"a","memo":"one"}}
{"type":"RECORD","stream":"months","key":["x","1"],"data":{}}

{"type":"LOG","text":"hello"}
{"type":"RECORD","stream":"entries","key":"a","data":{"id":"a","memo":"two"}}
{"type":"RECORD","stream":"entries","key":"a","data":{"memo":"two", "id":"a"}}
{"type":"RECORD","stream":"entries","key":"b","op":"delete"}
{"type":"STATE","stream":"entries","cursor":{"after": 1}}
{"type":"STATE","stream":"entries","cursor":{"after": 2}}
{"type":"RECORD","stream":"ghosts","key":"a","data":{}}
nonsense
`, `{"type":"RECORD","stream":"months","key":["x","1"],"op":"delete"}
{"type":"RECORD","stream":"entries","key":"a","data":{ "memo":"two","id":"a"}}
{"type":"RECORD","stream":"entries","key":"","data":{}}`)
	got, err := json.Marshal(sum)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"connection_id":"cin_1","connector_key":"ledger","created_connection":false,"lines":13,` +
		`"records":{"accepted":4,"unchanged":2,"deleted":1,"rejected":3,"superseded":4},` +
		`"streams":{"entries":{"accepted":3,"unchanged":2,"deleted":0,"rejected":1,"superseded":3},"months":{"accepted":1,"unchanged":0,"deleted":1,"rejected":0,"superseded":1}},` +
		`"state":{"entries":{"after":2}},"skipped_messages":1,"rejections":[` +
		`{"file":"a","line":10,"code":"invalid_record","message":"The manifest does not declare the stream of the message; it has: entries, months, items."},` +
		`{"file":"a","line":11,"code":"malformed_ndjson","message":"The text is not valid JSON."},` +
		`{"file":"b","line":3,"code":"invalid_record_identity","message":"The key is empty."}],` +
		`"rejections_truncated":false,"duration_ms":0}`
	if diff := cmp.Diff(want, string(got)); diff != "" {
		t.Errorf("summary (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`entries a {"memo":"two","id":"a"}`, `state entries {"after":2}`}, w.dump()); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
}

func TestRunEmptySummaryHasNoNulls(t *testing.T) {
	got, err := json.Marshal(newWorld(t).ingest(Options{Stream: "items"}, ""))
	if err != nil || bytes.Contains(got, []byte("null")) {
		t.Errorf("summary %s, %v", got, err)
	}
}

// lines returns bare lines of the stream items.
func lines(from, to int) string {
	var b strings.Builder
	for i := from; i < to; i++ {
		fmt.Fprintf(&b, `{"key":%d,"data":{"n":%d,"x":"value %d"}}`+"\n", i, i, i)
	}
	return b.String()
}

func TestRunAgainIsUnchanged(t *testing.T) {
	w := newWorld(t)
	text := lines(0, 2500)
	first := w.ingest(Options{Stream: "items"}, text)
	before := w.dump()
	second := w.ingest(Options{Stream: "items"}, text)
	if first.Records.Accepted != 2500 || second.Records != (Counts{Unchanged: 2500}) {
		t.Errorf("first run %+v, second run %+v", first.Records, second.Records)
	}
	if len(before) != 2500 || !cmp.Equal(before, w.dump()) {
		t.Errorf("%d records before, %d after, or others", len(before), len(w.dump()))
	}
}

// spy records every transaction of a run.
type spy struct {
	store.Store
	commits []commitSeen
	before  func() error // called before each update
	most    int          // documents that a slice takes; 0: all
}

type commitSeen struct {
	Docs   int
	States int
}

type spyTx struct {
	store.Tx
	seen *commitSeen
	most int
}

// Bulk implements store.Store, with slices that do not depend on time.
func (s *spy) Bulk(ctx context.Context, fn func(store.Tx) error) error {
	if s.before != nil {
		if err := s.before(); err != nil {
			return err
		}
	}
	var seen commitSeen
	err := s.Store.Update(ctx, func(tx store.Tx) error { return fn(&spyTx{tx, &seen, s.most}) })
	if err == nil {
		s.commits = append(s.commits, seen)
	}
	return err
}

func (t *spyTx) Ingest(b *store.Binding, docs []store.Document, now time.Time) ([]store.Outcome, error) {
	if t.most > 0 {
		docs = docs[:min(len(docs), t.most)]
	}
	t.seen.Docs += len(docs)
	return t.Tx.Ingest(b, docs, now)
}

func (t *spyTx) PutState(s pdpp.SubjectID, c pdpp.ConnectionID, v map[string]json.RawMessage, now time.Time) error {
	t.seen.States += len(v)
	return t.Tx.PutState(s, c, v, now)
}

func messages(from, to int) string {
	return strings.ReplaceAll(lines(from, to), `{"key"`, `{"type":"RECORD","stream":"items","key"`)
}

func TestRunCommits(t *testing.T) {
	w := newWorld(t)
	s := &spy{Store: w.Store}
	w.Store = s
	// The STATE directly after a full batch belongs to that batch.
	w.ingest(Options{}, messages(0, 1000)+`{"type":"STATE","stream":"items","cursor":1000}`+"\n"+messages(1000, 2300))
	if diff := cmp.Diff([]commitSeen{{1000, 1}, {1000, 0}, {300, 0}}, s.commits); diff != "" {
		t.Errorf("commits (-want +got):\n%s", diff)
	}
	s.commits = nil
	big := strings.Repeat("x", 3<<20)
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, `{"key":%d,"data":{"x":"%s"}}`+"\n", i, big)
	}
	w.ingest(Options{Stream: "items"}, b.String())
	if diff := cmp.Diff([]commitSeen{{2, 0}, {2, 0}, {1, 0}}, s.commits); diff != "" {
		t.Errorf("commits of long records (-want +got):\n%s", diff)
	}
}

func TestStateIsAtomicWithRecords(t *testing.T) {
	w := newWorld(t)
	broken := errors.New("disk on fire")
	updates := 0
	w.Store = &spy{Store: w.Store, before: func() error {
		if updates++; updates == 2 {
			return broken
		}
		return nil
	}}
	text := messages(0, 1500) + `{"type":"STATE","stream":"items","cursor":1500}`
	sum, err := w.Run(t.Context(), w.subject, w.conn, w.m, Options{}, texted(text))
	balanced(t, sum)
	if !errors.Is(err, broken) || sum.Records.Accepted != 1000 || len(sum.State) != 0 {
		t.Errorf("Run = %+v, %v; want the first batch and no state", sum, err)
	}
	if got := w.dump(); len(got) != 1000 {
		t.Errorf("%d rows stored, want 1000 records and no state", len(got))
	}
	w.ingest(Options{}, text)
	if got := w.dump(); len(got) != 1501 || got[1500] != "state items 1500" {
		t.Errorf("%d rows stored after the second run", len(got))
	}
}

func TestInterruptedRun(t *testing.T) {
	w, twin := newWorld(t), newWorld(t)
	text := messages(0, 5000) + `{"type":"STATE","stream":"items","cursor":5}`
	ctx, cancel := context.WithCancel(t.Context())
	s := &spy{Store: w.Store}
	s.before = func() error {
		if len(s.commits) == 2 {
			cancel()
		}
		return ctx.Err()
	}
	w.Store = s
	sum, err := w.Run(ctx, w.subject, w.conn, w.m, Options{}, texted(text))
	balanced(t, sum)
	if !errors.Is(err, context.Canceled) || sum.Records.Accepted != 2000 || len(w.dump()) != 2000 {
		t.Errorf("interrupted run: %+v, %v, %d rows", sum.Records, err, len(w.dump()))
	}
	s.before = nil
	again := w.ingest(Options{}, text)
	twin.ingest(Options{}, text)
	if again.Records != (Counts{Accepted: 3000, Unchanged: 2000}) || !cmp.Equal(w.dump(), twin.dump()) {
		t.Errorf("run after the interrupted one: %+v; equal to an uninterrupted one: %v", again.Records, cmp.Equal(w.dump(), twin.dump()))
	}
}

// A blocked read must not delay a cancelled run.
func TestCancelWhileReading(t *testing.T) {
	w := newWorld(t)
	ctx, cancel := context.WithCancel(t.Context())
	r, writer := io.Pipe()
	defer writer.Close()
	go func() {
		_, _ = io.WriteString(writer, lines(0, 3))
		cancel()
	}()
	_, err := w.Run(ctx, w.subject, w.conn, w.m, Options{Stream: "items"}, []File{{Name: "-", Reader: r}})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("Run = %v, want %v", err, context.Canceled)
	}
}

func TestStopOnError(t *testing.T) {
	w := newWorld(t)
	sum := w.ingest(Options{Stream: "items", StopOnError: true}, lines(0, 1200)+"nonsense\nmore\n"+lines(1200, 2000), lines(3000, 3001))
	if sum.Records != (Counts{Accepted: 1200, Rejected: 1}) || sum.Lines != 1201 || len(w.dump()) != 1200 {
		t.Errorf("%d lines, %+v, %d stored", sum.Lines, sum.Records, len(w.dump()))
	}
	if sum.Rejections[0].Line != 1201 || sum.Streams["items"].Rejected != 1 {
		t.Errorf("rejections %+v, streams %+v", sum.Rejections, sum.Streams["items"])
	}
}

func TestDryRun(t *testing.T) {
	w := newWorld(t)
	dry := &Runner{Clock: w.Clock} // no store at all
	text := messages(0, 1100) + "nonsense\n" + `{"type":"RECORD","stream":"items","key":1,"op":"delete"}` + "\n" +
		`{"type":"STATE","stream":"items","cursor":5}`
	sum, err := dry.Run(t.Context(), w.subject, w.conn, w.m, Options{DryRun: true}, texted(text))
	balanced(t, sum)
	if err != nil || sum.Records != (Counts{Accepted: 1100, Deleted: 1, Rejected: 1, Superseded: 1}) || string(sum.State["items"]) != "5" {
		t.Errorf("dry run = %+v, %v", sum, err)
	}
}

func TestRejectionsAreTruncated(t *testing.T) {
	w := newWorld(t)
	sum := w.ingest(Options{Stream: "items"}, strings.Repeat("{}\n", 150)+lines(0, 1500)+strings.Repeat("x\n", 10))
	if !sum.RejectionsTruncated || sum.Records != (Counts{Accepted: 1500, Rejected: 160}) || sum.Rejections[99].Line != 100 {
		t.Errorf("truncated %v, %+v", sum.RejectionsTruncated, sum.Records)
	}
}

func TestTooLongLineIsOneRejection(t *testing.T) {
	w := newWorld(t)
	sum := w.ingest(Options{Stream: "items"}, lines(0, 2)+strings.Repeat("x", maxLine+1)+"\n"+lines(2, 4))
	want := []LineRejection{{File: "a", Line: 3, Code: invalidRecord, Message: "The line is longer than 16 MiB."}}
	if diff := cmp.Diff(want, sum.Rejections); diff != "" || sum.Records.Accepted != 4 {
		t.Errorf("%+v, rejections (-want +got):\n%s", sum.Records, diff)
	}
}

func TestRunFiles(t *testing.T) {
	w := newWorld(t)
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	if _, err := z.Write([]byte(lines(0, 2000))); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	var last Progress
	w.Progress = func(p Progress) {
		if p.Bytes < last.Bytes || p.Records < last.Records || p.Bytes > p.Total {
			t.Errorf("progress %+v after %+v", p, last)
		}
		last = p
	}
	plain := written(t, "a.jsonl", lines(2000, 2010)+"x\n")
	files := []File{written(t, "b.jsonl.gz", packed.String()), plain}
	sum, err := w.Run(t.Context(), w.subject, w.conn, w.m, Options{Stream: "items"}, files)
	if err != nil || sum.Records != (Counts{Accepted: 2010, Rejected: 1}) {
		t.Errorf("Run = %+v, %v", sum.Records, err)
	}
	if last.Bytes != last.Total || last.Records != 2011 || last.Rejected != 1 || last.File != plain.Name {
		t.Errorf("last progress %+v", last)
	}

	w.Progress = nil
	cut := written(t, "c.jsonl.gz", packed.String()[:packed.Len()/2])
	sum, err = w.Run(t.Context(), w.subject, w.conn, w.m, Options{Stream: "items"}, []File{plain, cut})
	if pdpp.CodeOf(err) != pdpp.CodeInvalidInput || sum.Records.Unchanged < 11 {
		t.Errorf("cut file: %+v, %v; want invalid_input and what precedes it", sum.Records, err)
	}
	no := File{Name: filepath.Join(t.TempDir(), "none.jsonl")}
	more := File{Name: "m", Reader: strings.NewReader(lines(5000, 5001))}
	for _, bad := range []File{no, {Name: t.TempDir()}} {
		sum, err = w.Run(t.Context(), w.subject, w.conn, w.m, Options{Stream: "items"}, []File{more, bad})
		if pdpp.CodeOf(err) != pdpp.CodeInputMissing || sum.Lines != 0 {
			t.Errorf("unreadable file: %+v, %v; want input_missing before anything is read", sum.Records, err)
		}
	}
	if err := os.WriteFile(plain.Name+".gz", []byte("plain"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := openPath(plain.Name + ".gz"); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
		t.Errorf("openPath of text as .gz = %v, want invalid_input", err)
	}
}

// The message of a refusal names the command or flag to use instead.
func TestRejectionsSayWhatToDo(t *testing.T) {
	w := newWorld(t)
	for _, tt := range []struct{ stream, line, want string }{
		{"", `{"key":"a","data":{}}`, "The message has no type; for plain records give --stream NAME."},
		{"", `{"type":"RECORD","stream":"entries","key":"a"}`, "The record has no data; for plain rows use the command import."},
		{"entries", `{"id":"a","memo":"x"}`, "The record has no data; for plain rows use the command import."},
		{"entries", `{"stream":"months","key":"a","data":{}}`, `The line names another stream than "entries".`},
	} {
		sum, err := w.Run(t.Context(), w.subject, w.conn, w.m, Options{Stream: tt.stream}, texted(tt.line))
		if err != nil || len(sum.Rejections) != 1 || sum.Rejections[0].Message != tt.want {
			t.Errorf("%s: %+v, %v, want %q", tt.line, sum.Rejections, err, tt.want)
		}
	}
}

func TestRunRefusals(t *testing.T) {
	w := newWorld(t)
	if _, err := w.Run(t.Context(), w.subject, w.conn, w.m, Options{Stream: "ghosts"}, nil); pdpp.CodeOf(err) != pdpp.CodeInvalidInput {
		t.Errorf("undeclared stream: %v", err)
	}
	other := pdpp.Connection{ID: "cin_other", Connector: w.conn.Connector}
	if _, err := w.Run(t.Context(), w.subject, other, w.m, Options{}, nil); pdpp.CodeOf(err) != pdpp.CodeConnectionNotFound {
		t.Errorf("unknown connection: %v", err)
	}
}

// The manifest is replaced during a run.
func TestStaleManifest(t *testing.T) {
	tests := []struct {
		name, from, to string
		want           pdpp.Code
	}{
		{"other fields", `"x":{"type":"string"}`, `"x":{"type":"string"},"y":{"type":"string"}`, ""},
		{"other key", `"primary_key":["n"]`, `"primary_key":["x"]`, pdpp.CodeInvalidInput},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			w := newWorld(t)
			inner := w.Store
			s := &spy{Store: inner}
			s.before = func() error {
				if len(s.commits) != 1 {
					return nil
				}
				next := parse(t, strings.Replace(ledger, tt.from, tt.to, 1))
				return inner.Update(t.Context(), func(tx store.Tx) error { return tx.PutManifest(w.subject, next) })
			}
			w.Store = s
			sum, err := w.Run(t.Context(), w.subject, w.conn, w.m, Options{}, texted(messages(0, 3000)))
			if pdpp.CodeOf(err) != tt.want {
				t.Fatalf("Run = %+v, %v", sum.Records, err)
			}
			if tt.want == "" && (sum.Records.Accepted != 3000 || len(w.dump()) != 3000) {
				t.Errorf("%+v, %d stored", sum.Records, len(w.dump()))
			}
		})
	}
}

// A run of any lines does what applying them one by one to a map does.
func TestRunModel(t *testing.T) {
	w := newWorld(t)
	clear := func() {
		w.update(func(tx store.Tx) error {
			for _, name := range []string{"entries", "items"} {
				if _, err := tx.DeleteAll(w.binding(name), math.MaxInt64, noon); err != nil {
					return err
				}
			}
			return nil
		})
	}
	rapid.Check(t, func(rt *rapid.T) {
		clear()
		model, seen := map[string]string{}, map[string]bool{}
		var want Counts
		var text strings.Builder
		for range rapid.IntRange(0, 60).Draw(rt, "lines") {
			stream := rapid.SampledFrom([]string{"entries", "items"}).Draw(rt, "stream")
			key := rapid.IntRange(0, 4).Draw(rt, "key")
			body := fmt.Sprintf(`{"v":%d}`, rapid.IntRange(0, 2).Draw(rt, "value"))
			id := fmt.Sprintf("%s %d", stream, key)
			old, there := model[id]
			switch op := rapid.SampledFrom([]string{"upsert", "upsert", "delete", "nonsense"}).Draw(rt, "op"); {
			case op == "nonsense":
				want.Rejected++
				fmt.Fprintf(&text, `{"type":"RECORD","stream":%q,"key":%d,"op":"nonsense","data":%s}`+"\n", stream, key, body)
				continue
			case op == "delete" && there:
				want.Deleted++
				delete(model, id)
			case op == "delete" || there && old == body:
				want.Unchanged++
			default:
				want.Accepted++
				model[id] = body
			}
			if seen[id] {
				want.Superseded++
			}
			seen[id] = true
			op := "delete"
			if model[id] == body {
				op = "upsert"
			}
			fmt.Fprintf(&text, `{"type":"RECORD","stream":%q,"key":"%d","op":%q,"data":%s}`+"\n", stream, key, op, body)
		}
		sum := w.ingest(Options{}, text.String())
		if sum.Records != want {
			rt.Fatalf("counts %+v, want %+v for\n%s", sum.Records, want, text.String())
		}
		stored := map[string]string{}
		for _, row := range w.dump() {
			at := strings.LastIndexByte(row, ' ')
			stored[row[:at]] = row[at+1:]
		}
		if diff := cmp.Diff(model, stored); diff != "" {
			rt.Fatalf("store (-want +got):\n%s", diff)
		}
	})
}

func BenchmarkRun(b *testing.B) {
	text := lines(0, 20000)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		newWorld(b).ingest(Options{Stream: "items"}, text)
	}
}

// TestRunSlices: a batch is stored in slices, and its state with the last one. What was
// committed before a failure is counted.
func TestRunSlices(t *testing.T) { // H-21
	w := newWorld(t)
	s := &spy{Store: w.Store, most: 400}
	w.Store = s
	got := w.ingest(Options{}, messages(0, 1000)+`{"type":"STATE","stream":"items","cursor":1000}`+"\n")
	want := []commitSeen{{400, 0}, {400, 0}, {200, 1}}
	if diff := cmp.Diff(want, s.commits); diff != "" || got.Records != (Counts{Accepted: 1000}) {
		t.Errorf("%+v, commits (-want +got):\n%s", got.Records, diff)
	}
	s.commits = nil
	s.before = func() error {
		if len(s.commits) == 2 {
			return errors.New("no more space")
		}
		return nil
	}
	failed, err := w.Run(t.Context(), w.subject, w.conn, w.m, Options{}, []File{{Name: "-", Reader: strings.NewReader(messages(1000, 2000))}})
	if err == nil || failed.Records != (Counts{Accepted: 800}) {
		t.Errorf("after a failure: %+v, %v", failed.Records, err)
	}
}
