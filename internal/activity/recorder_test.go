package activity

import (
	"context"
	"errors"
	"log/slog"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/store"
	"pdpp/internal/store/open"
)

// now is a time of the tests.
var now = time.Date(2026, 11, 16, 12, 0, 0, 0, time.UTC)

// failing is a store whose updates fail while fails is set.
type failing struct {
	store.Store
	fails bool
}

func (s *failing) Update(ctx context.Context, fn func(store.Tx) error) error {
	if s.fails {
		return errors.New("the disk is full")
	}
	return s.Store.Update(ctx, fn)
}

// newRecorder returns a Recorder over a real store with one owner.
func newRecorder(t testing.TB) (r *Recorder, st *failing, owner pdpp.SubjectID) {
	t.Helper()
	db, err := open.Store(t.Context(), t.TempDir(), store.OpenOptions{Create: true})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	err = db.Update(t.Context(), func(tx store.Tx) error {
		s, err := tx.CreateSubject("ann", now)
		owner = s.ID
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	st = &failing{Store: db}
	return New(Config{Store: st, Log: slog.New(slog.DiscardHandler)}), st, owner
}

// stored writes what is recorded and returns it.
func (r *Recorder) stored(t *testing.T, owner pdpp.SubjectID) (reads []store.ReadCount, audits []store.Audit) {
	t.Helper()
	r.write(t.Context(), true)
	err := r.Store.View(t.Context(), func(v store.View) (err error) {
		if reads, err = v.Reads(owner, now); err != nil {
			return err
		}
		audits, err = v.Audits(owner, 10*maxPending)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return reads, audits
}

func tallyOf(owner pdpp.SubjectID, g, stream string, records int64) *Tally {
	t := &Tally{Key: store.ReadKey{Subject: owner, Grant: pdpp.GrantID(g), Via: "search", Stream: stream}}
	t.Add(stream, records)
	return t
}

// H-196: more keys than are counted separately are counted together; nothing is lost, in
// memory or in the store.
func TestH196FurtherKeysAreCountedTogether(t *testing.T) {
	r, _, owner := newRecorder(t)
	for i := range maxPending + 100 {
		r.Read(nil, tallyOf(owner, "grt_"+strconv.Itoa(i), "", 2), now)
		r.RefuseBearer(store.Audit{At: now, Subject: owner, Address: strconv.Itoa(i)})
	}
	if n := len(r.counts.reads); n > maxPending+1 {
		t.Errorf("%d keys of reads in memory, want at most %d", n, maxPending+1)
	}
	if n := len(r.counts.bearers); n > maxPending+1 {
		t.Errorf("%d keys of bearers in memory, want at most %d", n, maxPending+1)
	}
	reads, audits := r.stored(t, owner)
	var sum store.ReadCount
	for _, c := range reads {
		sum.Reads += c.Reads
		sum.Records += c.Records
	}
	if len(reads) != store.MaxReadRows+1 || sum.Reads != maxPending+100 || sum.Records != 2*(maxPending+100) {
		t.Errorf("%d rows with %d reads and %d records", len(reads), sum.Reads, sum.Records)
	}
	var times int64
	for _, a := range audits {
		times += a.Times
	}
	if len(audits) != store.MaxRefusedRows+1 || times != maxPending+100 {
		t.Errorf("%d audit rows with %d refusals", len(audits), times)
	}
}

// H-196: a write that fails loses nothing.
func TestH196FailedWriteIsRepeated(t *testing.T) {
	r, st, owner := newRecorder(t)
	count := func() {
		r.Read(nil, tallyOf(owner, "grt_1", "notes", 3), now)
		r.Refuse(nil, store.ReadKey{Subject: owner, Grant: "grt_1", Via: "search"}, pdpp.CodeFieldNotGranted, now)
		r.RefuseBearer(store.Audit{At: now, Subject: owner, Token: "tok_1", Code: pdpp.CodeInvalidToken})
	}
	count()
	st.fails = true
	r.write(t.Context(), true)
	count()
	st.fails = false
	reads, audits := r.stored(t, owner)
	if len(reads) != 2 || reads[0].Refusals != 2 || reads[1].Reads != 2 || reads[1].Records != 6 {
		t.Errorf("stored %+v", reads)
	}
	if len(audits) != 1 || audits[0].Times != 2 {
		t.Errorf("stored %+v", audits)
	}
}

// H-196: the reads of a call are one read of its tool, under the stream that one of them
// asked for; a read after its end counts for itself.
func TestH196CallIsOneRead(t *testing.T) {
	r, _, owner := newRecorder(t)
	var c Call
	c.Begin("fetch")
	var readers sync.WaitGroup
	for i := range 8 {
		readers.Go(func() {
			r.Read(&c, tallyOf(owner, "grt_1", "", 0), now)
			both := tallyOf(owner, "grt_1", "notes", 2)
			for i := range 4 {
				both.Add("related"+strconv.Itoa(i), 1)
			}
			r.Read(&c, both, now)
			if i == 0 {
				r.Refuse(&c, store.ReadKey{Subject: owner, Grant: "grt_1", Via: "/v1"}, pdpp.CodeFieldNotGranted, now)
			}
		})
	}
	readers.Wait()
	r.EndCall(&c, now)
	r.EndCall(&c, now) // nothing is left
	r.Read(&c, tallyOf(owner, "grt_1", "late", 1), now)
	reads, _ := r.stored(t, owner)
	var lines []string
	for _, k := range reads {
		lines = append(lines, k.Via+" "+k.Stream+" "+strconv.FormatInt(k.Reads, 10)+" "+strconv.FormatInt(k.Records, 10)+" "+strconv.FormatInt(k.Refusals, 10))
	}
	want := "fetch notes 1 16 1, fetch related0 0 8 0, fetch related1 0 8 0, fetch related2 0 8 0, fetch related3 0 8 0, search late 1 1 0"
	if got := strings.Join(lines, ", "); got != want {
		t.Errorf("counted %s, want %s", got, want)
	}
}

// BenchmarkRead measures what a read adds to a request.
func BenchmarkRead(b *testing.B) {
	r, _, owner := newRecorder(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		t := tallyOf(owner, "grt_0123456789abcdef", "messages", 25)
		t.Key.Via = "/v1/streams/{stream}/records"
		for pb.Next() {
			r.Read(nil, t, now)
		}
	})
}

// BenchmarkCall measures what a tool call with two reads adds.
func BenchmarkCall(b *testing.B) {
	r, _, owner := newRecorder(b)
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		var c Call
		schema, t := tallyOf(owner, "grt_0123456789abcdef", "", 0), tallyOf(owner, "grt_0123456789abcdef", "messages", 25)
		for pb.Next() {
			c.Begin("query_records")
			r.Read(&c, schema, now)
			r.Read(&c, t, now)
			r.EndCall(&c, now)
		}
	})
}
