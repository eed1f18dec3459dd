package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/store"
)

func TestBatch(t *testing.T) {
	w := newWorld(t)
	body := `{"key":"a","data":{"id":"a"}}

{"key":"","data":{}}
{"key":"b","data":{"id":"b"}}` + "\r\n" + `{"key":"a","op":"delete"}
{"key":"zz","op":"delete"}
nonsense`
	res, err := Batch(t.Context(), w.Store, w.binding("entries"), strings.NewReader(body), noon)
	if err != nil {
		t.Fatal(err)
	}
	want := `{"stream":"entries","records_attempted":6,"records_accepted":4,"records_rejected":2,"records_superseded":1,"rejections":[` +
		`{"input_index":1,"code":"invalid_record_identity"},{"input_index":5,"code":"malformed_ndjson"}]}`
	got := res.AppendJSON(nil)
	if diff := cmp.Diff(want, string(got)); diff != "" || !json.Valid(got) {
		t.Errorf("result (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{`entries b {"id":"b"}`}, w.dump()); diff != "" {
		t.Errorf("store (-want +got):\n%s", diff)
	}
}

func TestBatchEmpty(t *testing.T) {
	w := newWorld(t)
	w.Store = &spy{Store: w.Store, before: func() error { return errors.New("no need to write") }}
	res, err := Batch(t.Context(), w.Store, w.binding("entries"), strings.NewReader("\n{}\n"), noon)
	if err != nil || res.Attempted != 1 || len(res.Rejections) != 1 {
		t.Errorf("Batch = %+v, %v", res, err)
	}
}

func TestBatchLimits(t *testing.T) {
	w := newWorld(t)
	line := `{"key":"a","data":{}}` + "\n"
	good := func() io.Reader { return strings.NewReader(line) }
	blanks := func(n int) io.Reader { // few and long, for they are read one by one
		return strings.NewReader(strings.Repeat(strings.Repeat(" ", 1<<10-1)+"\n", n>>10) + strings.Repeat("\n", n&(1<<10-1)))
	}
	tests := map[string]struct {
		body io.Reader
		ok   bool
	}{
		"10,000 lines":      {strings.NewReader(strings.Repeat(line+"\n", MaxBatchLines)), true},
		"10,001 lines":      {strings.NewReader(strings.Repeat(line, MaxBatchLines+1)), false},
		"50 MiB":            {io.MultiReader(good(), blanks(MaxBatchBytes-len(line))), true},
		"50 MiB of blanks":  {io.MultiReader(good(), blanks(MaxBatchBytes)), false},
		"50 MiB of records": {strings.NewReader(strings.Repeat(`{"key":"a","data":{"x":"`+strings.Repeat("x", 1<<20)+`"}}`+"\n", 51)), false},
		"16 MiB line":       {io.MultiReader(good(), strings.NewReader(strings.Repeat("x", maxLine+1))), false},
	}
	for name, tt := range tests {
		before := w.dump()
		res, err := Batch(t.Context(), w.Store, w.binding("entries"), tt.body, noon)
		if tt.ok {
			if err != nil || res.Accepted != res.Attempted || res.Accepted == 0 {
				t.Errorf("%s: %+v, %v", name, res, err)
			}
			w.update(func(tx store.Tx) error { _, err := tx.DeleteAll(w.binding("entries"), math.MaxInt64, noon); return err })
			continue
		}
		if pdpp.CodeOf(err) != pdpp.CodeResourceLimit || !cmp.Equal(before, w.dump()) || res.Attempted != 0 {
			t.Errorf("%s: %+v, %v; want resource_limit and nothing stored", name, res, err)
		}
	}
}

// TestBatchSlices: the lines of one call are stored in slices, in order; a failure reports
// how many were stored, and the same call again is harmless.
func TestBatchSlices(t *testing.T) { // I-7
	w := newWorld(t)
	b := w.binding("items")
	s := &spy{Store: w.Store, most: 4}
	s.before = func() error {
		if len(s.commits) == 2 {
			return errors.New("disk on fire")
		}
		return nil
	}
	_, err := Batch(t.Context(), s, b, strings.NewReader(lines(0, 10)), noon)
	if pdpp.CodeOf(err) != pdpp.CodeIngestStorage || !strings.Contains(err.Error(), "the first 8 were") || len(w.dump()) != 8 {
		t.Errorf("failure in the third slice: %v; %d records", err, len(w.dump()))
	}
	s.before = nil
	res, err := Batch(t.Context(), s, b, strings.NewReader(lines(0, 10)), noon)
	if err != nil || res.Accepted != 10 || len(w.dump()) != 10 {
		t.Errorf("again: %+v, %v; %d records", res, err, len(w.dump()))
	}
}

// TestBatchFailureCauses: the message of a store failure is passed on, with the number of
// lines that were stored before.
func TestBatchFailureCauses(t *testing.T) {
	full := &pdpp.Error{Code: pdpp.CodeUnavailable, Message: "The disk is full.", RetryAfter: 60}
	for name, c := range map[string]struct {
		cause *pdpp.Error
		slice int // that fails
		want  pdpp.Error
	}{
		"I-7 a full disk": {full, 2, pdpp.Error{
			Code: pdpp.CodeIngestStorage, RetryAfter: 60,
			Message: "The disk is full. Not all records could be stored: of the accepted lines the first 8 were. Send the same call again.",
		}},
		"I-7 a full disk at once": {full, 0, pdpp.Error{
			Code: pdpp.CodeIngestStorage, RetryAfter: 60,
			Message: "The disk is full. The records were not stored. Send the same call again.",
		}},
		"I-11 a token that was revoked": {pdpp.Errorf(pdpp.CodeInvalidToken, "The token was revoked."), 1, pdpp.Error{
			Code:    pdpp.CodeInvalidToken,
			Message: "The token was revoked. Not all records could be stored: of the accepted lines the first 4 were.",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			s := &spy{Store: w.Store, most: 4}
			s.before = func() error {
				if len(s.commits) == c.slice {
					return c.cause
				}
				return nil
			}
			_, err := Batch(t.Context(), s, w.binding("items"), strings.NewReader(lines(0, 10)), noon)
			var got *pdpp.Error
			if !errors.As(err, &got) || got.Code != c.want.Code || got.Message != c.want.Message || got.RetryAfter != c.want.RetryAfter {
				t.Errorf("Batch = %#v, want %#v", err, c.want)
			}
		})
	}
}

func TestBatchFailures(t *testing.T) {
	w := newWorld(t)
	b := w.binding("items")
	inner := w.Store
	broken := errors.New("disk on fire")
	failing := &spy{Store: inner, before: func() error { return broken }}
	_, err := Batch(t.Context(), failing, b, strings.NewReader(lines(0, 3)), noon)
	if pdpp.CodeOf(err) != pdpp.CodeIngestStorage || !errors.Is(err, broken) {
		t.Errorf("storage failure: %v", err)
	}
	_, err = Batch(t.Context(), inner, b, io.MultiReader(strings.NewReader(lines(0, 3)), iotest.ErrReader(broken)), noon)
	if pdpp.CodeOf(err) != pdpp.CodeInvalidRequest || !errors.Is(err, broken) {
		t.Errorf("unreadable body: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	ending := &spy{Store: inner, before: func() error { cancel(); return ctx.Err() }}
	if _, err = Batch(ctx, ending, b, strings.NewReader(lines(0, 3)), noon); err != context.Canceled {
		t.Errorf("cancelled while storing: %v", err)
	}
	if _, err = Batch(ctx, inner, b, iotest.ErrReader(broken), noon); err != context.Canceled {
		t.Errorf("cancelled while reading: %v", err)
	}
	if got := w.dump(); len(got) != 0 {
		t.Errorf("stored by failed calls: %v", got)
	}
}

func TestBatchStale(t *testing.T) {
	tests := []struct {
		from, to string
		want     pdpp.Code
	}{
		{`"x":{"type":"string"}`, `"x":{"type":"string"},"y":{"type":"string"}`, ""},
		{`"primary_key":["n"]`, `"primary_key":["x"]`, pdpp.CodeIngestStorage},
	}
	for _, tt := range tests {
		w := newWorld(t)
		b := w.binding("items")
		w.m = parse(t, strings.Replace(ledger, tt.from, tt.to, 1))
		w.update(func(tx store.Tx) error { return tx.PutManifest(w.subject, w.m) })
		res, err := Batch(t.Context(), w.Store, b, strings.NewReader(lines(0, 3)), noon)
		if pdpp.CodeOf(err) != tt.want || (err == nil) != (len(w.dump()) == 3) {
			t.Errorf("Batch under %s = %+v, %v, %d stored", tt.to, res, err, len(w.dump()))
		}
	}
}

func ExampleBatchResult_AppendJSON() {
	res := BatchResult{Stream: "entries", Attempted: 3, Accepted: 2}
	res.Rejections = []BatchRejection{{Index: 1, Rejection: Rejection{Code: invalidRecordIdentity}}}
	fmt.Printf("%s\n", res.AppendJSON(nil))
	// Output:
	// {"stream":"entries","records_attempted":3,"records_accepted":2,"records_rejected":1,"rejections":[{"input_index":1,"code":"invalid_record_identity"}]}
}
