package cli

import (
	"context"

	"pdpp/internal/ingest"
)

// ingestCommand is `pdpp ingest` (H-20).
type ingestCommand struct {
	Manifest    string   `placeholder:"FILE" help:"Declaration of the source; may be left out once it is connected."`
	Connection  string   `required:"" placeholder:"NAME|ID" help:"Connection the records belong to; a new name makes one."`
	Label       string   `placeholder:"TEXT" help:"What to call the connection."`
	Stream      string   `placeholder:"NAME" help:"Lines are bare records of this stream."`
	StopOnError bool     `help:"Stop at the first rejected line, keeping what precedes it."`
	DryRun      bool     `help:"Check everything, store nothing."`
	Files       []string `arg:"" name:"file" help:"Files of JSON lines, .gz too; - is standard input."`
	jsonFlag
}

// Run implements the command.
func (c *ingestCommand) Run(ctx context.Context, a *app) error {
	m, err := readManifest(c.Manifest)
	if err != nil {
		return err
	}
	opts := ingest.Options{Stream: c.Stream, StopOnError: c.StopOnError, DryRun: c.DryRun}
	return load{
		source: source{manifest: m, connection: c.Connection, label: c.Label}, stream: c.Stream, files: c.Files, dry: c.DryRun, json: c.JSON,
		run: func(ctx context.Context, r *ingest.Runner, s session, t target, files []ingest.File) (ingest.Summary, error) {
			return r.Run(ctx, s.owner.ID, t.connection, t.manifest, opts, files)
		},
	}.do(ctx, a)
}
