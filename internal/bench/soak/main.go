package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"sync"
	"syscall"
	"time"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil && !errors.Is(err, flag.ErrHelp) {
		fmt.Fprintln(os.Stderr, "soak:", err)
		stop()
		os.Exit(1)
	}
}

// options are the flags.
type options struct {
	program   string
	length    time.Duration
	records   int
	killEvery time.Duration
	memory    int64         // limit for the server, in MB
	revoke    time.Duration // limit for a revocation
}

func parse(args []string) (options, error) {
	var o options
	f := flag.NewFlagSet("soak", flag.ContinueOnError)
	f.StringVar(&o.program, "program", "bin/pdpp", "program to run")
	f.DurationVar(&o.length, "for", 10*time.Minute, "duration of the load")
	f.IntVar(&o.records, "records", 20_000, "records before the load begins")
	f.DurationVar(&o.killEvery, "kill", time.Minute, "interval between kills of the server")
	f.Int64Var(&o.memory, "memory", 512, "limit for the memory of the server, in MB")
	f.DurationVar(&o.revoke, "revoke", 2*time.Second, "limit for the time of a revocation")
	if err := f.Parse(args); err != nil {
		return o, err
	}
	if f.NArg() > 0 {
		return o, fmt.Errorf("unexpected argument %q", f.Arg(0))
	}
	return o, nil
}

func run(ctx context.Context, args []string) (err error) {
	o, err := parse(args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "pdpp-soak-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	report := newReport(o)
	fmt.Println("creating the data")
	w, err := prepare(ctx, o, dir)
	if err != nil {
		return err
	}
	server, err := startServer(ctx, w, report)
	if err != nil {
		return err
	}
	defer server.kill()

	fmt.Printf("load for %v\n", o.length)
	loaded, cancel := context.WithTimeout(ctx, o.length)
	defer cancel()
	var acked acknowledged
	apply(loaded, o, w, server, report, &acked)
	if err := ctx.Err(); err != nil {
		return err
	}
	fmt.Println("checking all acknowledged records")
	if err := acked.verify(ctx, w, server); err != nil {
		report.problem("%v", err)
	}
	server.measure()
	return report.print()
}

// apply runs every kind of load until ctx ends, and prints the progress.
func apply(ctx context.Context, o options, w *world, s *server, r *report, acked *acknowledged) {
	var running sync.WaitGroup
	start := func(n int, load func(ctx context.Context, i int)) {
		for i := range n {
			running.Go(func() {
				for ctx.Err() == nil {
					load(ctx, i)
				}
			})
		}
	}
	c := &client{world: w, server: s, report: r}
	start(6, c.readAny)
	start(2, c.searchLongTexts)
	start(48, c.readPageSlowly)
	start(8, c.readExpansionSlowly)
	start(2, func(ctx context.Context, i int) { c.ingestBatch(ctx, i, acked) })
	start(2, c.ingestLarge)
	start(1, c.fillAndDelete)
	start(1, c.changeManifest)
	start(1, c.revoke)
	start(1, func(ctx context.Context, _ int) {
		if pause(ctx, o.killEvery) {
			s.restart(ctx)
		}
	})
	start(1, func(ctx context.Context, _ int) {
		if pause(ctx, 30*time.Second) {
			s.measure()
			fmt.Println(r.line())
		}
	})
	running.Wait()
}

// pause waits for d. It returns false if ctx ends before.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
