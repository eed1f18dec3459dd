package ingest

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"runtime"
	"time"

	"golang.org/x/sync/errgroup"

	"pdpp/internal/store"
)

// A chunk is what one worker parses at a time. It is smaller than a commit, so that
// parsing and committing overlap from the start.
const (
	chunkUnits = 256
	chunkBytes = 1 << 20
	chunksWait = 4 // chunks that may wait for the writer
)

// unit is one line, array element or CSV row, as it was read.
type unit struct {
	line  int64
	text  []byte
	cells []string
	bad   *Rejection // refused while reading
}

// source returns the units of one file; io.EOF at the end. The text of a unit is valid
// until the next call.
type source interface {
	next() (unit, error)
}

// decoder turns a unit into an item. It is called from several goroutines.
type decoder func(a *arena, u unit, now time.Time) item

// format is how a file is read.
type format struct {
	source
	decode decoder
}

// item is a parsed unit.
type item struct {
	kind   itemKind
	line   int64
	stream string // "" when not known
	size   int
	input  store.Input
	doc    store.Document
	cursor json.RawMessage
	bad    *Rejection
}

type itemKind uint8

const (
	recordItem itemKind = iota
	stateItem
	skippedItem
	rejectedItem
)

// chunk is a sequence of units of one file, in the order of the input.
type chunk struct {
	file   string
	now    time.Time
	decode decoder
	units  []unit
	text   []byte // backs the texts of the units
	bytes  int    // of texts and cells
	offset int64  // bytes of the file read so far
	done   int64  // size of the files before it
	err    error  // that ended the input after the units

	items []item
	ready chan struct{} // closed when items is complete
}

func (c *chunk) add(u unit) {
	start := len(c.text)
	c.text = append(c.text, u.text...)
	u.text = c.text[start:len(c.text):len(c.text)]
	c.bytes += len(u.text)
	for _, cell := range u.cells {
		c.bytes += len(cell)
	}
	c.units = append(c.units, u)
}

func (c *chunk) full() bool { return len(c.units) >= chunkUnits || c.bytes >= chunkBytes }

// parse makes the items; only the worker that received the chunk calls it.
func (c *chunk) parse() {
	var a arena
	c.items = make([]item, len(c.units))
	for i, u := range c.units {
		it := &c.items[i]
		if u.bad != nil {
			*it = item{kind: rejectedItem, bad: u.bad}
		} else {
			*it = c.decode(&a, u, c.now)
		}
		it.line, it.size = u.line, max(len(u.text), len(it.input.Data))
	}
	c.units, c.text = nil, nil
	close(c.ready)
}

// pipeline reads and parses files in its own goroutines.
type pipeline struct {
	files []File
	open  func(name string, r io.Reader) (format, error)
	clock func() time.Time
}

// run calls take with the parsed chunks in the order of the input, until there are no
// more or take fails. It returns when all its goroutines have ended.
func (p *pipeline) run(ctx context.Context, take func(*chunk) error) error {
	ctx, cancel := context.WithCancel(ctx)
	order, jobs := make(chan *chunk, chunksWait), make(chan *chunk)
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() error {
		defer close(order)
		defer close(jobs)
		return p.readAll(ctx, order, jobs)
	})
	for range min(4, runtime.GOMAXPROCS(0)) {
		g.Go(func() error {
			for c := range jobs {
				c.parse()
			}
			return nil
		})
	}
	err := drain(ctx, order, take)
	cancel()
	if stopped := g.Wait(); err == nil {
		err = stopped
	}
	return err
}

// drain calls take with the chunks in order.
func drain(ctx context.Context, order <-chan *chunk, take func(*chunk) error) error {
	for c := range order {
		select {
		case <-c.ready:
		case <-ctx.Done():
			return ctx.Err()
		}
		if err := take(c); err != nil {
			return err
		}
		if c.err != nil {
			return c.err
		}
	}
	return ctx.Err()
}

// readAll reads the files one after the other. The failure of a file is sent after the
// units before it, so that those are committed first (H-22).
func (p *pipeline) readAll(ctx context.Context, order, jobs chan<- *chunk) error {
	r := chunker{order: order, jobs: jobs, clock: p.clock}
	for _, f := range p.files {
		failure, err := r.read(ctx, f, p.open)
		if err != nil {
			return err
		}
		if failure != nil {
			r.start(f.Name, nil)
			r.cur.err = failure
			return r.send(ctx, 0)
		}
	}
	return nil
}

// chunker cuts files into chunks.
type chunker struct {
	order, jobs chan<- *chunk
	clock       func() time.Time
	done        int64 // size of the files that were read
	cur         *chunk
}

// read sends the units of a file. failure is the fault of the file; err means that the
// pipeline has ended.
func (r *chunker) read(ctx context.Context, f File, open func(string, io.Reader) (format, error)) (failure, err error) {
	o, failure := f.open(ctx)
	if failure != nil {
		return failure, nil
	}
	defer o.Close()
	form, failure := open(f.Name, o)
	if failure != nil {
		return failure, nil
	}
	r.start(f.Name, form.decode)
	for {
		u, readErr := form.next()
		if readErr != nil {
			if !errors.Is(readErr, io.EOF) {
				failure = readFailure(f.Name, readErr)
			}
			break
		}
		r.cur.add(u)
		if !r.cur.full() {
			continue
		}
		if err := r.send(ctx, o.offset); err != nil {
			return nil, err
		}
		r.start(f.Name, form.decode)
	}
	err = r.send(ctx, o.offset)
	r.done += max(o.size, o.offset)
	return failure, err
}

func (r *chunker) start(file string, decode decoder) {
	r.cur = &chunk{file: file, decode: decode, done: r.done, now: r.clock(), ready: make(chan struct{})}
}

// send sends the current chunk: first to its place in the order, then to a worker.
func (r *chunker) send(ctx context.Context, offset int64) error {
	r.cur.offset = offset
	for _, to := range []chan<- *chunk{r.order, r.jobs} {
		select {
		case to <- r.cur:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}
