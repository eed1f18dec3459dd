package mcpserve

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
)

// lineMax is the greatest length of a message.
const lineMax = 16 << 20

// lines passes lines on that are messages. The SDK ends a connection at the first one
// that is not; here it is answered with an error, and the next line counts.
type lines struct {
	in     *bufio.Reader
	errors io.Writer
	rest   []byte // of the line that is being passed on
}

func newLines(in io.Reader, errors io.Writer) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), errors: errors}
}

// Read implements io.Reader.
func (l *lines) Read(p []byte) (int, error) {
	for len(l.rest) == 0 {
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

// Close implements io.Closer. A read of standard input cannot be interrupted; the
// process ends instead.
func (l *lines) Close() error { return nil }

// next gives the next message with its newline; nil for a line that is none.
func (l *lines) next() ([]byte, error) {
	line, err := l.line()
	if errors.Is(err, errTooLong) {
		return nil, l.answer(jsonrpc.CodeInvalidRequest, "the message is too long")
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, err
	}
	if !isMessage(line) {
		return nil, l.answer(jsonrpc.CodeParseError, "not a JSON-RPC message")
	}
	return append(line, '\n'), nil
}

// isMessage reports whether a line is a message, or a batch of them as revision
// 2025-03-26 has it.
func isMessage(line []byte) bool {
	batch := []json.RawMessage{line}
	if line[0] == '[' && json.Unmarshal(line, &batch) != nil {
		return false
	}
	for _, msg := range batch {
		if _, err := jsonrpc.DecodeMessage(msg); err != nil {
			return false
		}
	}
	return len(batch) > 0
}

var errTooLong = errors.New("too long")

// line reads up to a newline or the end. Of a line that is too long nothing is kept.
func (l *lines) line() ([]byte, error) {
	var line []byte
	long := false
	for {
		part, err := l.in.ReadSlice('\n')
		if long = long || len(line)+len(part) > lineMax; !long {
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if long {
			return nil, errTooLong
		}
		return line, err
	}
}

// answer writes an error that belongs to no request.
func (l *lines) answer(code int64, message string) error {
	msg, err := jsonrpc.EncodeMessage(&jsonrpc.Response{Error: &jsonrpc.Error{Code: code, Message: message}})
	if err != nil {
		return err
	}
	_, err = l.errors.Write(append(msg, '\n'))
	return err
}
