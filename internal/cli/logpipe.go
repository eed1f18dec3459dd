package cli

import (
	"io"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	// logLines is how many lines of the log wait for a reader before some are dropped.
	logLines = 1024
	// lastLines is how long an end waits for somebody to read the last lines.
	lastLines = time.Second
)

// logPipe is the log of a long-running command. Writing to it never waits and never
// fails: behind a pipe that nobody reads, lines wait in memory, and what is too much is
// dropped, counted, and told as soon as a line gets through again. Each Write is a line.
type logPipe struct {
	to      io.Writer
	format  string // of the line that tells of dropped ones
	lines   chan []byte
	dropped atomic.Int64 // since the start
	told    int64        // how many of them the log has told of
	written chan struct{}

	mu     sync.RWMutex // guards closed against Write
	closed bool
}

// logAside makes standard error of a long-running command a logPipe, until the returned
// function was called. The end of the pipe's reader does not end the process: it is an
// error of a write like any other.
func (a *app) logAside(format string) (dropped func() int64, stop func()) {
	signal.Ignore(syscall.SIGPIPE)
	p := &logPipe{to: a.Stderr, format: format, lines: make(chan []byte, logLines), written: make(chan struct{})}
	go p.run()
	direct := a.Stderr
	a.Stderr = p
	return p.dropped.Load, func() {
		a.Stderr = direct
		p.close()
	}
}

// Write implements io.Writer.
func (p *logPipe) Write(line []byte) (int, error) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return len(line), nil
	}
	select {
	case p.lines <- append([]byte(nil), line...):
	default:
		p.dropped.Add(1)
	}
	return len(line), nil
}

// run writes lines as fast as they are read.
func (p *logPipe) run() {
	defer close(p.written)
	for line := range p.lines {
		if _, err := p.to.Write(line); err != nil {
			p.dropped.Add(1) // nobody is there to read it, or the disk is full
			continue
		}
		if n := p.dropped.Load() - p.told; n > 0 {
			p.told += n
			newLogger(p.to, p.format, "warn").Warn("log lines were dropped: they were not read in time", "lines", n)
		}
	}
}

// close waits a moment for the last lines.
func (p *logPipe) close() {
	p.mu.Lock()
	p.closed = true
	close(p.lines)
	p.mu.Unlock()
	last := time.NewTimer(lastLines)
	defer last.Stop()
	select {
	case <-p.written:
	case <-last.C:
	}
}
