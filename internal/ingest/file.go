package ingest

import (
	"compress/gzip"
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"pdpp"
)

// File is one input of a run.
type File struct {
	Name string // shown in rejections and progress; a path when Reader is nil
	// Reader is read instead of a file, as for standard input. A Read that
	// blocks does not keep a cancelled run from returning.
	Reader io.Reader
}

// openFile is an open input file.
type openFile struct {
	io.Reader       // the text, decompressed
	size      int64 // of the file on disk; 0 when unknown
	offset    int64 // how many bytes of the file on disk were read
	closers   []io.Closer
}

// Close closes the file.
func (o *openFile) Close() error {
	var err error
	for _, c := range o.closers {
		err = errors.Join(err, c.Close())
	}
	return err
}

// openPath opens an input file. A file whose name ends in .gz is decompressed (H-20).
// CodeInputMissing when it cannot be opened, CodeInvalidInput when its name ends in .gz
// and it is not compressed.
func openPath(path string) (*openFile, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, unreadable(path, err)
	}
	o := &openFile{closers: []io.Closer{f}}
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		o.size = info.Size()
	}
	o.Reader = &counted{r: f, n: &o.offset}
	if !strings.HasSuffix(path, ".gz") {
		return o, nil
	}
	z, err := gzip.NewReader(o.Reader)
	if err != nil {
		return nil, errors.Join(readFailure(path, err), o.Close())
	}
	o.Reader, o.closers = z, []io.Closer{z, f}
	return o, nil
}

// open opens an input of a run.
func (f File) open(ctx context.Context) (*openFile, error) {
	if f.Reader == nil {
		return openPath(f.Name)
	}
	o := new(openFile)
	o.Reader = &counted{r: detach(ctx, f.Reader), n: &o.offset}
	return o, nil
}

// sizeOf returns the size of a file before it is read, so that a missing file is
// reported before anything is stored.
func (f File) sizeOf() (int64, error) {
	if f.Reader != nil {
		return 0, nil
	}
	info, err := os.Stat(f.Name)
	switch {
	case err != nil:
		return 0, unreadable(f.Name, err)
	case info.IsDir():
		return 0, pdpp.Errorf(pdpp.CodeInputMissing, "%s is a folder.", f.Name)
	case !info.Mode().IsRegular():
		return 0, nil
	}
	return info.Size(), nil
}

func unreadable(path string, err error) error {
	message := path + " cannot be opened."
	if errors.Is(err, fs.ErrNotExist) {
		message = path + " does not exist."
	}
	return &pdpp.Error{Code: pdpp.CodeInputMissing, Message: message, Err: err}
}

// readFailure returns the error of a file that could not be read to its end.
func readFailure(name string, err error) error {
	switch {
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return err
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.Is(err, io.ErrUnexpectedEOF), errors.Is(err, io.EOF):
		return &pdpp.Error{Code: pdpp.CodeInvalidInput, Message: name + " is damaged or incomplete.", Err: err}
	}
	return &pdpp.Error{Code: pdpp.CodeInputMissing, Message: name + " cannot be read.", Err: err}
}

// counted counts the bytes that are read.
type counted struct {
	r io.Reader
	n *int64
}

func (c *counted) Read(p []byte) (int, error) {
	n, err := c.r.Read(p)
	*c.n += int64(n)
	return n, err
}

// detached reads ahead in its own goroutine. A Read of a terminal or a pipe cannot be
// interrupted; with a goroutine, a cancelled run does not wait for it. The goroutine ends
// when its current Read returns.
type detached struct {
	ctx    context.Context // of the run that reads; ends with it
	blocks <-chan block
	rest   []byte
	err    error
}

type block struct {
	data []byte
	err  error
}

func detach(ctx context.Context, r io.Reader) *detached {
	blocks := make(chan block)
	go func() {
		// While one buffer is read from, the other is filled: a block is
		// taken only when the one before it is used up.
		var buffers [2][]byte
		for i := 0; ; i ^= 1 {
			if buffers[i] == nil {
				buffers[i] = make([]byte, 64<<10)
			}
			n, err := r.Read(buffers[i])
			select {
			case blocks <- block{buffers[i][:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	return &detached{ctx: ctx, blocks: blocks}
}

func (d *detached) Read(p []byte) (int, error) {
	for len(d.rest) == 0 {
		if d.err != nil {
			return 0, d.err
		}
		select {
		case b := <-d.blocks:
			d.rest, d.err = b.data, b.err
		case <-d.ctx.Done():
			return 0, d.ctx.Err()
		}
	}
	n := copy(p, d.rest)
	d.rest = d.rest[n:]
	return n, nil
}
