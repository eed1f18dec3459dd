package oauth

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Client makes the requests of an OAuth client. Its zero value is ready to use.
type Client struct {
	Transport http.RoundTripper // nil: http.DefaultTransport
	UserAgent string            // "": that of net/http
}

const (
	requestTimeout = 10 * time.Second
	responseMax    = 1 << 20
)

// Refusal is an error response of an OAuth endpoint (RFC 6749 §5.2). Its texts are
// printable ASCII.
type Refusal struct {
	Code        string
	Description string // or ""
}

// Error implements error.
func (r *Refusal) Error() string {
	if r.Description == "" {
		return r.Code
	}
	return r.Code + ": " + r.Description
}

// refusalOf returns the refusal with a code and a description that a server sent; nil
// without a code.
func refusalOf(code, description string) *Refusal {
	if code = printable(code, 100); code == "" {
		return nil
	}
	return &Refusal{code, printable(description, 300)}
}

// IsRefusal reports whether err is a refusal with this code.
func IsRefusal(err error, code string) bool {
	var r *Refusal
	return errors.As(err, &r) && r.Code == code
}

// Failure reports that an endpoint gave no usable answer. A later attempt may succeed. Why
// is a clause whose subject is the endpoint.
type Failure struct {
	URL string // in the form for messages
	Why string
	Err error // the cause, without the URL; may be nil
}

// Error implements error.
func (f *Failure) Error() string { return f.URL + ": " + f.Why }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

func failure(endpoint, why string, err error) *Failure {
	var withURL *url.Error
	if errors.As(err, &withURL) {
		err = withURL.Err // the URL may contain a secret
	}
	return &Failure{Shown(endpoint), why, err}
}

// answer is the response of an endpoint.
type answer struct {
	status int
	text   string // of the status
	body   []byte
}

// refusal returns the OAuth error of a response with an error status; nil if it has none.
func (a *answer) refusal() *Refusal {
	var doc struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if a.status < 400 || a.status > 499 || json.Unmarshal(a.body, &doc) != nil {
		return nil
	}
	return refusalOf(doc.Error, doc.Description)
}

// get reads a document.
func (c *Client) get(ctx context.Context, target string) (*answer, error) {
	return c.do(ctx, http.MethodGet, target, "", nil)
}

// post sends a form.
func (c *Client) post(ctx context.Context, target string, form url.Values) (*answer, error) {
	return c.do(ctx, http.MethodPost, target, "application/x-www-form-urlencoded", []byte(form.Encode()))
}

// do makes one request. A redirect is the answer and is not followed: a secret must not
// reach another address. The error is a *Failure, or that of ctx when the caller ended it.
func (c *Client) do(ctx context.Context, method, target, mediaType string, body []byte) (*answer, error) {
	if !IsSafe(target) {
		return nil, failure(target, "it is neither an https address nor on this machine", nil)
	}
	timed, cancel := context.WithTimeout(ctx, requestTimeout)
	defer cancel()
	req, err := http.NewRequestWithContext(timed, method, target, bytes.NewReader(body))
	if err != nil {
		return nil, failure(target, "it is not a valid address", err)
	}
	req.Header.Set("Accept", "application/json")
	if mediaType != "" {
		req.Header.Set("Content-Type", mediaType)
	}
	if c.UserAgent != "" {
		req.Header.Set("User-Agent", c.UserAgent)
	}
	client := &http.Client{Transport: c.Transport, CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
	resp, err := client.Do(req)
	if err != nil {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		return nil, failure(target, "it cannot be reached", err)
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(resp.Body, responseMax+1))
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case err != nil:
		return nil, failure(target, "its response was incomplete", err)
	case len(raw) > responseMax:
		return nil, failure(target, "its response is too large", nil)
	}
	return &answer{resp.StatusCode, printable(resp.Status, 60), raw}, nil
}

// printable returns a text of a server for messages: printable ASCII, at most most bytes.
func printable(s string, most int) string {
	s = strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, s)
	return s[:min(len(s), most)]
}
