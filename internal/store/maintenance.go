package store

import (
	"context"
	"time"
)

// Each function here does long work in slices with Bulk, so that other writers wait for
// one slice at most.

// Reindex indexes all records whose declaration has changed (M-11). It calls progress,
// unless it is nil, with the number of records done so far.
func Reindex(ctx context.Context, st Store, progress func(done int)) error {
	total := 0
	for more := true; more; {
		err := st.Bulk(ctx, func(tx Tx) (err error) {
			var done int
			done, more, err = tx.Reindex()
			total += done
			return err
		})
		if err != nil {
			return err
		}
		if progress != nil && total > 0 {
			progress(total)
		}
	}
	return nil
}

// Purge removes the rows of deleted connections.
func Purge(ctx context.Context, st Store, now time.Time) error {
	for more := true; more; {
		err := st.Bulk(ctx, func(tx Tx) (err error) {
			more, err = tx.Purge(now)
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Erase removes the words of changed and deleted records from the files, if there are
// any (REC-37).
func Erase(ctx context.Context, st Store) error {
	var left bool
	err := st.View(ctx, func(v View) (err error) {
		left, err = v.Unerased()
		return err
	})
	if err != nil || !left {
		return err
	}
	return Tidy(ctx, st)
}

// Tidy does all the housekeeping that is due.
func Tidy(ctx context.Context, st Store) error {
	for more := true; more; {
		err := st.Bulk(ctx, func(tx Tx) (err error) {
			more, err = tx.Tidy()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
