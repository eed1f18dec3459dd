package ingest

import (
	"bufio"
	"bytes"
	"errors"
	"io"
)

// maxLine is the length of the longest line in bytes, without its end (I-3, H-21).
const maxLine = 16 << 20

// readSize is the buffer between the lines and what they are read from.
const readSize = 256 << 10

var byteOrderMark = []byte("\xef\xbb\xbf")

// lineReader reads a text line by line. Lines end with LF or CRLF; the last one may end
// without. Blank lines and a byte order mark at the start are skipped. A line longer than
// maxLine is not kept, and a line that a read error cut off is not returned.
type lineReader struct {
	r      *bufio.Reader
	long   []byte // a line that does not fit the buffer of r
	line   []byte
	over   bool
	number int64
	bytes  int64
	err    error
}

// newLines reads the lines of r.
func newLines(r io.Reader) *lineReader { return &lineReader{r: bufio.NewReaderSize(r, readSize)} }

// Next goes to the next line that is not blank; false at the end.
func (l *lineReader) Next() bool {
	for l.err == nil {
		if l.read() && (l.over || !isBlank(l.line)) {
			return true
		}
	}
	return false
}

// Line returns the current line, without its end. It is valid until the next Next.
func (l *lineReader) Line() []byte { return l.line }

// TooLong reports whether the current line is longer than maxLine; Line is empty.
func (l *lineReader) TooLong() bool { return l.over }

// Number returns the number of the current line, from 1, blank lines included.
func (l *lineReader) Number() int64 { return l.number }

// Bytes returns how many bytes of the text were read.
func (l *lineReader) Bytes() int64 { return l.bytes }

// Err returns the error that ended the lines; nil at the end of the text.
func (l *lineReader) Err() error {
	if errors.Is(l.err, io.EOF) {
		return nil
	}
	return l.err
}

// read reads one line, false when there is none.
func (l *lineReader) read() bool {
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
func (l *lineReader) keep(piece []byte) {
	if l.over || len(l.long)+len(piece) > maxLine+len("\r\n")+len(byteOrderMark) {
		l.over, l.long = true, nil
		return
	}
	l.long = append(l.long, piece...)
}

func (l *lineReader) finish(line []byte) {
	line = bytes.TrimSuffix(line, []byte{'\n'})
	line = bytes.TrimSuffix(line, []byte{'\r'})
	if l.number == 1 {
		line = bytes.TrimPrefix(line, byteOrderMark)
	}
	if l.over = l.over || len(line) > maxLine; !l.over {
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
