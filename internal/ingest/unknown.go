package ingest

import (
	"context"
	"errors"
	"time"

	"pdpp/internal/blobfile"
	"pdpp/internal/store"
)

// UnknownBlobs counts the files of blobs that have no row in the store. Either an upload
// ended between its file and its row, or the file belongs to another store: the present
// one is an older copy, or a new one. The store cannot tell which, so only
// RemoveUnknownBlobs removes such files, when the operator asks for it.
type UnknownBlobs struct {
	Files  int64
	Bytes  int64
	Newest time.Time // modification time of the newest file
	// StoreIsOlder reports that Newest is later than the last write of the store, which
	// is therefore probably an older copy.
	StoreIsOlder bool
}

// UploadTime is the longest time that an upload takes from its file to its row.
const UploadTime = time.Hour

// FindUnknownBlobs counts the files without a row. It skips files that are younger than
// UploadTime, whose upload may still be running.
func FindUnknownBlobs(ctx context.Context, st store.Store, files *blobfile.Store, now time.Time) (u UnknownBlobs, err error) {
	err = eachUnknown(ctx, st, files, now, func(some []blobFile) error {
		for _, f := range some {
			u.add(f)
		}
		return nil
	})
	if err != nil || u.Files == 0 {
		return u, err
	}
	err = st.View(ctx, func(v store.View) error {
		last, err := v.LastWrite()
		u.StoreIsOlder = u.Newest.After(last)
		return err
	})
	return u, err
}

// RemoveUnknownBlobs removes the files that FindUnknownBlobs counts, and counts them. It
// looks up every row again in the transaction that removes the file, so that no upload
// can add the row in between.
func RemoveUnknownBlobs(ctx context.Context, st store.Store, files *blobfile.Store, now time.Time) (u UnknownBlobs, err error) {
	err = eachUnknown(ctx, st, files, now, func(some []blobFile) error {
		return st.Bulk(ctx, func(tx store.Tx) error {
			for _, f := range some {
				known, err := tx.HasBlob(f.owner, f.hash)
				if err != nil {
					return err
				}
				if known {
					continue
				}
				removed, err := files.RemoveOld(f.owner, f.hash, now.Add(-UploadTime))
				if err != nil {
					return err
				}
				if removed {
					u.add(f)
				}
			}
			return nil
		})
	})
	return u, err
}

func (u *UnknownBlobs) add(f blobFile) {
	u.Files++
	u.Bytes += f.size
	if f.put.After(u.Newest) {
		u.Newest = f.put
	}
}

// blobFile is a file with the content of a blob.
type blobFile struct {
	owner int64
	hash  string
	size  int64
	put   time.Time
}

// unknownStep is the number of files that are looked up, or removed, in one transaction.
// Other writers wait for it.
const unknownStep = 50

// eachUnknown calls fn with the files that have no row, at most unknownStep at a time.
func eachUnknown(ctx context.Context, st store.Store, files *blobfile.Store, now time.Time, fn func([]blobFile) error) error {
	var some []blobFile
	var failed error
	look := func() {
		unknown, err := withoutRow(ctx, st, some)
		if err == nil && len(unknown) > 0 {
			err = fn(unknown)
		}
		some, failed = some[:0], err
	}
	err := files.All(func(owner int64, hash string, size int64, put time.Time) bool {
		if put.Before(now.Add(-UploadTime)) {
			some = append(some, blobFile{owner, hash, size, put})
		}
		if len(some) == unknownStep {
			look()
		}
		return failed == nil
	})
	if err != nil || failed != nil {
		return errors.Join(err, failed)
	}
	look()
	return failed
}

func withoutRow(ctx context.Context, st store.Store, some []blobFile) (unknown []blobFile, err error) {
	err = st.View(ctx, func(v store.View) error {
		for _, f := range some {
			known, err := v.HasBlob(f.owner, f.hash)
			if err != nil {
				return err
			}
			if !known {
				unknown = append(unknown, f)
			}
		}
		return nil
	})
	return unknown, err
}
