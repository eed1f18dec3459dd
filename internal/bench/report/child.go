package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"

	"pdpp/internal/bench"
)

// serveFlag makes this program a server. A separate process has its own memory to measure.
const serveFlag = "serve-store"

// serveChild serves until its standard input ends, which it does when the parent exits for
// any reason. It prints one line with its address.
func serveChild(ctx context.Context, dir string, in io.Reader, out io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, in) // an error ends it too
		cancel()
	}()
	return bench.Serve(ctx, dir, func(addr string) { fmt.Fprintln(out, addr) })
}

// child is a server process.
type child struct {
	addr string
	cmd  *exec.Cmd
}

func (c *child) pid() int { return c.cmd.Process.Pid }

// withChild runs a server of the store in dir while it calls fn.
func withChild(ctx context.Context, dir string, fn func(*child) error) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, self, "-"+serveFlag, dir)
	cmd.Stderr = os.Stderr
	in, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	addr, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		err = fmt.Errorf("the server did not start: %w", err)
	} else {
		err = fn(&child{addr: strings.TrimSpace(addr), cmd: cmd})
	}
	return errors.Join(err, in.Close(), cmd.Wait())
}

// build builds the program to measure, as `make build` does.
func build(ctx context.Context, dir string) (string, error) {
	binary := filepath.Join(dir, "pdpp")
	if runtime.GOOS == "windows" {
		binary += ".exe"
	}
	cmd := exec.CommandContext(ctx, "go", "build", "-trimpath", "-o", binary, "pdpp/cmd/pdpp")
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return binary, nil
}
