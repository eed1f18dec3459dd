package ingest

import (
	"context"
	"errors"
	"io"
	"sync/atomic"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// Runner stores the records of files, for operator commands.
type Runner struct {
	Store store.Store // not used by a dry run
	Clock func() time.Time
	// Progress, when not nil, is called often, in the goroutine that called Run
	// or Import.
	Progress func(Progress)
}

// Progress is how far a run is. Bytes are those of the files on disk.
type Progress struct {
	File     string
	Bytes    int64
	Total    int64 // 0 when unknown
	Records  int64 // committed or rejected
	Rejected int64
}

// Options are the choices of `pdpp ingest` (H-20).
type Options struct {
	Stream      string // lines are bare records of this stream; "" for messages (H-21)
	StopOnError bool   // stop at the first rejection, after committing the lines before it
	DryRun      bool   // check everything, store nothing
}

// Run stores files of lines in a connection. m is the connector's registered manifest;
// when it is replaced meanwhile, the run continues under the new one.
//
// Rejected lines are in the summary and not an error. An error is what ended the run
// early: a file that cannot be read, a storage failure, the context. What was committed
// until then stays and is in the summary; running the same files again is harmless
// (I-8).
func (r *Runner) Run(ctx context.Context, subject pdpp.SubjectID, conn pdpp.Connection, m *pdpp.Manifest,
	opts Options, files []File,
) (Summary, error) {
	run := r.newRun(subject, conn, m)
	run.stream, run.stopOnError, run.dry = opts.Stream, opts.StopOnError, opts.DryRun
	return run.do(ctx, files, func(_ string, text io.Reader) (format, error) {
		decode := run.decodeMessage
		if opts.Stream != "" {
			decode = run.decodeRecord
		}
		return format{&lineSource{newLines(text)}, decode}, nil
	})
}

// run is one call of Run or Import.
type run struct {
	*Runner
	subject     pdpp.SubjectID
	conn        pdpp.Connection
	manifest    *pdpp.Manifest
	stream      string // the only stream; "" if each line names its own
	stopOnError bool
	dry         bool

	targets atomic.Pointer[targets]
	summary Summary
	pending *batch
	keys    map[string]*keys // of the records of each stream
	total   int64
	last    Progress
}

func (r *Runner) newRun(subject pdpp.SubjectID, conn pdpp.Connection, m *pdpp.Manifest) *run {
	run := &run{Runner: r, subject: subject, conn: conn, manifest: m, summary: newSummary(), pending: newBatch(), keys: map[string]*keys{}}
	run.summary.ConnectionID, run.summary.ConnectorKey = conn.ID, conn.Connector
	return run
}

// errStop ends a run at a rejection.
var errStop = errors.New("stopped at a rejection")

func (r *run) do(ctx context.Context, files []File, open func(string, io.Reader) (format, error)) (Summary, error) {
	start := r.Clock()
	err := r.ready(ctx, files)
	if err == nil {
		p := &pipeline{files: files, open: open, clock: r.Clock}
		err = p.run(ctx, func(c *chunk) error { return r.take(ctx, c) })
	}
	if err == nil {
		err = r.commit(ctx)
	}
	if errors.Is(err, errStop) {
		err = nil
	}
	if err == nil {
		r.report()
	}
	for stream, k := range r.keys {
		r.summary.count(stream, Counts{Superseded: k.superseded()})
	}
	r.summary.DurationMS = r.Clock().Sub(start).Milliseconds()
	return r.summary, err
}

// ready checks streams, files and bindings before anything is stored.
func (r *run) ready(ctx context.Context, files []File) error {
	if r.stream != "" && r.manifest.Stream(r.stream) == nil {
		return Undeclared(r.stream, r.manifest)
	}
	for _, f := range files {
		n, err := f.sizeOf()
		if err != nil {
			return err
		}
		r.total += n
	}
	if r.dry {
		r.targets.Store(&targets{manifest: r.manifest})
		return nil
	}
	return r.bind(ctx, r.manifest)
}

// Undeclared returns the error for a stream that the manifest does not declare.
func Undeclared(stream string, m *pdpp.Manifest) error {
	e := pdpp.Errorf(pdpp.CodeInvalidInput, "The manifest declares no stream %q. It has: %s.", stream, streamNames(m))
	e.Stream = stream
	return e
}

// take adds the items of a chunk to the pending batch and commits it when it is full. A
// batch ends only before a record, so that a STATE shares the transaction of the records
// before it (H-21).
func (r *run) take(ctx context.Context, c *chunk) error {
	for i := range c.items {
		it := &c.items[i]
		if it.kind == recordItem && r.pending.full(it.size) {
			if err := r.commit(ctx); err != nil {
				return err
			}
		}
		if it.kind == rejectedItem && it.stream == "" {
			it.stream = r.stream // refused before it was decoded
		}
		r.pending.add(c.file, it)
		if it.kind == rejectedItem && r.stopOnError {
			if err := r.commit(ctx); err != nil {
				return err
			}
			return errStop
		}
	}
	r.last.File, r.last.Bytes = c.file, c.done+c.offset
	r.report()
	if c.err != nil && !isContext(c.err) {
		return r.commit(ctx)
	}
	return nil
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

func (r *run) report() {
	if r.Progress == nil {
		return
	}
	r.last.Total = r.total
	r.last.Records, r.last.Rejected = r.summary.Records.Total(), r.summary.Records.Rejected
	r.Progress(r.last)
}

// lineSource returns lines as units.
type lineSource struct{ *lineReader }

func (s *lineSource) next() (unit, error) {
	if !s.Next() {
		if err := s.Err(); err != nil {
			return unit{}, err
		}
		return unit{}, io.EOF
	}
	u := unit{line: s.Number(), text: s.Line()}
	if s.TooLong() {
		u.bad = tooLong()
	}
	return u, nil
}

func (r *run) decodeRecord(a *arena, u unit, now time.Time) item {
	t := r.targets.Load()
	in, bad := parseRecord(a, u.text, t.manifest.Stream(r.stream), now)
	return r.recordItem(t, r.stream, in, bad)
}

func (r *run) decodeMessage(a *arena, u unit, now time.Time) item {
	t := r.targets.Load()
	msg, bad := parseMessage(a, u.text, t.manifest, now)
	stream := ""
	if msg.stream != nil {
		stream = msg.stream.Name
	}
	switch {
	case bad != nil && msg.kind == stateMessage:
		return item{kind: rejectedItem, bad: bad} // no record of the stream
	case msg.kind == stateMessage:
		return item{kind: stateItem, stream: stream, cursor: msg.cursor}
	case msg.kind == otherMessage:
		return item{kind: skippedItem}
	}
	return r.recordItem(t, stream, msg.input, bad)
}

// recordItem prepares a record for the store.
func (r *run) recordItem(t *targets, stream string, in store.Input, bad *Rejection) item {
	if bad == noData {
		bad = badRecord("The record has no data; for plain rows use the command import.")
	}
	if bad != nil {
		return item{kind: rejectedItem, stream: stream, bad: bad}
	}
	it := item{kind: recordItem, stream: stream, input: in}
	if !r.dry {
		it.doc = store.Prepare(t.bindings[stream], in)
	}
	return it
}
