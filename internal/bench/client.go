package bench

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"
)

// client is one keep-alive connection that uses as little CPU as possible, so that the
// measurement is about the server. It accepts only answers with a Content-Length.
type client struct {
	conn net.Conn
	r    *bufio.Reader
	body []byte // of the last answer
}

func dial(addr string) (*client, error) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &client{conn: conn, r: bufio.NewReaderSize(conn, 64<<10)}, nil
}

func (c *client) close() { _ = c.conn.Close() } // all answers were read

// do sends a request and reads the whole answer. Any status except 200 is an error.
func (c *client) do(request []byte) error {
	if _, err := c.conn.Write(request); err != nil {
		return err
	}
	status, length, err := c.header()
	if err != nil {
		return err
	}
	if cap(c.body) < length {
		c.body = make([]byte, length)
	}
	c.body = c.body[:length]
	if _, err := io.ReadFull(c.r, c.body); err != nil {
		return err
	}
	switch status {
	case "200":
		return nil
	case "429", "503":
		return fmt.Errorf("%w: %s", errBusy, status)
	default:
		return fmt.Errorf("the server answered %s: %.300s", status, c.body)
	}
}

// errBusy is the error for the statuses 429 and 503.
var errBusy = errors.New("the server is busy")

var contentLength = []byte("Content-Length:")

func (c *client) header() (status string, length int, err error) {
	line, err := c.r.ReadSlice('\n')
	if err != nil {
		return "", 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return "", 0, fmt.Errorf("not a status line: %q", line)
	}
	status, length = string(line[9:12]), -1
	for {
		line, err := c.r.ReadSlice('\n')
		if err != nil {
			return "", 0, err
		}
		if len(line) <= len("\r\n") {
			break
		}
		if text, ok := bytes.CutPrefix(line, contentLength); ok {
			if length, err = strconv.Atoi(string(bytes.TrimSpace(text))); err != nil {
				return "", 0, err
			}
		}
	}
	if length < 0 {
		return "", 0, errors.New("the answer has no Content-Length")
	}
	return status, length, nil
}

// timed is like do, and returns how long it took.
func (c *client) timed(request []byte) (time.Duration, error) {
	start := time.Now()
	err := c.do(request)
	return time.Since(start), err
}
