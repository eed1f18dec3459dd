package as

import (
	"context"
	"net/netip"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// source finds clients of one kind. It returns CodeNotFound for an id that it does not know.
type source func(ctx context.Context, id pdpp.ClientID, l lookup) (*Client, error)

// lookup says why a client is looked up.
type lookup struct {
	addr    netip.Addr // of the client, for limits
	refresh bool       // an existing grant is used; nothing new is authorized (H-155)
}

// clientSources returns the sources of clients, in their order. The source of client
// documents (H-154) comes last, because it uses the network.
func (s *Server) clientSources() []source {
	return []source{preRegisteredClient, s.registeredClient, s.documentClient}
}

// client finds a client (H-141). CodeNotFound when no source knows it.
func (s *Server) client(ctx context.Context, id pdpp.ClientID, l lookup) (*Client, error) {
	for _, find := range s.sources {
		c, err := find(ctx, id, l)
		if err == nil || !isMissing(err) {
			return c, err
		}
	}
	return nil, errUnknownClient
}

// preRegisteredClient is the source of the clients that every server knows.
func preRegisteredClient(_ context.Context, id pdpp.ClientID, _ lookup) (*Client, error) {
	if c := builtIn(id); c != nil {
		return c, nil
	}
	return nil, errUnknownClient
}

func builtIn(id pdpp.ClientID) *Client {
	for i := range preRegistered {
		if preRegistered[i].ID == id {
			return &preRegistered[i]
		}
	}
	return nil
}

// registeredClient is the source of the clients that registered themselves.
func (s *Server) registeredClient(ctx context.Context, id pdpp.ClientID, _ lookup) (c *Client, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		c, err = readRegistered(v, id)
		return err
	})
	return c, err
}

func readRegistered(v store.Entries, id pdpp.ClientID) (*Client, error) {
	_, body, err := read[clientBody](v, store.EntryClient, string(id))
	if err != nil {
		return nil, err
	}
	return body.client(id), nil
}

// storedClient finds a client within a transaction, where no document can be fetched: a
// pre-registered one, a registered one, or one whose document is stored.
func storedClient(v store.Entries, id pdpp.ClientID) (*Client, error) {
	if c := builtIn(id); c != nil {
		return c, nil
	}
	c, err := readRegistered(v, id)
	if !isMissing(err) {
		return c, err
	}
	_, doc, err := read[documentBody](v, store.EntryDocument, string(id))
	if err != nil {
		return nil, err
	}
	return doc.client(id), nil
}

// keepClient keeps a client that got access. Clients without access are removed (H-153).
func keepClient(tx store.Tx, id pdpp.ClientID) error {
	for _, kind := range []store.EntryKind{store.EntryClient, store.EntryDocument} {
		e, err := tx.Entry(kind, string(id))
		if isMissing(err) || err == nil && e.DeleteAfter.IsZero() {
			continue // another kind of client, or kept already
		}
		if err != nil {
			return err
		}
		e.DeleteAfter = time.Time{}
		if err := tx.PutEntry(e); err != nil {
			return err
		}
	}
	return nil
}

// ownersClient finds the client among those of an owner, or adds it.
func ownersClient(tx store.Tx, subject pdpp.SubjectID, c *Client, now time.Time) (store.Client, error) {
	known, err := tx.Client(subject, string(c.ID))
	if err == nil && known.ID == c.ID {
		return known, nil
	}
	if err != nil && !isMissing(err) {
		return known, err
	}
	added := store.Client{ID: c.ID, Name: c.Name, RegistrationMode: c.Mode, CreatedAt: now}
	return added, tx.CreateClient(subject, added)
}
