package cli

import (
	"context"

	"pdpp"
	"pdpp/internal/ingest"
)

// ingestCommand is `pdpp ingest` (H-20).
type ingestCommand struct {
	loadFlags
	Label       string   `placeholder:"TEXT" help:"Label of the connection."`
	Stream      string   `placeholder:"NAME" help:"Lines are bare records of this stream."`
	StopOnError bool     `help:"Stop at the first rejected line and keep the lines before it."`
	DryRun      bool     `help:"Check everything, store nothing."`
	Blobs       string   `placeholder:"DIR" help:"Store the files below this folder first, as blobs of the connection."`
	Files       []string `arg:"" optional:"" name:"file" help:"Files of JSON lines, also .gz; - is standard input."`
}

// Run implements the command.
func (c *ingestCommand) Run(ctx context.Context, a *app) error {
	if len(c.Files) == 0 && c.Blobs == "" {
		return pdpp.Errorf(pdpp.CodeUsage, "There is nothing to store. Name files, or a folder with --blobs DIR.")
	}
	opts := ingest.Options{Stream: c.Stream, StopOnError: c.StopOnError, DryRun: c.DryRun}
	return load{
		loadFlags: c.loadFlags, label: c.Label, stream: c.Stream, files: c.Files, blobs: c.Blobs, dry: c.DryRun,
		run: func(ctx context.Context, r *ingest.Runner, s session, t target, files []ingest.File) (ingest.Summary, error) {
			return r.Run(ctx, s.owner.ID, t.connection, t.manifest, opts, files)
		},
	}.do(ctx, a)
}
