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
	// logLines is the number of lines in the queue of a logPipe.
	logLines = 1024
	// closeWait bounds how long close waits for the last lines to be written.
	closeWait = time.Second
)

// logPipe is the log of a long-running command. A Write, which is one line, never blocks
// and never fails: while the other end of the pipe is not read, lines are queued in
// memory. Lines beyond logLines are dropped and counted, and the log reports the number
// once a line can be written again.
type logPipe struct {
	to      io.Writer
	format  string // of the line that reports dropped ones
	lines   chan []byte
	dropped atomic.Int64 // since the start
	counted int64        // dropped lines that the log has reported
	written chan struct{}

	mu     sync.RWMutex // guards closed against Write
	closed bool
}

// startLogPipe replaces the standard error of a long-running command by a logPipe until stop
// is called. SIGPIPE is ignored: when the reader of the pipe has ended, writes fail and the
// process continues.
func (a *app) startLogPipe(format string) (dropped func() int64, stop func()) {
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

// run writes the queued lines until close.
func (p *logPipe) run() {
	defer close(p.written)
	for line := range p.lines {
		if _, err := p.to.Write(line); err != nil {
			p.dropped.Add(1) // the reader has ended, or the disk is full
			continue
		}
		if n := p.dropped.Load() - p.counted; n > 0 {
			p.counted += n
			newLogger(p.to, p.format, "warn").Warn("log lines were dropped: they were not read in time", "lines", n)
		}
	}
}

// close ends the queue and waits up to closeWait for the last lines.
func (p *logPipe) close() {
	p.mu.Lock()
	p.closed = true
	close(p.lines)
	p.mu.Unlock()
	last := time.NewTimer(closeWait)
	defer last.Stop()
	select {
	case <-p.written:
	case <-last.C:
	}
}
