// Command pdpp is a personal data server and its tools.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"pdpp/internal/cli"
)

const exitInterrupted = 130

func main() {
	// Standard output contains only answers, and only MCP messages for the adapter: no
	// library may write to it (MS-268).
	stdout := os.Stdout
	os.Stdout = os.Stderr
	ctx, stop := interruptible()
	code := cli.Main(ctx, cli.Env{
		Program: os.Args[0],
		Args:    os.Args[1:],
		Stdin:   os.Stdin,
		Stdout:  stdout,
		Stderr:  os.Stderr,
		Getenv:  os.Getenv,
		Environ: os.Environ,
		Now:     time.Now,
	})
	stop()
	os.Exit(code)
}

// interruptible returns a context that ends with the first SIGINT or SIGTERM, for a
// graceful shutdown. The second signal ends the process at once (H-11).
func interruptible() (context.Context, func()) {
	ctx, cancel := context.WithCancel(context.Background())
	signals := make(chan os.Signal, 2)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		select {
		case <-signals:
		case <-ctx.Done():
			return
		}
		cancel()
		<-signals
		os.Exit(exitInterrupted)
	}()
	return ctx, cancel
}
