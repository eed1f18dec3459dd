package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/store"
)

// The consent page of an owner with many sources, each with several streams of a few records.
const (
	consentSources = 50
	consentStreams = 20
	consentRecords = 5
)

// ConsentPage compares the consent page of an owner who has many sources with that of an
// owner who has one.
func (s *Suite) ConsentPage(ctx context.Context) (row Row, err error) {
	s.Progress("building stores with %d and 1 sources", consentSources)
	var times []float64
	err = s.withConsentPage(ctx, consentSources, func(many func() (time.Duration, error)) error {
		return s.withConsentPage(ctx, 1, func(one func() (time.Duration, error)) error {
			s.Progress("consent page of %d sources", consentSources)
			return s.profiled("consent page", true, func() error {
				times, err = s.inTurn(ctx, max(5, s.Samples/20), many, one)
				return err
			})
		})
	})
	if err != nil {
		return Row{}, err
	}
	what := fmt.Sprintf("consent page, %d / 1 connections with %d streams", consentSources, consentStreams)
	return compare(what, "ms", times[0], times[1], AtMost(10)), nil
}

// withConsentPage builds a store, serves it, and calls fn with a function that opens the
// consent page of a request.
func (s *Suite) withConsentPage(ctx context.Context, sources int, fn func(open func() (time.Duration, error)) error) error {
	dir, err := s.folder()
	if err != nil {
		return err
	}
	if err := buildSources(ctx, dir, sources); err != nil {
		return err
	}
	page, err := consentRequest(ctx, dir)
	if err != nil {
		return err
	}
	serve := func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }
	return serving(ctx, serve, func(addr string) error {
		c, err := dial(addr)
		if err != nil {
			return err
		}
		defer c.close()
		return fn(func() (time.Duration, error) {
			took, err := c.timed(page)
			if shown := bytes.Count(c.body, []byte(`name="stream"`)); err == nil && shown != sources*consentStreams {
				err = fmt.Errorf("the page shows %d streams, want %d", shown, sources*consentStreams)
			}
			return took, err
		})
	})
}

// consentRequest returns a request of a browser for the consent page of a new authorization
// request.
func consentRequest(ctx context.Context, dir string) (page []byte, err error) {
	f, err := newFlow(ctx, dir)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	id, err := f.authorize(ctx)
	if err != nil {
		return nil, err
	}
	cookie, err := f.signIn(ctx)
	if err != nil {
		return nil, err
	}
	return []byte("GET /consent/" + id + " HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/html\r\nCookie: pdpp_session=" + cookie + "\r\n\r\n"), nil
}

// buildSources creates a store with connections that all have the same streams.
func buildSources(ctx context.Context, dir string, sources int) (err error) {
	w, err := emptyWorld(ctx, dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	if w.Manifest, err = manifest.Parse(manyStreams()); err != nil {
		return err
	}
	return w.Store.Update(ctx, func(tx store.Tx) error {
		if err := w.createOwner(tx); err != nil {
			return err
		}
		for i := range sources {
			c := connection
			c.ID, c.Name = pdpp.ConnectionID(fmt.Sprintf("cin_%02d", i)), fmt.Sprintf("mail %d", i)
			if err := tx.PutConnection(w.Subject, c); err != nil {
				return err
			}
			if err := w.fillStreams(tx, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// fillStreams stores a few records in each stream of a connection.
func (w *World) fillStreams(tx store.Tx, c pdpp.Connection) error {
	for _, declared := range w.Manifest.Streams {
		b, err := tx.Binding(w.Subject, c, declared)
		if err != nil {
			return err
		}
		var docs []store.Document
		for n := range consentRecords {
			data := fmt.Appendf(nil, `{"id":"%d","subject":"Hello","sent_at":"%s"}`, n, sentAt(n).Format(time.RFC3339))
			docs = append(docs, store.Prepare(b, store.Input{ID: pdpp.RecordID(fmt.Sprint(n)), Data: data, EmittedAt: firstEmitted}))
		}
		if _, err := tx.Ingest(b, docs, firstEmitted); err != nil {
			return err
		}
	}
	return nil
}

// manyStreams returns the manifest of the mailbox with its stream repeated under other names.
func manyStreams() []byte {
	head, rest, _ := strings.Cut(string(mailManifest), `"streams": [`)
	first, end, _ := strings.Cut(rest, "\n  }]")
	var all []string
	for i := range consentStreams {
		all = append(all, strings.Replace(first, `"messages"`, fmt.Sprintf(`"messages_%d"`, i), 1))
	}
	return []byte(head + `"streams": [` + strings.Join(all, "\n  }, ") + "\n  }]" + end)
}
