package as

import (
	"context"
	"encoding/base64"
	"net/netip"
	"time"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// requestLife is how long an owner has to decide on a request of the code flow (H-144).
const requestLife = 30 * time.Minute

// Outcome is what became of a request.
type Outcome string

// The outcomes of a request. A pending request has no outcome yet.
const (
	Pending  Outcome = ""
	Approved Outcome = "approved"
	Denied   Outcome = "denied"
	Expired  Outcome = "expired"
)

// Request is an authorization request that an owner decides on.
type Request struct {
	ID          string
	Client      Client
	RedirectURI string // "" for a device
	Device      bool
	UserCode    string // that the owner entered, of a device request
	Address     string // of the device, or ""
	Audience    []string
	Details     *consent.Request // nil: the owner chooses from everything

	CreatedAt, ExpiresAt time.Time

	Outcome Outcome
	Offer   *consent.Offer  // nil until an owner has opened it in time
	Choice  *consent.Choice // nil until the owner has chosen
}

// requestBody is the body of an EntryRequest, whose key is the id of the request.
type requestBody struct {
	params
	Device    string          `json:"device,omitempty"` // key of the EntryDevice
	UserCode  string          `json:"user_code,omitempty"`
	Address   string          `json:"address,omitempty"`
	ExpiresAt time.Time       `json:"expires_at"`
	Outcome   Outcome         `json:"outcome,omitempty"`
	DecidedAt time.Time       `json:"decided_at,omitzero"`
	Access    access          `json:"access,omitzero"` // what was approved
	Code      string          `json:"code,omitempty"`  // key of the EntryCode
	Offer     *consent.Offer  `json:"offer,omitempty"`
	Choice    *consent.Choice `json:"choice,omitempty"`
}

// outcome returns what became of the request at now.
func (b *requestBody) outcome(now time.Time) Outcome {
	if b.Outcome == Pending && !now.Before(b.ExpiresAt) {
		return Expired
	}
	return b.Outcome
}

// newRequest stores a request and returns its id. It is kept after its end only if an owner
// opens it: strangers begin requests, and each may contain a lot of details.
func newRequest(tx store.Tx, b *requestBody, now time.Time) (string, error) {
	id := "areq_" + base64.RawURLEncoding.EncodeToString(secret.Key(16))
	return id, write(tx, store.Entry{Kind: store.EntryRequest, Key: id, CreatedAt: now, DeleteAfter: b.ExpiresAt}, b)
}

// begin stores the request of a browser and returns its id (H-144).
func (s *Server) begin(ctx context.Context, p *params, addr netip.Addr) (id string, err error) {
	now := s.now()
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		if err := requestQuota.take(tx, addr, now); err != nil {
			return err
		}
		id, err = newRequest(tx, &requestBody{params: *p, ExpiresAt: now.Add(requestLife)}, now)
		return err
	})
	return id, err
}

// Request returns a request for an owner who has signed in. The first owner to open it owns
// it: for others, as for an unknown id, the error is CodeNotFound. The offer is made when the
// request is opened first.
func (s *Server) Request(ctx context.Context, id string, subject pdpp.SubjectID) (*Request, error) {
	var opened *openRequest
	err := s.Store.View(ctx, func(v store.View) (err error) {
		opened, err = findRequest(v, id, subject)
		return err
	})
	if err != nil {
		return nil, err
	}
	if opened.entry.Subject == "" && opened.body.outcome(s.now()) == Pending {
		err = s.Store.Update(ctx, func(tx store.Tx) (err error) {
			opened, err = s.open(tx, id, subject)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	return opened.request(s.now())
}

// openRequest is a request as it was read in a transaction.
type openRequest struct {
	entry  store.Entry
	body   *requestBody
	client *Client
}

var errNoRequest = pdpp.Errorf(pdpp.CodeNotFound, "There is no such request. It may have ended long ago. Start again from the application.")

// findRequest finds a request that a subject owns or may come to own. A request ends when its
// client is gone or has dropped the redirect URI (H-155): nothing may be sent there any more.
func findRequest(v store.View, id string, subject pdpp.SubjectID) (*openRequest, error) {
	e, body, err := read[requestBody](v, store.EntryRequest, id)
	if isMissing(err) || err == nil && e.Subject != "" && e.Subject != subject {
		return nil, errNoRequest
	}
	if err != nil {
		return nil, err
	}
	client, err := storedClient(v, body.Client)
	if isMissing(err) || err == nil && body.RedirectURI != "" && !matchRedirect(client.RedirectURIs, body.RedirectURI) {
		return nil, errNoRequest
	}
	return &openRequest{e, body, client}, err
}

// open makes a subject the owner of a request that nobody owns, with the offer of what they
// have.
func (s *Server) open(tx store.Tx, id string, subject pdpp.SubjectID) (*openRequest, error) {
	o, err := findRequest(tx, id, subject)
	if err != nil || o.entry.Subject != "" || o.body.outcome(s.now()) != Pending {
		return o, err
	}
	details, err := o.body.details()
	if err != nil {
		return nil, err
	}
	catalog, err := tx.Catalog(subject)
	if err != nil {
		return nil, err
	}
	o.entry.Subject, o.body.Offer = subject, consent.NewOffer(details, catalog)
	o.entry.DeleteAfter = o.body.ExpiresAt.Add(keepEnded)
	return o, write(tx, o.entry, o.body)
}

// save stores the changed body.
func (o *openRequest) save(tx store.Tx) error { return write(tx, o.entry, o.body) }

func (o *openRequest) request(now time.Time) (*Request, error) {
	b := o.body
	details, err := b.details()
	if err != nil {
		return nil, err
	}
	return &Request{
		ID: o.entry.Key, Client: *o.client, RedirectURI: b.RedirectURI, Device: b.Device != "", UserCode: b.UserCode, Address: b.Address,
		Audience: b.Audience, Details: details, CreatedAt: o.entry.CreatedAt, ExpiresAt: b.ExpiresAt,
		Outcome: b.outcome(now), Offer: b.Offer, Choice: b.Choice,
	}, nil
}
