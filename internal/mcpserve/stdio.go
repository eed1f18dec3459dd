package mcpserve

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// lineMax is the maximum length of a line (MS-269).
const lineMax = 16 << 20

// ErrWrite is the error of Serve when the client no longer reads.
var ErrWrite = errors.New("the output cannot be written")

// Serve reads messages from in, one per line, and writes the responses to out, until in
// ends, ctx is done or a write fails. Then it waits for running requests (MS-262). It
// writes only messages to out (MS-268).
//
// Reads and writes cannot be interrupted. After Serve has returned, one goroutine waits
// for an input that does not end, and others for an output that is not read.
func Serve(ctx context.Context, s *Server, in io.Reader, out io.Writer) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	c := newSession(ctx, s, &output{w: out, failed: stop})
	ended := make(chan error, 1)
	go func() {
		err := c.receive(ctx, readLines(ctx, in))
		c.drain()
		ended <- err
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(2 * drainTimeout): // a write blocks because the client does not read
		}
	}
	if cause := context.Cause(ctx); errors.Is(cause, ErrWrite) {
		return cause
	}
	return err
}

// output writes one line at a time.
type output struct {
	mu     sync.Mutex
	w      io.Writer
	failed context.CancelCauseFunc
}

func (o *output) write(line []byte) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if _, err := o.w.Write(line); err != nil {
		o.failed(fmt.Errorf("%w: %w", ErrWrite, err))
	}
}

// line is a line of the input.
type line struct {
	text    []byte
	tooLong bool  // and text is empty
	err     error // set only for the last line: why the input ended
}

// readLines reads in the background until in ends or ctx is done.
func readLines(ctx context.Context, in io.Reader) <-chan line {
	lines := make(chan line)
	go func() {
		r := bufio.NewReaderSize(in, 64<<10)
		for {
			l := readLine(r)
			select {
			case lines <- l:
			case <-ctx.Done():
				return
			}
			if l.err != nil {
				return
			}
		}
	}()
	return lines
}

// readLine reads up to a newline or the end. It keeps nothing of a line that is too long.
func readLine(r *bufio.Reader) (l line) {
	for {
		part, err := r.ReadSlice('\n')
		if l.tooLong = l.tooLong || len(l.text)+len(part) > lineMax; l.tooLong {
			l.text = nil
		} else {
			l.text = append(l.text, part...)
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			l.err = err
			return l
		}
	}
}
