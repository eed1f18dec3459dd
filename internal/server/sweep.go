package server

import (
	"context"
	"strconv"
	"time"

	"pdpp/internal/ingest"
	"pdpp/internal/store"
)

const (
	sweepEvery = 24 * time.Hour
	// firstSweep is the delay of the first sweep after the start. It gives the operator
	// time to notice in the log that the wrong store was opened.
	firstSweep = 10 * time.Minute
	// blobGrace is the time for which a blob is kept that no record refers to (B-9).
	blobGrace = 7 * 24 * time.Hour
	// sweepGap is the time without a sweep after which the grace period begins again.
	sweepGap = 2 * sweepEvery
	// sweepStep is the number of blobs in a transaction. It is small because other
	// writers wait.
	sweepStep = 50
	// metaSwept is the key of the time of the last sweep in the store.
	metaSwept = "blobs_swept"
)

// SweepBlobs removes the blobs that no record has referred to for a week, with their
// files (B-9). It keeps files that the store does not know: the store may be an older
// copy, or a new one. For the same reason the week begins again after a gap without
// sweeps, and in a store that seems to be older than its blobs.
func (s *Server) SweepBlobs(ctx context.Context) error {
	now := s.Clock()
	if err := s.Blobs.RemoveTemporary(now); err != nil {
		return err
	}
	step := store.Sweep{Limit: sweepStep, Now: now, Grace: blobGrace}
	unknown, err := ingest.FindUnknownBlobs(ctx, s.Store, s.Blobs, now)
	if err != nil {
		return err
	}
	if step.Anew, err = s.sweepIsOverdue(ctx, now); err != nil {
		return err
	}
	step.Anew = step.Anew || unknown.StoreIsOlder
	var sum removed
	for first := true; first || step.After != nil; first = false {
		if step.After, err = s.sweepSome(ctx, step, &sum); err != nil {
			return err
		}
	}
	if sum.files > 0 {
		s.Log.Info("removed blobs that no record has referred to for a week", "blobs", sum.files, "bytes", sum.bytes)
	}
	return nil
}

// removed counts files that were removed.
type removed struct{ files, bytes int64 }

// sweepSome does one step of a sweep. It removes files before the commit: the next sweep
// removes a row without a file, but a file without a row would stay. It keeps a file that
// was uploaded again just now, because its new row may not be committed yet.
func (s *Server) sweepSome(ctx context.Context, step store.Sweep, sum *removed) (next *store.BlobPlace, err error) {
	err = s.Store.Bulk(ctx, func(tx store.Tx) error {
		swept, err := tx.SweepBlobs(step)
		if err != nil {
			return err
		}
		for _, b := range swept.Unneeded {
			isRemoved, err := s.Blobs.RemoveOld(b.Owner, b.SHA256, step.Now.Add(-ingest.UploadTime))
			if err != nil {
				return err
			}
			if isRemoved {
				sum.files, sum.bytes = sum.files+1, sum.bytes+b.Size
			}
		}
		if next = swept.Next; next != nil {
			return nil
		}
		return tx.PutMeta(metaSwept, strconv.AppendInt(nil, step.Now.Unix(), 10))
	})
	return next, err
}

// sweepIsOverdue reports whether the last sweep was longer ago than sweepGap, because no
// server ran or the store was restored from a backup.
func (s *Server) sweepIsOverdue(ctx context.Context, now time.Time) (bool, error) {
	var last []byte
	err := s.Store.View(ctx, func(v store.View) (err error) {
		last, err = v.Meta(metaSwept)
		return err
	})
	if err != nil || last == nil {
		return true, err
	}
	seconds, err := strconv.ParseInt(string(last), 10, 64)
	return now.Sub(time.Unix(seconds, 0)) > sweepGap, err
}

// reportUnknown warns of blob files that the store does not know.
func (s *Server) reportUnknown(ctx context.Context) error {
	unknown, err := ingest.FindUnknownBlobs(ctx, s.Store, s.Blobs, s.Clock())
	if err != nil || unknown.Files == 0 {
		return err
	}
	message := "the folder blobs holds files that the store does not know; they are kept: see pdpp blobs unknown"
	if unknown.StoreIsOlder {
		message = "the store seems to be older than its blobs: they are kept; put the newer pdpp.db back, or see pdpp blobs unknown"
	}
	s.Log.Warn(message, "files", unknown.Files, "bytes", unknown.Bytes, "newest", unknown.Newest.UTC().Format(time.RFC3339))
	return nil
}
