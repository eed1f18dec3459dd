package ingest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

// The limits of one call (I-3), besides maxLine.
const (
	MaxBatchBytes = 50 << 20
	MaxBatchLines = 10_000
)

// BatchResult is the outcome of one call (I-5). The counts balance; accepted
// lines include those that changed nothing.
type BatchResult struct {
	Stream     string
	Attempted  int
	Accepted   int
	Superseded int64            // of the accepted lines: a later one has the same key
	Rejections []BatchRejection // ascending by Index
}

// BatchRejection is a refused line. Index counts the lines that are not blank, from
// 0.
type BatchRejection struct {
	Index int
	Rejection
}

// AppendJSON appends the object of I-5.
func (r *BatchResult) AppendJSON(dst []byte) []byte {
	w := rawjson.Writer(append(dst, '{'))
	w.Text("stream", r.Stream)
	w.Number("records_attempted", r.Attempted)
	w.Number("records_accepted", r.Accepted)
	w.Number("records_rejected", len(r.Rejections))
	if r.Superseded > 0 {
		w.Key("records_superseded")
		w.Int(r.Superseded)
	}
	w.OpenArray("rejections")
	for _, bad := range r.Rejections {
		w.Object()
		w.Number("input_index", bad.Index)
		w.Text("code", string(bad.Code))
		w.End("}")
	}
	w.End("]}")
	return w
}

// Batch stores the lines of one call in a binding (I-1 … I-8), in order and in slices,
// so that others can write in between.
//
// A body above the limits is CodeResourceLimit, one that cannot be read
// CodeInvalidRequest; then nothing is stored. A storage failure is CodeIngestStorage;
// its message contains how many lines were stored before it. Errors of the context are
// returned unchanged. When the stream was declared again meanwhile, the lines are
// stored under the new declaration; CodeNotFound when there is none.
func Batch(ctx context.Context, st store.Store, b *store.Binding, body io.Reader, now time.Time) (BatchResult, error) {
	res, inputs, err := parseBatch(ctx, b, body, now)
	if err != nil || len(inputs) == 0 {
		return res, err
	}
	left := inputs
	for try := 1; ; try++ {
		var n int
		n, err = storeBatch(ctx, st, b, left, now)
		left = left[n:]
		if !errors.Is(err, store.ErrStale) || try == staleTries {
			break
		}
		if b, err = freshBinding(ctx, st, b); err != nil {
			break
		}
	}
	if err != nil {
		return BatchResult{}, batchFailure(err, len(inputs)-len(left))
	}
	return res, nil
}

func parseBatch(ctx context.Context, b *store.Binding, body io.Reader, now time.Time) (BatchResult, []store.Input, error) {
	res := BatchResult{Stream: b.Stream.Name}
	var inputs []store.Input
	var a arena
	lines := newLines(io.LimitReader(body, MaxBatchBytes+1))
	for lines.Next() {
		if err := limit(lines, res.Attempted); err != nil {
			return BatchResult{}, nil, err
		}
		in, bad := parseRecord(&a, lines.Line(), b.Stream, now)
		if bad != nil {
			res.Rejections = append(res.Rejections, BatchRejection{res.Attempted, *bad})
		} else {
			inputs = append(inputs, in)
		}
		res.Attempted++
	}
	if err := lines.Err(); err != nil {
		return BatchResult{}, nil, bodyFailure(ctx, err)
	}
	if lines.Bytes() > MaxBatchBytes { // in blank lines
		return BatchResult{}, nil, limit(lines, 0)
	}
	k := newKeys()
	for i := range inputs {
		k.add(inputs[i].ID)
	}
	res.Accepted, res.Superseded = len(inputs), k.superseded()
	return res, inputs, nil
}

// limit checks the current line against I-3; before is the number of lines before it.
func limit(lines *lineReader, before int) error {
	switch {
	case lines.Bytes() > MaxBatchBytes:
		return pdpp.Errorf(pdpp.CodeResourceLimit, "The body is larger than 50 MiB; send it in several calls.")
	case before == MaxBatchLines:
		return pdpp.Errorf(pdpp.CodeResourceLimit, "The body has more than 10,000 lines; send it in several calls.")
	case lines.TooLong():
		return pdpp.Errorf(pdpp.CodeResourceLimit, "Line %d is longer than 16 MiB.", lines.Number())
	}
	return nil
}

func bodyFailure(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if own := (*pdpp.Error)(nil); isContext(err) || errors.As(err, &own) {
		return err // also the error of a reader that limits the body
	}
	return &pdpp.Error{Code: pdpp.CodeInvalidRequest, Message: "The body could not be read to its end.", Op: "ingest.Batch", Err: err}
}

// storeBatch stores inputs and returns how many it stored, also when it fails.
func storeBatch(ctx context.Context, st store.Store, b *store.Binding, inputs []store.Input, now time.Time) (stored int, err error) {
	for stored < len(inputs) {
		docs := prepareSome(b, inputs[stored:])
		for len(docs) > 0 {
			var slice []store.Outcome
			err := st.Bulk(ctx, func(tx store.Tx) (err error) {
				slice, err = tx.Ingest(b, docs, now)
				return err
			})
			if err != nil {
				return stored, err
			}
			stored += len(slice)
			docs = docs[len(slice):]
		}
	}
	return stored, nil
}

// prepareBytes is how much data is prepared at a time. The words of a text take several
// times its own memory.
const prepareBytes = 2 << 20

// prepareSome prepares the first inputs.
func prepareSome(b *store.Binding, inputs []store.Input) []store.Document {
	var docs []store.Document
	for size := 0; len(docs) < len(inputs) && size < prepareBytes; {
		in := inputs[len(docs)]
		docs = append(docs, store.Prepare(b, in))
		size += len(in.Data)
	}
	return docs
}

// freshBinding returns the binding under the declaration that replaced b's.
func freshBinding(ctx context.Context, st store.Store, b *store.Binding) (*store.Binding, error) {
	m, err := registered(ctx, st, b.Subject, b.Connection.Connector)
	if err != nil {
		return nil, err
	}
	s := m.Stream(b.Stream.Name)
	if err := samePrimaryKey(b.Stream, s); err != nil {
		return nil, err
	}
	err = st.View(ctx, func(v store.View) error {
		b, err = v.Binding(b.Subject, b.Connection, s)
		return err
	})
	return b, err
}

// batchFailure returns the error of a failed batch (I-7), with how many lines were
// stored. Errors about the request or its token, and the end of the context, are not
// storage failures.
func batchFailure(err error, stored int) error {
	if isContext(err) {
		return err
	}
	done := "The records were not stored."
	if stored > 0 {
		done = fmt.Sprintf("Not all records could be stored: of the accepted lines the first %d were.", stored)
	}
	out := &pdpp.Error{Code: pdpp.CodeIngestStorage, Message: done + " Send the same call again.", RetryAfter: 1, Op: "ingest.Batch", Err: err}
	if cause := (*pdpp.Error)(nil); errors.As(err, &cause) {
		switch cause.Code {
		case pdpp.CodeNotFound, pdpp.CodeConnectionNotFound, pdpp.CodeInvalidToken:
			return pdpp.AddMessage(cause, done)
		case pdpp.CodeUnavailable: // such as a full disk: its message has the reason
			out.Message = cause.Message + " " + out.Message
			out.RetryAfter = max(out.RetryAfter, cause.RetryAfter)
		}
	}
	return out
}
