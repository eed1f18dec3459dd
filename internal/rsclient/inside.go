package rsclient

import (
	"context"
	"net/http"
	"net/url"
	"strings"

	"pdpp"
)

// NewInside returns a client of our own server in this process. The transport authorizes
// requests and sets their ids. Answers are not checked, and nothing is repeated or
// renewed.
func NewInside(provider string, transport http.RoundTripper) *Client {
	return &Client{provider: provider, cfg: Config{Transport: transport, Log: noLog, inside: true}}
}

// callInside makes a call inside the process.
func (c *Client) callInside(ctx context.Context, in *call, target string) (*reply, error) {
	raw, query, _ := strings.Cut(strings.TrimPrefix(target, c.provider), "?")
	path, err := url.PathUnescape(raw)
	if err != nil {
		return nil, refused(pdpp.CodeUpstreamInvalid, "A name in this call cannot be used in the path of a URL. Check its stream, record or blob id.")
	}
	header := make(http.Header, 2)
	if in.prefer != "" {
		header["Prefer"] = []string{in.prefer}
	}
	if in.part.Most > 0 {
		header["Range"] = []string{in.part.header()}
	}
	req := (&http.Request{
		Method: http.MethodGet, URL: &url.URL{Path: path, RawPath: raw, RawQuery: query}, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
	}).WithContext(ctx)
	resp, err := c.cfg.Transport.RoundTrip(req)
	if err != nil {
		return nil, c.stopped(ctx, ctx, err)
	}
	return in.receive(resp)
}
