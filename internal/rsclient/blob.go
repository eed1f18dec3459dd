package rsclient

import (
	"context"
	"encoding/hex"
	"mime"
	"net/http"
	"strconv"
	"strings"

	"pdpp"
)

// Blob reads a part of a blob. A server that does not support ranges (IO-14) sends the
// blob from its start; the client reads as far as the end of the part.
func (c *Client) Blob(ctx context.Context, id string, q Query, part Part) (*Blob, error) {
	in := call{route: "/v1/blobs/{blob_id}", segments: []string{id}, query: q, accept: "*/*", part: part, most: part.From + part.Most}
	r, bearer, err := c.exchange(ctx, &in)
	if err != nil {
		return nil, err
	}
	from, size := r.contentRange()
	b := &Blob{MimeType: octets, Size: size, SHA256: digest(r.header)}
	if t := mediaType(r.header); t != "" {
		b.MimeType, b.Charset = t, Charset(r.header.Get("Content-Type"))
	}
	switch {
	case r.status == http.StatusRequestedRangeNotSatisfiable && size >= 0 && size <= int64(part.From):
		b.MimeType, b.Charset, b.Last, b.Whole = octets, "", true, size == 0 // the offset is beyond the end: there is no content and no media type
		return b, nil
	case r.status/100 != 2:
		return nil, r.failure(bearer)
	case r.status == http.StatusNoContent, r.status == http.StatusPartialContent && from != int64(part.From):
		return nil, refused(pdpp.CodeUpstreamInvalid, "The server at "+c.provider+" did not answer with the requested part of the file. Try again once; if it fails again, tell the owner of that server.")
	case r.status == http.StatusPartialContent:
		b.Content = r.body[:min(part.Most, len(r.body))]
		b.Last = size == int64(part.From+len(b.Content))
	default:
		b.Size = r.length
		if ended := b.Size < 0 && !r.tooLong; ended {
			b.Size = int64(len(r.body))
		}
		b.Last = b.Size == int64(len(r.body))
		b.Content = r.body[min(part.From, len(r.body)):]
	}
	b.Whole = b.Last && part.From == 0
	return b, nil
}

const octets = "application/octet-stream"

// contentRange reads Content-Range: where the content starts, and the size of the whole
// blob; -1 for a missing value.
func (r *reply) contentRange() (from, size int64) {
	spec, ok := strings.CutPrefix(r.header.Get("Content-Range"), "bytes ")
	if !ok {
		return -1, -1
	}
	span, total, _ := strings.Cut(spec, "/")
	first, _, _ := strings.Cut(span, "-")
	return natural(first), natural(total)
}

// Charset returns the parameter charset of a media type; "" if it has none.
func Charset(mediaType string) string {
	_, params, err := mime.ParseMediaType(mediaType)
	if err != nil {
		return ""
	}
	return params["charset"]
}

func natural(s string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(s), 10, 64)
	if err != nil || n < 0 {
		return -1
	}
	return n
}

// digest returns the hash that our servers put into the ETag (B-7); "" for other tags.
func digest(h http.Header) string {
	s, ok := strings.CutPrefix(h.Get("Etag"), `"sha256-`)
	s, closed := strings.CutSuffix(s, `"`)
	if raw, err := hex.DecodeString(s); err != nil || len(raw) != 32 || !ok || !closed {
		return ""
	}
	return s
}
