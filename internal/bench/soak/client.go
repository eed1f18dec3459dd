package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"time"
)

// client sends requests and checks the answers.
type client struct {
	world  *world
	server *server
	report *report
}

// request is a request to the server.
type request struct {
	token, method, path, mediaType string
	body                           []byte
}

// do sends a request and returns the body of the answer. It returns nil while the server is
// down or busy. It reports any other failure as a problem.
func (c *client) do(ctx context.Context, r request) []byte {
	epoch := c.server.epoch.Load()
	status, answer, err := c.send(ctx, r)
	switch {
	case ctx.Err() != nil:
		return nil
	case err != nil && (epoch%2 == 1 || epoch != c.server.epoch.Load()):
		c.report.count("refused while down")
		pause(ctx, 100*time.Millisecond)
		return nil
	case err != nil:
		c.report.problem("%s %.80s: %v", r.method, r.path, err)
		return nil
	case status == http.StatusServiceUnavailable, status == http.StatusTooManyRequests:
		c.report.count("busy")
		pause(ctx, 200*time.Millisecond)
		return nil
	case status == http.StatusNoContent:
		return []byte("{}")
	case status != http.StatusOK:
		c.report.problem("%s %.80s: %d %.200s", r.method, r.path, status, answer)
		return nil
	case !json.Valid(answer):
		c.report.problem("%s %.80s: the answer is not JSON: %.200q", r.method, r.path, answer)
		return nil
	}
	c.report.count("answers")
	return answer
}

func (c *client) send(ctx context.Context, r request) (int, []byte, error) {
	req, err := http.NewRequestWithContext(ctx, r.method, c.server.url()+r.path, bytes.NewReader(r.body))
	if err != nil {
		return 0, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+r.token)
	if r.mediaType != "" {
		req.Header.Set("Content-Type", r.mediaType)
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer res.Body.Close()
	answer, err := io.ReadAll(res.Body)
	return res.StatusCode, answer, err
}

func (c *client) get(ctx context.Context, token, path string) []byte {
	return c.do(ctx, request{token: token, method: http.MethodGet, path: path})
}
