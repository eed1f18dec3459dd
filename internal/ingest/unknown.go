package ingest

import (
	"context"
	"errors"
	"time"

	"pdpp/internal/blobfile"
	"pdpp/internal/store"
)

// Unknown counts the files of blobs that no row of the store knows. Such a file is
// what an upload left that ended between its file and its row, or the store is not the
// one that the file was put with: an older copy, or a new one. The store cannot tell
// which, so nobody removes these files but RemoveUnknown, at the operator's word.
type Unknown struct {
	Files  int64
	Bytes  int64
	Newest time.Time // when the newest of them was put
	Older  bool      // it is newer than anything the store knows: the store seems to be an older copy
}

// UnderWay is how long an upload may need from its file to its row.
const UnderWay = time.Hour

// FindUnknown looks for files that no row knows. Those put within an hour before now
// are left out: their upload may be under way.
func FindUnknown(ctx context.Context, st store.Store, files *blobfile.Store, now time.Time) (u Unknown, err error) {
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
		u.Older = u.Newest.After(last)
		return err
	})
	return u, err
}

// RemoveUnknown removes the files that FindUnknown finds, and counts them. It looks
// again in an Update, where no upload can come in between.
func RemoveUnknown(ctx context.Context, st store.Store, files *blobfile.Store, now time.Time) (u Unknown, err error) {
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
				removed, err := files.RemoveOld(f.owner, f.hash, now.Add(-UnderWay))
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

func (u *Unknown) add(f blobFile) {
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

// lookAtOnce is how many files are looked up together: writers wait for as many to be
// removed.
const lookAtOnce = 50

// eachUnknown calls fn for the files without a row, some at a time.
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
		if put.Before(now.Add(-UnderWay)) {
			some = append(some, blobFile{owner, hash, size, put})
		}
		if len(some) == lookAtOnce {
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
