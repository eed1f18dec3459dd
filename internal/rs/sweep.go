package rs

import (
	"context"
	"time"

	"pdpp/internal/store"
)

const (
	sweepEvery = 24 * time.Hour
	// blobGrace is how long a blob stays that no record refers to (B-9).
	blobGrace = 7 * 24 * time.Hour
	// sweepStep is how many blobs one step looks at: other writers wait for it.
	sweepStep = 100
)

// SweepBlobs takes away the blobs that no record has referred to for a week, and
// files that no row knows (B-9). Run does it at its start and once a day.
func (s *Server) SweepBlobs(ctx context.Context) error {
	now := s.Clock()
	var next *store.BlobPlace
	for first := true; first || next != nil; first = false {
		err := s.Store.Bulk(ctx, func(tx store.Tx) (err error) {
			next, err = tx.SweepBlobs(store.Sweep{After: next, Limit: sweepStep, Now: now, Grace: blobGrace})
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := s.Blobs.RemoveTemporary(now); err != nil {
		return err
	}
	return s.sweepFiles(ctx, now.Add(-blobGrace))
}

// blobFile names a file of a blob.
type blobFile struct {
	owner int64
	hash  string
}

// sweepFiles removes the files last put before limit that no row knows: of rows
// that were swept, and of uploads that ended between file and row.
func (s *Server) sweepFiles(ctx context.Context, limit time.Time) error {
	var some []blobFile
	var failed error
	err := s.Blobs.All(func(owner int64, hash string, _ int64, mod time.Time) bool {
		if mod.Before(limit) {
			some = append(some, blobFile{owner, hash})
		}
		if len(some) == sweepStep {
			failed = s.sweepSome(ctx, some, limit)
			some = some[:0]
		}
		return failed == nil && ctx.Err() == nil
	})
	if err == nil {
		err = failed
	}
	if err == nil {
		err = ctx.Err()
	}
	if err != nil {
		return err
	}
	return s.sweepSome(ctx, some, limit)
}

// sweepSome looks for the files without a row in a snapshot, which keeps nobody
// waiting, and takes those away in an Update, where no upload can come in between.
func (s *Server) sweepSome(ctx context.Context, files []blobFile, limit time.Time) error {
	var idle []blobFile
	err := s.Store.View(ctx, func(v store.View) error {
		for _, f := range files {
			known, err := v.HasBlob(f.owner, f.hash)
			if err != nil {
				return err
			}
			if !known {
				idle = append(idle, f)
			}
		}
		return nil
	})
	if err != nil || len(idle) == 0 {
		return err
	}
	return s.Store.Bulk(ctx, func(tx store.Tx) error {
		for _, f := range idle {
			known, err := tx.HasBlob(f.owner, f.hash)
			if err != nil {
				return err
			}
			if known {
				continue
			}
			if err := s.Blobs.RemoveOld(f.owner, f.hash, limit); err != nil {
				return err
			}
		}
		return nil
	})
}
