package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// MaxLine is the length of the longest line in bytes, without its end (I-3, H-21).
const MaxLine = 16 << 20

// readSize is the buffer between the lines and what they are read from.
const readSize = 256 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// Lines reads a text line by line. Lines end with LF or CRLF, the last one also
// without; blank ones are skipped, and so is a byte order mark at the start. Of a
// line longer than MaxLine nothing is kept. A line that a read error cut off is
// not given.
type Lines struct {
	r      *bufio.Reader
	long   []byte // a line that does not fit the buffer of r
	line   []byte
	over   bool
	number int64
	bytes  int64
	err    error
}

// NewLines reads the lines of r.
func NewLines(r io.Reader) *Lines { return &Lines{r: bufio.NewReaderSize(r, readSize)} }

// Next goes to the next line that is not blank; false at the end.
func (l *Lines) Next() bool {
	for l.err == nil {
		if l.read() && (l.over || !isBlank(l.line)) {
			return true
		}
	}
	return false
}

// Line is the current line, without its end. It is valid until the next Next.
func (l *Lines) Line() []byte { return l.line }

// TooLong reports that the current line is longer than MaxLine; Line is empty.
func (l *Lines) TooLong() bool { return l.over }

// Number is the number of the current line, from 1, blank lines counted.
func (l *Lines) Number() int64 { return l.number }

// Bytes is how much of the text was consumed.
func (l *Lines) Bytes() int64 { return l.bytes }

// Err is what ended the lines; nil at the end of the text.
func (l *Lines) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// read reads one line, false when there is none.
func (l *Lines) read() bool {
	l.line, l.over, l.long = nil, false, l.long[:0]
	var piece []byte
	for {
		piece, l.err = l.r.ReadSlice('\n')
		l.bytes += int64(len(piece))
		if !errors.Is(l.err, bufio.ErrBufferFull) {
			break
		}
		l.keep(piece)
	}
	if l.err != nil && !errors.Is(l.err, io.EOF) {
		return false
	}
	if l.err != nil && len(piece) == 0 && len(l.long) == 0 && !l.over {
		return false
	}
	l.number++
	if len(l.long) > 0 || l.over {
		l.keep(piece)
		piece = l.long
	}
	l.finish(piece)
	return true
}

// keep collects the pieces of a long line, until it is too long.
func (l *Lines) keep(piece []byte) {
	if l.over || len(l.long)+len(piece) > MaxLine+len("\r\n")+len(byteOrderMark) {
		l.over, l.long = true, nil
		return
	}
	l.long = append(l.long, piece...)
}

func (l *Lines) finish(line []byte) {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if l.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if l.over = l.over || len(line) > MaxLine; !l.over {
		l.line = line
	}
}

func isBlank(line []byte) bool {
	for _, c := range line {
		if c != ' ' && c != '\t' && c != '\r' {
			return false
		}
	}
	return true
}
