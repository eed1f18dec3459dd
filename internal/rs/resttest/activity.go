package resttest

import (
	"context"
	"fmt"

	"pdpp/internal/store"
)

// Reads stores what the server has recorded, and returns what was read of the owner, as in
// "search entries: 2 reads, 5 records, 1 refused".
func (w *World) Reads() []string {
	w.T.Helper()
	out := []string{}
	for _, c := range Recorded(w, func(v store.View) ([]store.ReadCount, error) { return v.Reads(w.Subject, Start) }) {
		out = append(out, fmt.Sprintf("%s %s: %d reads, %d records, %d refused", c.Via, c.Stream, c.Reads, c.Records, c.Refusals))
	}
	return out
}

// Recorded stores what the server has recorded, and returns what fn then reads.
func Recorded[T any](w *World, fn func(store.View) (T, error)) (out T) {
	w.T.Helper()
	ctx, stop := context.WithCancel(w.T.Context())
	stop()
	w.Server.Activity.Run(ctx) // what a server does when it ends
	err := w.Store.View(w.T.Context(), func(v store.View) (err error) {
		out, err = fn(v)
		return err
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return out
}
