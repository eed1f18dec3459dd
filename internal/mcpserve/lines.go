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
	// take answers a message by itself; false leaves it to the SDK.
	take func(*Message) bool
	rest []byte // of the line that is being passed on
}

func newLines(in io.Reader, errors io.Writer, take func(*Message) bool) *lines {
	return &lines{in: bufio.NewReaderSize(in, 64<<10), errors: errors, take: take}
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

// next gives the messages of the next line, each with a newline; nil for a line that
// has none.
func (l *lines) next() ([]byte, error) {
	line, err := l.line()
	if errors.Is(err, errTooLong) {
		return nil, l.answer(&Fault{Code: CodeRequest, Message: "the message is too long"})
	}
	line = bytes.TrimSpace(line)
	if len(line) == 0 {
		return nil, err
	}
	var out []byte
	for _, msg := range split(line) {
		text, fault := Compact(nil, msg)
		if fault == nil {
			if m, ok := Parse(text); ok && l.take(&m) {
				continue
			}
			if text = appendFirsts(nil, text); !isMessage(text) {
				fault = &Fault{Code: CodeParse, Message: "not a JSON-RPC message"}
			}
		}
		if fault != nil {
			if err := l.answer(fault); err != nil {
				return nil, err
			}
			continue
		}
		out = append(append(out, text...), '\n')
	}
	return out, nil
}

// split takes a batch apart, as revision 2025-03-26 has it: its messages are answered
// one by one. The SDK ends the connection when two of them have one id, or when a
// later revision was agreed on.
func split(line []byte) []json.RawMessage {
	var batch []json.RawMessage
	if line[0] != '[' || json.Unmarshal(line, &batch) != nil || len(batch) == 0 {
		return []json.RawMessage{line}
	}
	return batch
}

// isMessage reports whether a text is one message, and nothing else.
func isMessage(text []byte) bool {
	_, err := jsonrpc.DecodeMessage(text)
	return err == nil
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

// answer writes an error that belongs to no request: its id is null, which the SDK
// would leave out.
func (l *lines) answer(fault *Fault) error {
	_, err := l.errors.Write(append(AppendError(nil, nil, fault), '\n'))
	return err
}
