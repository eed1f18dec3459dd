package as

import (
	"context"
	"net/netip"
	"time"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

const (
	pushedPrefix = "urn:ietf:params:oauth:request_uri:"
	pushedLife   = 300 * time.Second // H-151
)

// pushedBody is the body of an EntryPushed, whose key is the hash of the request_uri.
type pushedBody struct {
	params
	ExpiresAt time.Time `json:"expires_at"`
}

// push stores the parameters of a request and returns its request_uri (RFC 9126).
func (s *Server) push(ctx context.Context, p *params, addr netip.Addr) (uri string, err error) {
	uri = secret.Token(pushedPrefix)
	now := s.now()
	return uri, s.Store.Update(ctx, func(tx store.Tx) error {
		if err := requestQuota.take(tx, addr, now); err != nil {
			return err
		}
		end := now.Add(pushedLife)
		return write(tx, store.Entry{Kind: store.EntryPushed, Key: secret.Hash(uri), CreatedAt: now, DeleteAfter: end}, pushedBody{*p, end})
	})
}

var errPushed = invalidRequest("request_uri is unknown, expired, already used, or of another client. Start again from the application.")

// beginPushed begins the request that was pushed as uri. A request_uri works once.
func (s *Server) beginPushed(ctx context.Context, uri string, client pdpp.ClientID, addr netip.Addr) (id string, err error) {
	now := s.now()
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		e, b, err := read[pushedBody](tx, store.EntryPushed, secret.Hash(uri))
		if isMissing(err) || err == nil && (b.Client != client || !now.Before(b.ExpiresAt)) {
			return errPushed
		}
		if err != nil {
			return err
		}
		if err := requestQuota.take(tx, addr, now); err != nil {
			return err
		}
		if err := tx.DeleteEntry(e.Kind, e.Key); err != nil {
			return err
		}
		id, err = newRequest(tx, &requestBody{params: b.params, ExpiresAt: now.Add(requestLife)}, now)
		return err
	})
	return id, err
}
