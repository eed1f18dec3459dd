package main

import (
	"fmt"
	"io"
	"os"
	"time"
)

// progress shows the current step in one line of a terminal, and nothing elsewhere.
type progress struct {
	w    io.Writer // nil: not a terminal
	last string
	at   time.Time
}

func newProgress(w io.Writer) *progress {
	f, ok := w.(*os.File)
	if !ok {
		return &progress{}
	}
	if info, err := f.Stat(); err != nil || info.Mode()&os.ModeCharDevice == 0 {
		return &progress{}
	}
	return &progress{w: w}
}

// say replaces the line, at most ten times a second.
func (p *progress) say(format string, args ...any) {
	if p.w == nil || format == p.last && time.Since(p.at) < 100*time.Millisecond {
		return
	}
	p.last, p.at = format, time.Now()
	fmt.Fprintf(p.w, "\r\x1b[K"+format, args...)
}

// clear removes the line.
func (p *progress) clear() {
	if p.w != nil {
		fmt.Fprint(p.w, "\r\x1b[K")
	}
}
