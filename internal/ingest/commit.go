package ingest

import (
	"context"
	"errors"
	"slices"

	"pdpp"
	"pdpp/internal/store"
)

// A batch is committed when it has this many records or bytes (H-21).
const (
	commitRecords = 1000
	commitBytes   = 8 << 20
)

// staleTries is how often a batch is prepared, when the manifest is replaced each time.
const staleTries = 5

// batch contains what the next commit will write.
type batch struct {
	tally  Summary // all but the outcome of the groups
	groups []*group
	count  int
	bytes  int
}

// group contains the records of one stream in a batch, in the order of the input. A key
// belongs to one stream, so the order per key is preserved.
type group struct {
	stream   string
	inputs   []store.Input
	docs     []store.Document
	outcomes []store.Outcome // of the docs that are committed, the first ones
}

func newBatch() *batch { return &batch{tally: newSummary()} }

// full reports whether a record of that size belongs to the next batch.
func (b *batch) full(size int) bool {
	return b.count >= commitRecords || b.count > 0 && b.bytes+size > commitBytes
}

func (b *batch) add(file string, it *item) {
	b.tally.Lines++
	switch it.kind {
	case stateItem:
		b.tally.State[it.stream] = it.cursor
	case skippedItem:
		b.tally.SkippedMessages++
	case rejectedItem:
		b.tally.reject(it.stream, LineRejection{File: file, Line: it.line, Code: it.bad.Code, Message: it.bad.Message})
	case recordItem:
		b.count++
		b.bytes += it.size
		g := b.group(it.stream)
		g.inputs = append(g.inputs, it.input)
		g.docs = append(g.docs, it.doc)
	}
}

func (b *batch) group(stream string) *group {
	for _, g := range b.groups {
		if g.stream == stream {
			return g
		}
	}
	g := &group{stream: stream}
	b.groups = append(b.groups, g)
	return g
}

// countPlanned counts the records of a dry run.
func (b *batch) countPlanned() {
	for _, g := range b.groups {
		var c Counts
		for _, in := range g.inputs {
			if in.Delete {
				c.Deleted++
			} else {
				c.Accepted++
			}
		}
		b.tally.count(g.stream, c)
	}
}

func (g *group) counts() (c Counts) {
	for _, o := range g.outcomes {
		switch o {
		case store.Stored:
			c.Accepted++
		case store.Deleted:
			c.Deleted++
		case store.Unchanged, store.Absent:
			c.Unchanged++
		}
	}
	return c
}

// commit writes the pending batch and counts it. After a failure it counts the records
// that were committed.
func (r *run) commit(ctx context.Context) error {
	b := r.pending
	if r.dry {
		b.countPlanned()
		for _, g := range b.groups {
			r.countKeys(g, len(g.inputs))
		}
	} else {
		err := r.write(ctx, b)
		for _, g := range b.groups {
			r.summary.count(g.stream, g.counts())
			r.countKeys(g, len(g.outcomes))
		}
		if err != nil {
			return err
		}
	}
	r.summary.merge(&b.tally)
	r.pending = newBatch()
	return nil
}

// countKeys adds the keys of the first records of a group.
func (r *run) countKeys(g *group, records int) {
	if r.keys[g.stream] == nil {
		r.keys[g.stream] = newKeys()
	}
	for i := range records {
		r.keys[g.stream].add(g.inputs[i].ID)
	}
}

// write stores a batch in slices. Its state is written with the last slice, after the
// records it covers (H-21).
func (r *run) write(ctx context.Context, b *batch) error {
	for try := 1; len(b.groups) > 0 || len(b.tally.State) > 0; {
		done, err := r.writeSlice(ctx, b)
		switch {
		case errors.Is(err, store.ErrStale) && try < staleTries:
			try++
			err = r.rebind(ctx)
		case err == nil && done:
			return nil
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// writeSlice commits as much as a slice has time for; done reports whether that was
// all.
func (r *run) writeSlice(ctx context.Context, b *batch) (done bool, err error) {
	t := r.targets.Load()
	for _, g := range b.groups {
		if err := g.prepare(t.bindings[g.stream]); err != nil {
			return false, err
		}
	}
	now := r.Clock()
	outcomes := make([][]store.Outcome, len(b.groups))
	err = r.Store.Bulk(ctx, func(tx store.Tx) (err error) {
		for i, g := range b.groups {
			left := g.docs[len(g.outcomes):]
			if len(left) == 0 {
				continue
			}
			if outcomes[i], err = tx.Ingest(t.bindings[g.stream], left, now); err != nil {
				return err
			}
			if len(outcomes[i]) < len(left) {
				return nil
			}
		}
		done = true
		if len(b.tally.State) == 0 {
			return nil
		}
		return tx.PutState(r.subject, r.conn.ID, b.tally.State, now)
	})
	if err != nil {
		return false, err
	}
	for i, g := range b.groups {
		g.outcomes = append(g.outcomes, outcomes[i]...)
	}
	return done, nil
}

// prepare prepares documents again that were made under an older declaration.
func (g *group) prepare(b *store.Binding) error {
	if b == nil {
		e := pdpp.Errorf(pdpp.CodeInvalidInput, "The manifest was replaced and no longer declares the stream %q.", g.stream)
		e.Stream = g.stream
		return e
	}
	for i := len(g.outcomes); i < len(g.docs); i++ {
		if g.docs[i].Layout != b.Layout {
			g.docs[i] = store.Prepare(b, g.inputs[i])
		}
	}
	return nil
}

// targets are the bindings of a connection. They are replaced together when the manifest
// is replaced.
type targets struct {
	manifest *pdpp.Manifest
	bindings map[string]*store.Binding
}

// bind finds the bindings of the streams that lines may name.
func (r *run) bind(ctx context.Context, m *pdpp.Manifest) error {
	t := &targets{manifest: m, bindings: make(map[string]*store.Binding, len(m.Streams))}
	err := r.Store.View(ctx, func(v store.View) error {
		for _, s := range m.Streams {
			if r.stream != "" && s.Name != r.stream {
				continue
			}
			b, err := v.Binding(r.subject, r.conn, s)
			if err != nil {
				return err
			}
			t.bindings[s.Name] = b
		}
		return nil
	})
	if err == nil {
		r.targets.Store(t)
	}
	return err
}

// rebind switches to the manifest that replaced the run's. Lines that were checked
// against another primary key cannot be kept, so a changed key ends the run. A removed
// stream ends it only when records of it are pending.
func (r *run) rebind(ctx context.Context) error {
	m, err := registered(ctx, r.Store, r.subject, r.conn.Connector)
	if err != nil {
		return err
	}
	for _, old := range r.targets.Load().manifest.Streams {
		if m.Stream(old.Name) == nil && r.stream == "" || r.stream != "" && old.Name != r.stream {
			continue
		}
		if err := samePrimaryKey(old, m.Stream(old.Name)); err != nil {
			return err
		}
	}
	return r.bind(ctx, m)
}

// registered reads the manifest of a connector from the store.
func registered(ctx context.Context, st store.Store, subject pdpp.SubjectID, key pdpp.ConnectorKey) (*pdpp.Manifest, error) {
	var m *pdpp.Manifest
	err := st.View(ctx, func(v store.View) error {
		catalog, err := v.Catalog(subject)
		if err != nil {
			return err
		}
		if m = catalog.Manifest(key); m == nil {
			return pdpp.Errorf(pdpp.CodeNotFound, "The connector has no registered manifest.")
		}
		return nil
	})
	return m, err
}

func samePrimaryKey(old, now *pdpp.Stream) error {
	switch {
	case now == nil:
		return pdpp.Errorf(pdpp.CodeNotFound, "The stream %q is no longer declared.", old.Name)
	case !slices.Equal(old.PrimaryKey, now.PrimaryKey):
		return pdpp.Errorf(pdpp.CodeInvalidInput, "The primary key of %q was changed while records came in; start again.", old.Name)
	}
	return nil
}
