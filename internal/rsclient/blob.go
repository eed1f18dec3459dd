package rsclient

import (
	"context"
	"encoding/hex"
	"net/http"
	"strconv"
	"strings"
)

// Blob reads at most the first most bytes of a blob. A server without ranges (IO-14)
// is read until there are enough.
func (c *Client) Blob(ctx context.Context, id string, q Query, most int) (*Blob, error) {
	in := call{route: "/v1/blobs/{blob_id}", segments: []string{id}, query: q, accept: "*/*", ranged: true, most: most}
	r, bearer, err := c.exchange(ctx, &in)
	if err != nil {
		return nil, err
	}
	from, size := r.contentRange()
	if r.status == http.StatusRequestedRangeNotSatisfiable && size == 0 {
		return &Blob{MimeType: octets, Whole: true}, nil // nothing is in it, not even its first byte
	}
	switch {
	case r.status/100 != 2:
		return nil, r.failure(bearer)
	case r.status == http.StatusNoContent, r.status == http.StatusPartialContent && from != 0:
		return nil, refused(CodeInvalid, "The resource server answered with something else than the beginning of the blob.")
	case r.status != http.StatusPartialContent:
		size = r.length
	}
	b := &Blob{Content: r.body, MimeType: mediaType(r.header), Size: size, SHA256: digest(r.header)}
	if b.MimeType == "" {
		b.MimeType = octets
	}
	got := int64(len(b.Content))
	ended := r.status != http.StatusPartialContent && size < 0 && !r.over
	if ended || size == got {
		b.Whole, b.Size = true, got
	}
	return b, nil
}

const octets = "application/octet-stream"

// contentRange reads Content-Range: where the content starts, and the size of the
// whole; -1 for what it does not say.
func (r *reply) contentRange() (from, size int64) {
	spec, ok := strings.CutPrefix(r.header.Get("Content-Range"), "bytes ")
	if !ok {
		return -1, -1
	}
	span, total, _ := strings.Cut(spec, "/")
	first, _, _ := strings.Cut(span, "-")
	return natural(first), natural(total)
}

func natural(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// digest is the hash that our servers put into the ETag (B-7); "" for other tags.
func digest(h http.Header) string {
	s, ok := strings.CutPrefix(h.Get("Etag"), `"sha256-`)
	s, closed := strings.CutSuffix(s, `"`)
	if raw, err := hex.DecodeString(s); err != nil || len(raw) != 32 || !ok || !closed {
		return ""
	}
	return s
}
