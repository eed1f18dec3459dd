package bench

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strconv"
	"time"
)

// stdio is an adapter process and its client, which uses as little CPU as possible: it sends
// one request at a time and checks answers only for errors.
type stdio struct {
	cmd  *exec.Cmd
	in   io.WriteCloser
	out  *bufio.Reader
	last int // id of the last request
	line []byte
}

const initializeParams = `{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}`

// spawn starts the adapter and waits until it has answered initialize.
func spawn(ctx context.Context, binary string, args ...string) (*stdio, error) {
	cmd := exec.CommandContext(ctx, binary, append([]string{"mcp"}, args...)...)
	cmd.Env = []string{} // no settings of the user
	in, err := cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	c := &stdio{cmd: cmd, in: in, out: bufio.NewReaderSize(out, 64<<10)}
	if err := c.call("initialize", initializeParams); err != nil {
		return nil, errors.Join(err, c.close())
	}
	return c, nil
}

// close closes the adapter's standard input and waits for its end.
func (c *stdio) close() error { return errors.Join(c.in.Close(), c.cmd.Wait()) }

// call sends a request and reads its answer. An error in the answer is returned.
func (c *stdio) call(method, params string) error {
	c.last++
	request := `{"jsonrpc":"2.0","id":` + strconv.Itoa(c.last) + `,"method":"` + method + `","params":` + params + "}\n"
	if _, err := io.WriteString(c.in, request); err != nil {
		return err
	}
	if err := c.readLine(); err != nil {
		return err
	}
	head := c.line[:min(len(c.line), 100)]
	ours := bytes.Contains(head, fmt.Appendf(nil, `"id":%d,"result":`, c.last))
	if !ours || bytes.HasSuffix(c.line, []byte(`,"isError":true}}`+"\n")) {
		return fmt.Errorf("%s %s: the answer is %.600s", method, params, c.line)
	}
	return nil
}

// tool calls a tool and returns how long it took.
func (c *stdio) tool(name, args string) (time.Duration, error) {
	start := time.Now()
	err := c.call("tools/call", `{"name":"`+name+`","arguments":`+args+`}`)
	return time.Since(start), err
}

// readLine reads one line of any length.
func (c *stdio) readLine() error {
	c.line = c.line[:0]
	for {
		part, err := c.out.ReadSlice('\n')
		c.line = append(c.line, part...)
		if !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}
