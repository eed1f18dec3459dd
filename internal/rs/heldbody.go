package rs

import (
	"io"

	"pdpp/internal/bufpool"
	"pdpp/internal/httpx"
)

// heldBody is the body of a request that writes. Its bytes stay in memory until they are
// stored, so they are reserved in the memory budget (H-69).
type heldBody struct {
	io.Reader
	hold *httpx.Hold
	left int // bytes that are reserved and not yet read
}

// bodyStep is the number of bytes reserved at a time for a body without Content-Length.
const bodyStep = 1 << 20

// heldBody returns the body of the request. A small body is not counted. A body with a
// Content-Length is refused before it is read.
func (q *ownerRequest) heldBody() (io.Reader, error) {
	b := &heldBody{Reader: q.http.Body, hold: q.hold, left: bufpool.MaxKept}
	return b, b.reserve(int(q.http.ContentLength) - b.left)
}

// reserve takes memory for n further bytes, and half as much again for the values derived
// from them while they are stored and for unused capacity.
func (b *heldBody) reserve(n int) error {
	if n <= 0 {
		return nil
	}
	b.left += n
	return b.hold.Reserve(n + n/2)
}

// Read implements io.Reader.
func (b *heldBody) Read(p []byte) (int, error) {
	n, err := b.Reader.Read(p)
	if b.left -= n; b.left < 0 {
		if full := b.reserve(max(bodyStep, -b.left)); full != nil {
			return 0, full
		}
	}
	return n, err
}
