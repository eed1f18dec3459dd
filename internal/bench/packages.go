package bench

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// Packages compares a search through a package with one through a single grant over the
// same records. The package has the mailbox split into several connections.
func (s *Suite) Packages(ctx context.Context, single Served) ([]Row, error) {
	a, err := newRequester(ctx, s.Corpus, single.Dir, single.Records)
	if err != nil {
		return nil, err
	}
	one, err := dial(single.Addr)
	if err != nil {
		return nil, err
	}
	defer one.close()
	var rows []Row
	for _, k := range []struct {
		members int
		target  *Target
	}{{5, AtMost(3)}, {50, AtMost(12)}} {
		dir, err := s.buildPackage(ctx, single.Records, k.members)
		if err != nil {
			return rows, err
		}
		serve := func(ctx context.Context, ready func(string)) error { return Serve(ctx, dir, ready) }
		err = serving(ctx, serve, func(addr string) error {
			s.Progress("search through a package of %d", k.members)
			many, err := dial(addr)
			if err != nil {
				return err
			}
			defer many.close()
			var ask []byte
			times, err := s.inTurn(ctx, s.Samples,
				func() (time.Duration, error) {
					ask = a.searchBoth().hosted
					return many.timed(ask)
				},
				func() (time.Duration, error) { return one.timed(ask) })
			if err != nil {
				return err
			}
			rows = append(rows, compare(fmt.Sprintf("hosted search, package of %d / one grant", k.members), "ms", times[0], times[1], k.target))
			return nil
		})
		if err != nil {
			return rows, err
		}
	}
	return rows, nil
}

// buildPackage creates a store with the mailbox split over the connections of a package,
// one range of records each.
func (s *Suite) buildPackage(ctx context.Context, n, members int) (dir string, err error) {
	if dir, err = s.folder(); err != nil {
		return "", err
	}
	w, err := emptyWorld(ctx, dir)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.Close()) }()
	connections := make([]pdpp.Connection, members)
	for i := range connections {
		connections[i] = connection
		connections[i].ID, connections[i].Name = pdpp.ConnectionID(fmt.Sprintf("cin_%02d", i)), fmt.Sprintf("mail %d", i)
		connections[i].Label = "Mailbox " + strconv.Itoa(i)
	}
	if err := w.Store.Update(ctx, func(tx store.Tx) error { return w.createPackage(tx, connections) }); err != nil {
		return dir, err
	}
	for i, c := range connections {
		s.Progress("building a package of %d: %d", members, i+1)
		first, end := i*n/members, (i+1)*n/members
		if _, err := w.ingest(ctx, c, s.Corpus.Lines(first, end), end-first, nil); err != nil {
			return dir, err
		}
	}
	return dir, w.tidy(ctx)
}

// createPackage creates a grant for each connection, and a package of the grants.
func (w *World) createPackage(tx store.Tx, connections []pdpp.Connection) error {
	if err := w.createOwner(tx); err != nil {
		return err
	}
	if err := tx.CreateClient(w.Subject, operator); err != nil {
		return err
	}
	var members []store.NewMember
	for i, c := range connections {
		id := pdpp.GrantID("grt_bench_" + strconv.Itoa(i))
		if err := errors.Join(tx.PutConnection(w.Subject, c), w.grant(tx, id, c.ID)); err != nil {
			return err
		}
		members = append(members, store.NewMember{Grant: id, Connection: c.ID})
	}
	p, err := tx.CreatePackage(store.Package{ID: "pkg_bench", Subject: w.Subject, Client: operator, IssuedAt: firstEmitted}, members)
	if err != nil {
		return err
	}
	return tx.CreateToken(store.Token{
		ID: "tok_bench", Kind: pdpp.TokenPackage, Subject: w.Subject, Client: operator.ID, Package: p.ID,
		Audience: []string{"mcp"}, Label: "bench", IssuedAt: firstEmitted, ExpiresAt: firstEmitted.AddDate(100, 0, 0),
	}, store.HashToken(token))
}

// operator is the client of all grants.
var operator = store.Client{ID: "cli_bench", Name: "Bench", RegistrationMode: "operator", CreatedAt: firstEmitted}

// grant creates a grant of the client for a connection.
func (w *World) grant(tx store.Tx, id pdpp.GrantID, c pdpp.ConnectionID) error {
	document := grant.Document(&pdpp.Grant{
		ID: id, IssuedAt: firstEmitted, SubjectID: w.Subject, ClientID: operator.ID, ClientName: operator.Name,
		SourceKind: w.Manifest.SourceKind, SourceID: w.Manifest.SourceID, ConnectorKey: w.Manifest.ConnectorKey,
		ManifestVersion: w.Manifest.Version, PurposeCode: "https://pdpp.dev/purpose/analytics", AccessMode: grant.Continuous,
		Streams: []pdpp.GrantStream{{Name: stream, Connections: []pdpp.ConnectionID{c}, Fields: grantedFields}},
	})
	return tx.CreateGrant(store.Grant{
		ID: id, Subject: w.Subject, Client: operator, ConnectorKey: w.Manifest.ConnectorKey, Document: document, IssuedAt: firstEmitted,
	})
}
