package as

import (
	"context"
	"net/netip"
	"net/url"
	"time"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

const (
	// staleLife is how long the last valid document is used to refresh tokens while a newer
	// one cannot be fetched (H-155).
	staleLife = 7 * 24 * time.Hour
	// unusedDocument is how long a document without a grant is kept after it has to be
	// fetched again: longer than the requests that it began.
	unusedDocument = time.Hour
	failureLife    = time.Minute // how long a failed fetch is not repeated
)

// documentBody is the body of an EntryDocument, whose key is the client id.
type documentBody struct {
	clientBody
	FetchedAt  time.Time `json:"fetched_at"`
	FreshUntil time.Time `json:"fresh_until"`
}

// failureBody is the body of the EntryThrottle of a document that was not accepted.
type failureBody struct {
	Reason string    `json:"reason"`
	Until  time.Time `json:"until"`
}

func failureKey(id pdpp.ClientID) string { return "client document " + secret.Hash(string(id)) }

// cachedDocument is what the store has about the document of a client.
type cachedDocument struct {
	doc    *documentBody // the last valid one; nil if there is none
	failed string        // why a fetch failed within the last minute; "" if none did
}

// isFresh reports whether the document needs no fetch.
func (c cachedDocument) isFresh(now time.Time) bool {
	return c.doc != nil && now.Before(c.doc.FreshUntil)
}

// documentClient finds a client by its document (H-154). It fetches a document that is not
// stored or not fresh. A document that cannot be fetched any more still refreshes tokens.
func (s *Server) documentClient(ctx context.Context, id pdpp.ClientID, l lookup) (*Client, error) {
	if s.Documents == nil || !isDocumentID(string(id)) {
		return nil, errUnknownClient
	}
	c, err := s.cached(ctx, id)
	if err != nil {
		return nil, err
	}
	if l.refresh && c.doc == nil {
		return nil, errUnknownClient // it has no token
	}
	if !c.isFresh(s.now()) && c.failed == "" {
		renewed, err := s.renewDocument(ctx, id, l.addr)
		switch {
		case err == nil:
			c = renewed
		case l.refresh && isTooMany(err): // the fetch can wait
		default:
			return nil, err
		}
	}
	isUsable := c.isFresh(s.now()) || l.refresh && c.doc != nil && s.now().Before(c.doc.FetchedAt.Add(staleLife))
	if !isUsable {
		return nil, refusedDocument(c.failed)
	}
	return c.doc.client(id), nil
}

// cached reads what the store has about a document.
func (s *Server) cached(ctx context.Context, id pdpp.ClientID) (c cachedDocument, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		_, doc, err := read[documentBody](v, store.EntryDocument, string(id))
		if err != nil && !isMissing(err) {
			return err
		}
		c.doc = doc
		_, failure, err := read[failureBody](v, store.EntryThrottle, failureKey(id))
		if isMissing(err) {
			return nil
		}
		if err == nil && s.now().Before(failure.Until) {
			c.failed = failure.Reason
		}
		return err
	})
	return c, err
}

// renewDocument fetches a document, one at a time per host, and stores the result. Requests
// that wait for a fetch are limited by the address of the client.
func (s *Server) renewDocument(ctx context.Context, id pdpp.ClientID, addr netip.Addr) (cachedDocument, error) {
	u, err := url.Parse(string(id))
	if err != nil {
		return cachedDocument{}, err
	}
	// Waiting counts too: it occupies one of the requests that the server answers at once.
	if err := s.Store.Update(ctx, func(tx store.Tx) error { return documentQuota.take(tx, addr, s.now()) }); err != nil {
		return cachedDocument{}, err
	}
	leave, err := s.hosts.enter(ctx, u.Hostname())
	if err != nil {
		return cachedDocument{}, err
	}
	defer leave()
	// Another request may have fetched it in the meantime.
	if c, err := s.cached(ctx, id); err != nil || c.isFresh(s.now()) || c.failed != "" {
		return c, err
	}
	m, life, fault := s.fetchDocument(ctx, id)
	switch {
	case ctx.Err() != nil:
		return cachedDocument{}, ctx.Err() // nobody waits any more; that says nothing about the document
	case fault != nil:
		err = s.rejectDocument(ctx, id, fault)
	default:
		err = s.saveDocument(ctx, id, m, life)
	}
	if err != nil {
		return cachedDocument{}, err
	}
	return s.cached(ctx, id)
}

// saveDocument stores a valid document. Whatever uses a redirect URI compares it with the
// stored ones again, so that requests and codes end with a redirect URI that is dropped.
func (s *Server) saveDocument(ctx context.Context, id pdpp.ClientID, m *metadata, life time.Duration) error {
	now := s.now()
	body := documentBody{m.body(store.ModeDocument), now, now.Add(life)}
	return s.Store.Update(ctx, func(tx store.Tx) error {
		e, err := tx.Entry(store.EntryDocument, string(id))
		switch {
		case isMissing(err):
			e = store.Entry{Kind: store.EntryDocument, Key: string(id), CreatedAt: now, DeleteAfter: now}
			_, err = checkUnused(tx, store.EntryDocument)
		case err == nil && e.DeleteAfter.IsZero():
			return write(tx, e, body) // of a client that got access
		}
		if err != nil {
			return err
		}
		e.DeleteAfter = body.FreshUntil.Add(unusedDocument)
		return write(tx, e, body)
	})
}

// rejectDocument remembers that a document was not accepted. If the client has given up its
// id, its tokens are revoked (H-155).
func (s *Server) rejectDocument(ctx context.Context, id pdpp.ClientID, fault *documentFault) error {
	now := s.now()
	until := now.Add(failureLife)
	return s.change(ctx, store.ByClient, func(tx store.Tx) error {
		e := store.Entry{Kind: store.EntryThrottle, Key: failureKey(id), CreatedAt: now, DeleteAfter: until}
		if err := write(tx, e, failureBody{fault.reason, until}); err != nil || !fault.changed {
			return err
		}
		_, err := tx.Entry(store.EntryDocument, string(id))
		if isMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		s.Log.Warn("a client document does not name its client any more; the tokens of the client are revoked", "client", string(id))
		if err := tx.DeleteEntry(store.EntryDocument, string(id)); err != nil {
			return err
		}
		return endTokens(tx, id, EndedByDocument, now)
	})
}

// endTokens revokes the tokens of a client, for all owners.
func endTokens(tx store.Tx, id pdpp.ClientID, why EndReason, now time.Time) error {
	owners, err := tx.Subjects()
	if err != nil {
		return err
	}
	for _, owner := range owners {
		held, err := heldBy(tx, owner.ID, id)
		if err != nil {
			return err
		}
		for _, a := range held {
			families, err := familiesOf(tx, a.id())
			if err != nil {
				return err
			}
			for _, f := range families {
				if err := f.end(tx, why, now); err != nil {
					return err
				}
			}
		}
	}
	return nil
}
