package cli

import (
	"context"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/ingest"
)

// importCommand is `pdpp import` (H-23).
type importCommand struct {
	loadFlags
	Stream    string   `required:"" placeholder:"NAME" help:"Stream of the rows."`
	Format    string   `enum:"auto,csv,json,jsonl" default:"auto" help:"csv (with a header), json (an array), jsonl, or auto."`
	Map       []string `sep:"none" placeholder:"FIELD=COLUMN" help:"Column of a field, if its name differs; repeatable."`
	EmittedAt string   `placeholder:"TIME" help:"Time at which the source emitted the rows (default: now)."`
	Files     []string `arg:"" name:"file" help:"Files of rows, also .gz; - is standard input."`
}

// Run implements the command.
func (c *importCommand) Run(ctx context.Context, a *app) error {
	opts, err := c.options()
	if err != nil {
		return err
	}
	return load{
		loadFlags: c.loadFlags, stream: c.Stream, files: c.Files,
		run: func(ctx context.Context, r *ingest.Runner, s session, t target, files []ingest.File) (ingest.Summary, error) {
			return r.Import(ctx, s.owner.ID, t.connection, t.manifest, opts, files)
		},
	}.do(ctx, a)
}

func (c *importCommand) options() (ingest.ImportOptions, error) {
	opts := ingest.ImportOptions{Stream: c.Stream, Format: ingest.Format(c.Format), Map: map[string]string{}}
	for _, pair := range c.Map {
		field, column, ok := strings.Cut(pair, "=")
		if _, twice := opts.Map[field]; !ok || field == "" || column == "" || twice {
			return opts, pdpp.Errorf(pdpp.CodeUsage, "--map does not accept %q: write FIELD=COLUMN, each field once.", pair)
		}
		opts.Map[field] = column
	}
	var err error
	opts.EmittedAt, err = c.emittedAt()
	return opts, err
}

func (c *importCommand) emittedAt() (time.Time, error) {
	if c.EmittedAt == "" {
		return time.Time{}, nil
	}
	t, ok := pdpp.ParseTime(c.EmittedAt)
	if !ok {
		return t, pdpp.Errorf(pdpp.CodeUsage, "--emitted-at does not accept %q: write a time such as 2026-05-01T08:00:00Z.", c.EmittedAt)
	}
	return t, nil
}
