package bench

import (
	"context"
	_ "embed"
	"errors"
	"fmt"
	"io"
	"time"

	"pdpp"
	"pdpp/internal/ingest"
	"pdpp/internal/manifest"
	"pdpp/internal/store"
	"pdpp/internal/store/open"
)

//go:embed mail.json
var mailManifest []byte

// The fixed names in a measured store.
const (
	stream    = "messages"
	grantID   = pdpp.GrantID("grt_bench")
	ownerName = "bench"
	token     = "pdpp_bench_0123456789abcdef0123456789abcdef"
)

var connection = pdpp.Connection{
	ID: "cin_bench", Connector: "mail", Name: "bench", Label: "Bench mailbox", Status: "active", CreatedAt: firstEmitted,
}

// grantedFields are most of the fields, but not all, so that answers are projected.
var grantedFields = []string{"id", "from", "subject", "body", "sent_at", "category", "amount", "is_read"}

// World is a store with one mailbox, and a client with a grant for most of it.
type World struct {
	Store    store.Store
	Subject  pdpp.SubjectID
	Manifest *pdpp.Manifest
}

// NewWorld creates a store without records in the folder dir.
func NewWorld(ctx context.Context, dir string) (*World, error) {
	w, err := emptyWorld(ctx, dir)
	if err != nil {
		return nil, err
	}
	err = w.Store.Update(ctx, func(tx store.Tx) error {
		if err := w.createOwner(tx); err != nil {
			return err
		}
		return w.createClient(tx)
	})
	if err != nil {
		return nil, errors.Join(err, w.Close())
	}
	return w, nil
}

// emptyWorld creates a store without an owner.
func emptyWorld(ctx context.Context, dir string) (*World, error) {
	m, err := manifest.Parse(mailManifest)
	if err != nil {
		return nil, err
	}
	db, err := open.Store(ctx, dir, store.OpenOptions{Create: true, Migrate: true})
	if err != nil {
		return nil, err
	}
	return &World{Store: db, Manifest: m}, nil
}

// OpenWorld opens a store that NewWorld created.
func OpenWorld(ctx context.Context, dir string) (*World, error) {
	db, err := open.Store(ctx, dir, store.OpenOptions{Create: true, Migrate: true})
	if err != nil {
		return nil, err
	}
	w := &World{Store: db}
	err = db.View(ctx, func(v store.View) error {
		subjects, err := v.Subjects()
		if err != nil || len(subjects) == 0 {
			return errors.Join(err, errors.New("the store has no owner"))
		}
		w.Subject = subjects[0].ID
		catalog, err := v.Catalog(w.Subject)
		if err == nil {
			w.Manifest = catalog.Manifest(connection.Connector)
		}
		return err
	})
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return w, nil
}

// Close closes the store.
func (w *World) Close() error { return w.Store.Close() }

func (w *World) createOwner(tx store.Tx) error {
	owner, err := tx.CreateSubject(ownerName, firstEmitted)
	if err != nil {
		return err
	}
	w.Subject = owner.ID
	return tx.PutManifest(owner.ID, w.Manifest)
}

// createClient creates the connection, and a client with its grant and token.
func (w *World) createClient(tx store.Tx) error {
	if err := tx.PutConnection(w.Subject, connection); err != nil {
		return err
	}
	if err := tx.CreateClient(w.Subject, operator); err != nil {
		return err
	}
	if err := w.grant(tx, grantID, connection.ID); err != nil {
		return err
	}
	return tx.CreateToken(store.Token{
		ID: "tok_bench", Kind: pdpp.TokenClient, Subject: w.Subject, Client: operator.ID, Grant: grantID,
		Audience: []string{"rest", "mcp"}, Label: "bench", IssuedAt: firstEmitted, ExpiresAt: firstEmitted.AddDate(100, 0, 0),
	}, store.HashToken(token))
}

// Ingest stores n records from NDJSON as `pdpp ingest` does. It fails unless all are
// accepted. It calls progress, if not nil, with the number of stored records.
func (w *World) Ingest(ctx context.Context, lines io.Reader, n int, progress func(done int)) (time.Duration, error) {
	return w.ingest(ctx, connection, lines, n, progress)
}

func (w *World) ingest(ctx context.Context, c pdpp.Connection, lines io.Reader, n int, progress func(done int)) (time.Duration, error) {
	r := ingest.Runner{Store: w.Store, Clock: time.Now}
	if progress != nil {
		r.Progress = func(p ingest.Progress) { progress(int(p.Records)) }
	}
	files := []ingest.File{{Name: "mail.ndjson", Reader: lines}}
	start := time.Now()
	sum, err := r.Run(ctx, w.Subject, c, w.Manifest, ingest.Options{Stream: stream}, files)
	took := time.Since(start)
	if err == nil && sum.Records != (ingest.Counts{Accepted: int64(n)}) {
		err = fmt.Errorf("of %d records, ingest counted %+v", n, sum.Records)
	}
	return took, err
}

// tidy does the maintenance that a server does while it is idle.
func (w *World) tidy(ctx context.Context) error {
	for more := true; more; {
		err := w.Store.Update(ctx, func(tx store.Tx) (err error) {
			more, err = tx.Tidy()
			return err
		})
		if err != nil {
			return err
		}
	}
	return nil
}
