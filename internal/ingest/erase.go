package ingest

import (
	"context"

	"pdpp/internal/store"
)

// Erase takes the words of records that were changed or deleted out of the files, when
// there are any left (REC-37). It does so in slices, so that other writers get their
// turn.
func Erase(ctx context.Context, st store.Store) error {
	var left bool
	err := st.View(ctx, func(v store.View) (err error) {
		left, err = v.Unerased()
		return err
	})
	if err != nil || !left {
		return err
	}
	return Tidy(ctx, st)
}

// Tidy does all the housekeeping of a store that is due, in slices.
func Tidy(ctx context.Context, st store.Store) error {
	for more := true; more; {
		err := st.Bulk(ctx, func(tx store.Tx) (err error) {
			more, err = tx.Tidy()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
