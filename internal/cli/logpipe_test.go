package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// gate is a pipe that is read when it is told to.
type gate struct {
	taken chan struct{} // a write has begun
	open  chan error    // it ends with this
	text  strings.Builder
}

func (g *gate) Write(p []byte) (int, error) {
	g.taken <- struct{}{}
	if err := <-g.open; err != nil {
		return 0, err
	}
	return g.text.Write(p)
}

// A log that nobody reads keeps nobody waiting; what was dropped is counted and told.
func TestLogPipe(t *testing.T) { // H-11
	g := &gate{taken: make(chan struct{}), open: make(chan error)}
	a := &app{Env: Env{Stderr: g}}
	dropped, stop := a.logAside("json")
	pipe := a.Stderr.(*logPipe)
	fmt.Fprintln(a.Stderr, "line 0")
	<-g.taken // and is not read
	for i := range logLines + 7 {
		fmt.Fprintln(a.Stderr, "line", i+1)
	}
	if n := dropped(); n != 7 {
		t.Errorf("%d lines dropped, want 7", n)
	}
	go func() {
		for range logLines + 1 { // the other lines, and the one about those that are missing
			g.open <- nil
			<-g.taken
		}
		g.open <- nil
	}()
	stop()
	<-pipe.written // stop waits a moment only
	text := g.text.String()
	if !strings.HasPrefix(text, "line 0\n{") || !strings.Contains(text, `"level":"WARN","msg":"log lines were dropped: they were not read in time","lines":7}`) {
		t.Errorf("the log begins with %.200q", text)
	}
	if !strings.HasSuffix(text, fmt.Sprintf("\nline %d\n", logLines)) || strings.Count(text, "dropped") != 1 {
		t.Errorf("the log ends with %.200q", text[max(0, len(text)-200):])
	}
	if a.Stderr != io.Writer(g) {
		t.Error("standard error is not what it was before")
	}
}

// The end of the reader is not the end of the process.
func TestLogPipeBroken(t *testing.T) { // H-11
	g := &gate{taken: make(chan struct{}), open: make(chan error)}
	a := &app{Env: Env{Stderr: g}}
	dropped, stop := a.logAside("text")
	pipe := a.Stderr.(*logPipe)
	go func() {
		for _, err := range []error{errors.New("broken pipe"), errors.New("broken pipe"), nil, nil} {
			<-g.taken
			g.open <- err
		}
	}()
	for i := range 3 {
		fmt.Fprintln(a.Stderr, "line", i)
	}
	stop()
	<-pipe.written
	if n := dropped(); n != 2 || !strings.HasPrefix(g.text.String(), "line 2\n") || !strings.Contains(g.text.String(), "lines=2") {
		t.Errorf("%d lines dropped, the log is %q", n, g.text.String())
	}
}
