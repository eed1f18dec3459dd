package blobfile

import (
	"context"
	"fmt"
	"io"

	"pdpp"
)

// source reads from r up to a limit, until ctx is done. It is used within one call, whose
// context it holds.
type source struct {
	ctx   context.Context
	r     io.Reader
	left  int64
	limit int64
}

// Read reads at most one byte beyond the limit, to detect that there are more. Only
// io.EOF itself is the end; an error that wraps it means that content is missing.
func (s *source) Read(p []byte) (int, error) {
	if err := s.ctx.Err(); err != nil {
		return 0, fmt.Errorf("blobfile.Put: %w", err)
	}
	if s.left < int64(len(p))-1 {
		p = p[:max(s.left, 0)+1]
	}
	n, err := s.r.Read(p)
	s.left -= int64(n)
	switch {
	case s.left < 0 && n > 0:
		return 0, tooLarge(s.limit)
	case err == nil || err == io.EOF:
		return n, err
	}
	return n, fmt.Errorf("blobfile.Put: reading: %w", err)
}

func tooLarge(limit int64) error {
	const mib = 1 << 20
	size := fmt.Sprintf("%d bytes", limit)
	if limit >= mib && limit%mib == 0 {
		size = fmt.Sprintf("%d MiB", limit/mib)
	}
	return pdpp.Errorf(pdpp.CodeResourceLimit, "The blob is larger than %s, which is the limit.", size)
}
