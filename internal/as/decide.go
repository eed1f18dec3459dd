package as

import (
	"context"
	"crypto/subtle"
	"errors"
	"log/slog"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/grant"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

var (
	// ErrChanged reports that what would be granted is not what the owner reviewed. The
	// owner reviews again (H-184).
	ErrChanged = errors.New("as: what would be granted has changed since the review")
	// ErrDecided reports that the request was decided before, or has expired. Nothing is
	// sent (H-144).
	ErrDecided = errors.New("as: the request is not pending any more")
)

// Choose saves what the owner chose, for the review and the approval.
func (s *Server) Choose(ctx context.Context, id string, subject pdpp.SubjectID, ch consent.Choice) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		o, err := s.pending(tx, id, subject)
		if err != nil {
			return err
		}
		o.body.Choice = &ch
		return o.save(tx)
	})
}

// pending finds a request that the subject has opened and not yet decided on.
func (s *Server) pending(tx store.Tx, id string, subject pdpp.SubjectID) (*openRequest, error) {
	o, err := findRequest(tx, id, subject)
	switch {
	case err != nil:
		return nil, err
	case o.body.outcome(s.now()) != Pending:
		return nil, ErrDecided
	case o.entry.Subject == "":
		return nil, errNoRequest // nobody has seen it yet
	}
	return o, nil
}

// Review returns what a choice would grant now, or its faults.
func (s *Server) Review(ctx context.Context, id string, subject pdpp.SubjectID, ch consent.Choice) (d *consent.Decision, faults []consent.Fault, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		o, err := findRequest(v, id, subject)
		if err != nil {
			return err
		}
		if o.body.Offer == nil {
			return errNoRequest
		}
		d, faults, err = o.decide(v, ch, s.now())
		return err
	})
	return d, faults, err
}

// decide resolves a choice against what the owner has now.
func (o *openRequest) decide(v store.View, ch consent.Choice, now time.Time) (*consent.Decision, []consent.Fault, error) {
	catalog, err := v.Catalog(o.entry.Subject)
	if err != nil {
		return nil, nil, err
	}
	d, faults := o.body.Offer.Decide(ch, catalog, consent.Issue{
		Subject: o.entry.Subject, ClientID: o.client.ID, ClientName: o.client.Name, Now: now,
	})
	return d, faults, nil
}

// Approval is the decision of an owner to grant what they reviewed.
type Approval struct {
	Request string
	Subject pdpp.SubjectID
	Base    string // R
	Digest  string // of the reviewed decision

	RequestID, Address string // for the log
}

// Approve creates what the owner chose, in one transaction (H-184). It returns the URL to
// redirect the browser to, or "" for a device. Approving again yields the first result while
// its code is unused. ErrChanged means that the owner must review again, ErrDecided that the
// request is not pending any more.
func (s *Server) Approve(ctx context.Context, a Approval) (next string, err error) {
	var o *openRequest
	err = s.change(ctx, store.ByOwner, func(tx store.Tx) error {
		if o, err = findRequest(tx, a.Request, a.Subject); err != nil {
			return err
		}
		next, err = s.approve(tx, o, a)
		return err
	})
	if err != nil {
		return "", err
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, "access approved", slog.String("client", string(o.client.ID)), slog.String("access", o.body.Access.id()),
		slog.String("request_id", a.RequestID), slog.String("address", a.Address))
	return next, nil
}

func (s *Server) approve(tx store.Tx, o *openRequest, a Approval) (next string, err error) {
	now := s.now()
	if o.body.Outcome == Approved {
		return repeatApproval(tx, o, a.Base, now)
	}
	if o, err = s.pending(tx, a.Request, a.Subject); err != nil {
		return "", err
	}
	if err := o.grant(tx, a, now); err != nil {
		return "", err
	}
	o.body.Outcome, o.body.DecidedAt = Approved, now
	return o.answer(tx, a.Base, now)
}

// grant resolves the choice again, compares it with what was reviewed, and creates the
// grants.
func (o *openRequest) grant(tx store.Tx, a Approval, now time.Time) error {
	b := o.body
	if b.Choice == nil {
		return ErrChanged
	}
	d, faults, err := o.decide(tx, *b.Choice, now)
	if err != nil {
		return err
	}
	isSame := len(faults) == 0 && d != nil && subtle.ConstantTimeCompare([]byte(d.Digest()), []byte(a.Digest)) == 1
	if !isSame {
		return ErrChanged
	}
	client, err := ownersClient(tx, o.entry.Subject, o.client, now)
	if err != nil {
		return err
	}
	if err := keepClient(tx, client.ID); err != nil {
		return err
	}
	if err := revokeReplaced(tx, o.entry.Subject, client.ID, b.Choice.Replace, now); err != nil {
		return err
	}
	b.Access, err = createAccess(tx, o.entry.Subject, client, d, now)
	return err
}

// createAccess stores the grants of a decision, and a package when there are several (H-80).
// Only the code or device code of this approval gives a token for them, so that a single-use
// grant is consumed from the beginning (H-149).
func createAccess(tx store.Tx, subject pdpp.SubjectID, client store.Client, d *consent.Decision, now time.Time) (access, error) {
	var members []store.NewMember
	for _, g := range d.Grants {
		g.ID = pdpp.GrantID(secret.ID("grt_"))
		isSingleUse := g.AccessMode == grant.SingleUse
		if err := tx.CreateGrant(store.Grant{
			ID: g.ID, Subject: subject, Client: client, ConnectorKey: g.ConnectorKey, Document: grant.Document(g),
			IssuedAt: g.IssuedAt, ExpiresAt: g.ExpiresAt, Consumed: isSingleUse && !d.IsPackage(),
		}); err != nil {
			return access{}, err
		}
		members = append(members, store.NewMember{Grant: g.ID, Connection: g.Connections()[0], SingleUse: isSingleUse})
	}
	if !d.IsPackage() {
		return access{Grant: d.Grants[0].ID}, nil
	}
	p, err := tx.CreatePackage(store.Package{ID: pdpp.PackageID(secret.ID("gpkg_")), Subject: subject, Client: client, IssuedAt: now}, members)
	return access{Package: p.ID}, err
}

// revokeReplaced revokes the grants and packages that the owner replaces (H-182). They must be
// the same client's.
func revokeReplaced(tx store.Tx, subject pdpp.SubjectID, client pdpp.ClientID, ids []string, now time.Time) error {
	for _, id := range ids {
		a := access{Grant: pdpp.GrantID(id)}
		if strings.HasPrefix(id, "gpkg_") {
			a = access{Package: pdpp.PackageID(id)}
		}
		holder, err := a.client(tx, subject)
		if isMissing(err) || err == nil && holder != client {
			return ErrChanged
		}
		if err != nil {
			return err
		}
		if err := a.revoke(tx, subject, now); err != nil {
			return err
		}
	}
	return nil
}

// answer returns where the browser of an approved request continues: with a code at the
// redirect URI (H-144), or nowhere for a device.
func (o *openRequest) answer(tx store.Tx, base string, now time.Time) (string, error) {
	b := o.body
	if b.Device != "" {
		return "", errors.Join(settleDevice(tx, b.Device), o.save(tx))
	}
	code, key, err := newCode(tx, o, now)
	if err != nil {
		return "", err
	}
	b.Code = key
	return addQuery(b.RedirectURI, "code", code, "state", b.State, "iss", base), o.save(tx)
}

// repeatApproval answers a second approval, as by a double click, of which the browser shows
// only the last answer. The first code is not known any more, so that a new one replaces it;
// the grants are those of the first approval.
func repeatApproval(tx store.Tx, o *openRequest, base string, now time.Time) (string, error) {
	if o.body.Device != "" {
		return "", nil
	}
	unused, err := codeUnused(tx, o.body.Code, now)
	if err != nil {
		return "", err
	}
	if !unused {
		return "", ErrDecided
	}
	if err := tx.DeleteEntry(store.EntryCode, o.body.Code); err != nil {
		return "", err
	}
	return o.answer(tx, base, now)
}

// Deny decides against a request. It returns the URL to redirect the browser to, or "" for a
// device. Denying again yields the same.
func (s *Server) Deny(ctx context.Context, base, id string, subject pdpp.SubjectID) (next string, err error) {
	err = s.change(ctx, store.ByOwner, func(tx store.Tx) error {
		o, err := findRequest(tx, id, subject)
		if err != nil {
			return err
		}
		if o.body.Outcome != Denied {
			if o, err = s.pending(tx, id, subject); err != nil {
				return err
			}
			o.body.Outcome, o.body.DecidedAt = Denied, s.now()
			if err := tx.AddAudit(store.Audit{At: s.now(), Action: store.RequestDenied, Subject: subject, Client: o.client.ID}); err != nil {
				return err
			}
		}
		if o.body.Device != "" {
			return errors.Join(settleDevice(tx, o.body.Device), o.save(tx))
		}
		next = s.errorRedirect(&o.body.params, base, errDenied)
		return o.save(tx)
	})
	return next, err
}
