package sqlite

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"pdpp"
	"pdpp/internal/osfile"
)

// SQLite lets any waiting process write next, so a process that writes all the time can
// starve the others. Two lock files beside the store decide which process writes next
// (H-2):
//
//   - bulk.lock is held by the one slice that waits for the write lock of the database.
//     So a process that has just written a slice cannot overtake a waiting one.
//   - update.lock is held by an Update until it has committed. A slice takes it for a
//     moment before it waits for the write lock, so that a waiting Update goes first.
//
// So an Update waits for two slices at most: the one that writes and the one that
// waits. The operating system releases the locks of a process that ends.
type turns struct {
	bulk   string
	update string
	idle   chan struct{} // contains a value while no slice of this process waits
}

func newTurns(dir string) turns {
	t := turns{
		bulk: filepath.Join(dir, "bulk.lock"), update: filepath.Join(dir, "update.lock"),
		idle: make(chan struct{}, 1),
	}
	t.idle <- struct{}{}
	return t
}

const (
	lockTimeout = 30 * time.Second
	lockPoll    = 5 * time.Millisecond
)

// waitBulk waits for the turn of a slice, before the slice waits for the write lock of
// the database. The caller calls started when the slice has that lock, or has failed to
// get it.
func (t *turns) waitBulk(ctx context.Context) (started func(), err error) {
	select {
	case <-t.idle:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	turn, err := lock(ctx, t.bulk)
	if err != nil {
		t.idle <- struct{}{}
		return nil, err
	}
	started = func() {
		_ = turn.Close() // nothing was written to it
		t.idle <- struct{}{}
	}
	before, err := lock(ctx, t.update)
	if err != nil {
		started()
		return nil, err
	}
	return started, before.Close()
}

// waitUpdate waits for update.lock. The caller calls done when the Update has ended.
func (t *turns) waitUpdate(ctx context.Context) (done func() error, err error) {
	f, err := lock(ctx, t.update)
	if err != nil {
		return nil, err
	}
	return f.Close, nil
}

// lock waits for the lock of a file, which is held until the file is closed.
func lock(ctx context.Context, path string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, &pdpp.Error{Code: pdpp.CodeUnavailable, Message: "The data folder cannot be written to.", RetryAfter: 60, Err: err}
	}
	if err := waitLock(ctx, f); err != nil {
		_ = f.Close()
		return nil, err
	}
	return f, nil
}

func waitLock(ctx context.Context, f *os.File) error {
	err := osfile.Lock(f)
	if !errors.Is(err, osfile.ErrLocked) {
		return err
	}
	tick := time.NewTicker(lockPoll)
	defer tick.Stop()
	end := time.NewTimer(lockTimeout)
	defer end.Stop()
	for errors.Is(err, osfile.ErrLocked) {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-end.C:
			return &pdpp.Error{Code: pdpp.CodeBusy, Message: "The store is busy; try again.", RetryAfter: 1, Err: err}
		case <-tick.C:
			err = osfile.Lock(f)
		}
	}
	return err
}
