package rs

import (
	"io"

	"pdpp/internal/bufpool"
	"pdpp/internal/httpx"
)

// heldBody is the body of a call that writes. The bytes read from it stay in memory until
// they are stored, so they count against the memory budget (H-69).
type heldBody struct {
	io.Reader
	hold *httpx.Hold
	left int // bytes that are reserved and were not read
}

// bodyStep is how much is reserved at a time for a body that does not say its size.
const bodyStep = 1 << 20

// heldBody gives the body of the request. A small one costs nothing, and one that says
// its size is refused before it is read.
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
