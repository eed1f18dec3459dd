package rs

import (
	"context"
	"strconv"
	"time"

	"pdpp/internal/ingest"
	"pdpp/internal/store"
)

const (
	sweepEvery = 24 * time.Hour
	// firstSweep is how long after its start a server first sweeps: time to see in the
	// log that the store is not the one that was meant.
	firstSweep = 10 * time.Minute
	// blobGrace is how long a blob stays that no record refers to (B-9).
	blobGrace = 7 * 24 * time.Hour
	// sweepGap is the time without a sweep after which the grace period begins anew.
	sweepGap = 2 * sweepEvery
	// sweepStep is how many blobs one step looks at: other writers wait for it.
	sweepStep = 50
	// metaSwept names the time of the last sweep in the store.
	metaSwept = "blobs_swept"
)

// SweepBlobs removes the blobs that no record has referred to for a week, with their
// files (B-9). Files that the store does not know are not touched: it may be an older
// copy, or a new one. For the same reason the week is one that this store has watched:
// after a gap without sweeps, and in a store that seems to be older than its blobs, it
// begins anew.
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
	if step.Anew, err = s.unwatched(ctx, now); err != nil {
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

// sweepSome does one step of a sweep. Files go before the commit: a row without a file
// is forgotten by the next sweep, a file without a row would stay. One that was put
// again just now is spared, since its new row may be on the way.
func (s *Server) sweepSome(ctx context.Context, step store.Sweep, sum *removed) (next *store.BlobPlace, err error) {
	err = s.Store.Bulk(ctx, func(tx store.Tx) error {
		swept, err := tx.SweepBlobs(step)
		if err != nil {
			return err
		}
		for _, b := range swept.Unneeded {
			gone, err := s.Blobs.RemoveOld(b.Owner, b.SHA256, step.Now.Add(-ingest.UploadTime))
			if err != nil {
				return err
			}
			if gone {
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

// unwatched reports whether the store was not swept lately, because no server ran, or
// because it was put back from a backup.
func (s *Server) unwatched(ctx context.Context, now time.Time) (bool, error) {
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

// reportUnknown warns of files of blobs that the store does not know.
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
