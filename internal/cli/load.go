package cli

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/ingest"
	"pdpp/internal/store"
)

// loadFlags are the common flags of `pdpp ingest` and `pdpp import`.
type loadFlags struct {
	Manifest   string `placeholder:"FILE" help:"Manifest of the source; optional once the connection exists."`
	Connection string `required:"" placeholder:"NAME|ID" help:"Connection of the records; a new name creates one."`
	jsonFlag
}

// load is the common part of `pdpp ingest` and `pdpp import`.
type load struct {
	loadFlags
	label  string
	source source // set by do
	stream string // "": each line names its stream
	files  []string
	blobs  string // a folder of blobs; "": none
	dry    bool   // check everything, store nothing
	run    func(ctx context.Context, r *ingest.Runner, s session, t target, files []ingest.File) (ingest.Summary, error)
}

// do stores the files and prints a summary (H-20 to H-23). Errors that can be found in
// advance are returned before the first change.
func (l load) do(ctx context.Context, a *app) error {
	m, err := a.readManifest(l.Manifest)
	if err != nil {
		return err
	}
	l.source = source{manifest: m, connection: l.Connection, label: l.label}
	in, err := l.inputs(a)
	if err != nil {
		return err
	}
	if l.dry {
		t, err := a.findTarget(ctx, l.source)
		if err == nil {
			err = l.checkStream(t.manifest)
		}
		if err != nil {
			return err
		}
		return l.storeAll(ctx, a, session{}, t, in)
	}
	if l.source.manifest != nil {
		err = l.checkStream(l.source.manifest)
	} else {
		err = a.haveStore() // without a manifest nothing can be created
	}
	if err != nil {
		return err
	}
	return a.withOwner(ctx, func(s session) error {
		t, err := a.register(ctx, s, l.source)
		if err != nil {
			return err
		}
		err = l.storeAll(ctx, a, s, t, in)
		if err == nil || errors.Is(err, errReported) {
			// A running server does this too, but none may be running.
			err = errors.Join(err, store.Erase(ctx, s.store))
		}
		return err
	})
}

func (l load) checkStream(m *pdpp.Manifest) error {
	if l.stream == "" || m.Stream(l.stream) != nil {
		return nil
	}
	return ingest.Undeclared(l.stream, m)
}

// inputs are the files of a load.
type inputs struct {
	files []ingest.File
	blobs []blobInput
}

func (l load) inputs(a *app) (in inputs, err error) {
	if in.files, err = a.inputs(l.files); err != nil {
		return in, err
	}
	data, err := a.dataFolder()
	if err != nil {
		return in, err
	}
	in.blobs, err = blobInputs(l.blobs, data)
	return in, err
}

// inputs checks that the files can be read, before anything is stored.
func (a *app) inputs(paths []string) ([]ingest.File, error) {
	var out []ingest.File
	for i, path := range paths {
		if path == "-" {
			if slices.Contains(paths[:i], "-") {
				return nil, pdpp.Errorf(pdpp.CodeUsage, "Standard input can be read only once. Name - once.")
			}
			out = append(out, ingest.File{Name: "-", Reader: a.Stdin})
			continue
		}
		info, err := os.Stat(path)
		if err == nil && info.Mode().IsRegular() {
			var f *os.File
			if f, err = os.Open(path); err == nil {
				err = f.Close()
			}
		}
		if err != nil {
			return nil, missing(path, err)
		}
		if info.IsDir() {
			return nil, pdpp.Errorf(pdpp.CodeInputMissing, "%s is a folder. Name the files in it.", path)
		}
		out = append(out, ingest.File{Name: path})
	}
	return out, nil
}

// storeAll stores blobs and records, or only checks them in a dry run, and prints a
// summary.
func (l load) storeAll(ctx context.Context, a *app, s session, t target, in inputs) error {
	stored, err := l.putBlobs(ctx, a, s, t, in.blobs)
	if err != nil {
		_, dropErr := l.dropIfEmpty(ctx, s, t)
		return errors.Join(err, dropErr)
	}
	b := a.newBar()
	runner := &ingest.Runner{Store: s.store, Clock: a.Now, Progress: func(p ingest.Progress) {
		b.show(step{name: p.File, done: p.Bytes, total: p.Total, records: p.Records, wrong: p.Rejected})
	}}
	summary, err := l.run(ctx, runner, s, t, in.files)
	b.clear()
	if l.blobs != "" {
		summary.ListBlobs(stored)
	}
	summary.CreatedConnection = t.isNew && !l.dry
	if err != nil || summary.Records.Rejected > 0 && summary.Records.Accepted == 0 {
		dropped, dropErr := l.dropIfEmpty(ctx, s, t)
		if dropped {
			summary.CreatedConnection = false
			a.note("pdpp: nothing was stored; connection %s was not created", t.connection.Name)
		}
		err = errors.Join(err, dropErr)
	}
	for _, w := range summary.Warnings {
		a.note("pdpp: warning: %s", w)
	}
	if err != nil {
		if summary.Records.Total() > 0 {
			a.note("%s", strings.TrimSuffix(summaryText(summary, t, l.dry), "\n"))
		}
		return err
	}
	if l.JSON {
		err = a.printJSON(summary)
	} else {
		a.noteRejections(summary)
		err = a.print(summaryText(summary, t, l.dry))
	}
	if err == nil && summary.Records.Rejected > 0 {
		return errReported
	}
	return err
}

// dropIfEmpty removes the connection that this command created if nothing was stored in
// it, so that a failed first attempt leaves no empty connection.
func (l load) dropIfEmpty(ctx context.Context, s session, t target) (dropped bool, err error) {
	if l.dry || !t.isNew {
		return false, nil
	}
	err = s.store.Update(context.WithoutCancel(ctx), func(tx store.Tx) (err error) {
		dropped, err = tx.DropConnection(s.owner.ID, t.connection.ID)
		return err
	})
	return dropped, err
}

func (a *app) noteRejections(s ingest.Summary) {
	for _, r := range s.Rejections {
		a.note("%s:%d: %s: %s", plain(r.File), r.Line, r.Code, r.Message)
	}
	if more := s.Records.Rejected - int64(len(s.Rejections)); s.RejectionsTruncated && more > 0 {
		a.note("… and %s more", thousands(more))
	}
}

// summaryText formats the summary of H-22 for people.
func summaryText(s ingest.Summary, t target, dry bool) string {
	var b strings.Builder
	switch {
	case dry:
		b.WriteString("Dry run: nothing was stored.\n")
	case s.CreatedConnection:
		fmt.Fprintf(&b, "Created connection %s (%s, %s).\n", t.connection.Name, s.ConnectorKey, s.ConnectionID)
	default:
		fmt.Fprintf(&b, "Connection %s (%s, %s).\n", t.connection.Name, s.ConnectorKey, s.ConnectionID)
	}
	b.WriteString(blobText(s))
	rows := [][]string{{"STREAM", "ACCEPTED", "UNCHANGED", "DELETED", "REJECTED"}}
	for _, name := range slices.Sorted(maps.Keys(s.Streams)) {
		rows = append(rows, countRow(name, *s.Streams[name]))
	}
	rows = append(rows, countRow("total", s.Records))
	b.WriteString(table(rows...))
	if n := s.Records.Superseded; n > 0 {
		fmt.Fprintf(&b, "%s of them superseded by a later record with the same key\n", thousands(n))
	}
	fmt.Fprintf(&b, "%s", count(s.Lines, "line", "lines"))
	if s.SkippedMessages > 0 {
		fmt.Fprintf(&b, ", %s skipped", count(s.SkippedMessages, "message", "messages"))
	}
	if len(s.State) > 0 {
		fmt.Fprintf(&b, ", state of %s", strings.Join(slices.Sorted(maps.Keys(s.State)), ", "))
	}
	fmt.Fprintf(&b, ", %d ms\n", s.DurationMS)
	return b.String()
}

func countRow(name string, c ingest.Counts) []string {
	return []string{name, thousands(c.Accepted), thousands(c.Unchanged), thousands(c.Deleted), thousands(c.Rejected)}
}
