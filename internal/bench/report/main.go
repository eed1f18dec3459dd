// Command report measures the program and prints a table of ratios: `make bench`.
// Package bench describes the measurements, docs/performance.md has results.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"time"

	"pdpp/internal/bench"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:], os.Stdout, os.Stderr); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "report:", err)
		stop()
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	records  int
	quick    bool
	only     []string // steps; none: all
	asJSON   bool
	profiles string
	rounds   int
	round    time.Duration
	serve    string // the folder to serve, in a child process
}

var steps = []string{"ingest", "http", "growth", "memory", "window", "changes", "mcp", "hosted", "oauth"}

func parse(args []string, errOut io.Writer) (options, error) {
	var o options
	f := flag.NewFlagSet("report", flag.ContinueOnError)
	f.SetOutput(errOut)
	f.IntVar(&o.records, "records", 1_000_000, "records of the large store")
	f.BoolVar(&o.quick, "quick", false, "a short run: 100,000 records, fewer and shorter rounds")
	f.Func("only", "measure only ingest, http, growth, memory, window, changes, mcp, hosted or oauth; separate several with commas", func(s string) error {
		for name := range strings.SplitSeq(s, ",") {
			if !slices.Contains(steps, name) {
				return fmt.Errorf("unknown measurement %q; choose from %q", name, steps)
			}
			o.only = append(o.only, name)
		}
		return nil
	})
	f.BoolVar(&o.asJSON, "json", false, "print JSON")
	f.StringVar(&o.profiles, "cpuprofile", "", "write a CPU profile per measurement to this folder")
	f.IntVar(&o.rounds, "rounds", 5, "rounds of each side of a ratio")
	f.DurationVar(&o.round, "round", 3*time.Second, "length of a round of requests")
	f.StringVar(&o.serve, serveFlag, "", "serve the store in this folder (used by the report itself)")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if o.quick {
		o.records, o.rounds, o.round = min(o.records, 100_000), min(o.rounds, 3), min(o.round, time.Second)
	}
	switch {
	case f.NArg() > 0:
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	case o.records < 100 || o.rounds < 1:
		return o, errors.New("-records must be at least 100 and -rounds at least 1")
	}
	return o, nil
}

func run(ctx context.Context, args []string, out, errOut io.Writer) (err error) {
	o, err := parse(args, errOut)
	if err != nil {
		return err
	}
	if o.serve != "" {
		return serveChild(ctx, o.serve, os.Stdin, out)
	}
	if o.profiles != "" {
		if err := os.MkdirAll(o.profiles, 0o755); err != nil {
			return err
		}
	}
	dir, err := os.MkdirTemp("", "pdpp-bench-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	p := newProgress(errOut)
	m := newMeasurement(o, dir, p)
	err = m.all(ctx)
	p.clear()
	if err != nil {
		return err
	}
	return write(out, m.report, o.asJSON)
}

func write(out io.Writer, r *bench.Report, asJSON bool) error {
	if !asJSON {
		return r.Print(out)
	}
	e := json.NewEncoder(out)
	e.SetIndent("", "  ")
	return e.Encode(r)
}
