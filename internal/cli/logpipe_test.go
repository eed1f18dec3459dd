package cli

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// blockingWriter is a pipe whose writes block until the test ends them.
type blockingWriter struct {
	begun chan struct{} // a write has begun
	end   chan error    // ends the write with this error
	text  strings.Builder
}

func newBlockingWriter() *blockingWriter {
	return &blockingWriter{begun: make(chan struct{}), end: make(chan error)}
}

func (w *blockingWriter) Write(p []byte) (int, error) {
	w.begun <- struct{}{}
	if err := <-w.end; err != nil {
		return 0, err
	}
	return w.text.Write(p)
}

// A log that is not read blocks no writer. Dropped lines are counted and reported.
func TestLogPipe(t *testing.T) { // H-11
	w := newBlockingWriter()
	a := &app{Env: Env{Stderr: w}}
	dropped, stop := a.startLogPipe("json")
	pipe := a.Stderr.(*logPipe)
	fmt.Fprintln(a.Stderr, "line 0")
	<-w.begun // the write blocks
	for i := range logLines + 7 {
		fmt.Fprintln(a.Stderr, "line", i+1)
	}
	if n := dropped(); n != 7 {
		t.Errorf("%d lines dropped, want 7", n)
	}
	go func() {
		for range logLines + 1 { // the other lines, and the report of the dropped ones
			w.end <- nil
			<-w.begun
		}
		w.end <- nil
	}()
	stop()
	<-pipe.written // stop waits only for a second
	text := w.text.String()
	if !strings.HasPrefix(text, "line 0\n{") || !strings.Contains(text, `"level":"WARN","msg":"log lines were dropped: they were not read in time","lines":7}`) {
		t.Errorf("the log begins with %.200q", text)
	}
	if !strings.HasSuffix(text, fmt.Sprintf("\nline %d\n", logLines)) || strings.Count(text, "dropped") != 1 {
		t.Errorf("the log ends with %.200q", text[max(0, len(text)-200):])
	}
	if a.Stderr != io.Writer(w) {
		t.Error("standard error was not restored")
	}
}

// The process continues when the reader of the log ends.
func TestLogPipeBroken(t *testing.T) { // H-11
	w := newBlockingWriter()
	a := &app{Env: Env{Stderr: w}}
	dropped, stop := a.startLogPipe("text")
	pipe := a.Stderr.(*logPipe)
	go func() {
		for _, err := range []error{errors.New("broken pipe"), errors.New("broken pipe"), nil, nil} {
			<-w.begun
			w.end <- err
		}
	}()
	for i := range 3 {
		fmt.Fprintln(a.Stderr, "line", i)
	}
	stop()
	<-pipe.written
	if n := dropped(); n != 2 || !strings.HasPrefix(w.text.String(), "line 2\n") || !strings.Contains(w.text.String(), "lines=2") {
		t.Errorf("%d lines dropped, the log is %q", n, w.text.String())
	}
}
