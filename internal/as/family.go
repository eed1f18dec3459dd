package as

import (
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/issue"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// The lives of tokens (§5.6).
const (
	accessLife      = time.Hour      // of an access token that can be renewed
	accessLifeAlone = 24 * time.Hour // of one that cannot
	refreshLife     = 60 * 24 * time.Hour
)

// family is the body of an EntryFamily: the tokens of one code or device code, which are
// revoked together. Its parent is the id of the grant or package, its key the family of its
// access tokens.
type family struct {
	access
	Client   pdpp.ClientID `json:"client"`
	Audience []string      `json:"audience"`
	NoRenew  bool          `json:"no_renew,omitempty"` // the client does not use refresh tokens (H-162)

	// Used is the highest generation of which a refresh token was used. Each rotation
	// begins a new generation.
	Used    int       `json:"used"`
	Ended   EndReason `json:"ended,omitempty"`
	EndedAt time.Time `json:"ended_at,omitzero"`

	entry store.Entry
}

// EndReason is why the tokens of a family were revoked.
type EndReason string

// The reasons. A family that has not ended has none.
const (
	EndedByRevocation EndReason = "revoked"  // by the owner or the client
	EndedByReplay     EndReason = "replayed" // a superseded refresh token was used (H-164)
	EndedByReuse      EndReason = "reused"   // its code was used twice (H-161)
	EndedByDocument   EndReason = "document" // the client document no longer names the client (H-155)
)

// newFamily stores a family.
func newFamily(tx store.Tx, subject pdpp.SubjectID, f *family, now time.Time) error {
	f.entry = store.Entry{Kind: store.EntryFamily, Key: secret.ID("fam_"), Subject: subject, Parent: f.id(), CreatedAt: now}
	return f.save(tx, now)
}

// save stores a family until its last token has ended.
func (f *family) save(tx store.Tx, now time.Time) error {
	f.entry.DeleteAfter = now.Add(refreshLife + keepEnded)
	return write(tx, f.entry, f)
}

func findFamily(v store.Entries, key string) (*family, error) {
	e, f, err := read[family](v, store.EntryFamily, key)
	if err != nil {
		return nil, err
	}
	f.entry = e
	return f, nil
}

// end revokes the tokens of a family (H-171).
func (f *family) end(tx store.Tx, why EndReason, now time.Time) error {
	if f.Ended != "" {
		return nil
	}
	f.Ended, f.EndedAt = why, now
	if err := f.save(tx, now); err != nil {
		return err
	}
	if err := tx.RevokeFamily(f.entry.Subject, f.entry.Key, now); err != nil {
		return err
	}
	return tx.AddAudit(store.Audit{At: now, Action: why.action(), Subject: f.entry.Subject, Client: f.Client, Grant: f.Grant, Package: f.Package})
}

// action returns the action of the audit row of a family that ended.
func (why EndReason) action() store.Action {
	switch why {
	case EndedByReplay:
		return store.RefreshReplayed
	case EndedByReuse:
		return store.CodeReplayed
	case EndedByDocument:
		return store.DocumentChanged
	}
	return store.TokensRevoked
}

// endWithAccess ends a family, and its grant or package when no other family lives on it
// (H-170).
func (f *family) endWithAccess(tx store.Tx, why EndReason, now time.Time) error {
	if err := f.end(tx, why, now); err != nil {
		return err
	}
	siblings, err := familiesOf(tx, f.id())
	if err != nil || slices.ContainsFunc(siblings, func(o *family) bool { return o.Ended == "" }) {
		return err
	}
	if f.Package != "" {
		_, _, _, err = tx.RevokePackage(f.entry.Subject, f.Package, now)
	} else {
		_, _, err = tx.RevokeGrant(f.entry.Subject, f.Grant, now)
	}
	if isMissing(err) {
		return nil
	}
	return err
}

// familiesOf lists the families of a grant or package.
func familiesOf(v store.Entries, id string) ([]*family, error) {
	entries, err := v.Children(store.EntryFamily, id)
	if err != nil {
		return nil, err
	}
	var out []*family
	for _, e := range entries {
		f, err := decode[family](e)
		if err != nil {
			return nil, err
		}
		f.entry = e
		out = append(out, f)
	}
	return out, nil
}

// issue issues an access token for the audience and, unless the client or the grant excludes
// it (H-162), a refresh token of a generation.
func (f *family) issue(tx store.Tx, r *rights, audience []string, generation int, now time.Time) (*tokenAnswer, error) {
	renewable := r.continuous && !f.NoRenew
	life := accessLifeAlone
	if renewable {
		life = accessLife
	}
	end := issue.ExpiryWithin(now, life, r.end)
	var token store.Token
	var value string
	if f.Package != "" {
		token, value = issue.PackageToken(r.pkg, audience, now, end)
	} else {
		token, value = issue.ClientToken(r.grant, audience, now, end)
	}
	token.Family = f.entry.Key
	if err := tx.CreateToken(token, store.HashToken(value)); err != nil {
		return nil, err
	}
	answer := newAnswer(value, end.Sub(now), r.documents)
	answer.Scope, answer.GrantID, answer.PackageID = scopeRead, f.Grant, f.Package
	if !renewable {
		return answer, nil
	}
	answer.RefreshToken = secret.Token("pdpp_rt_")
	expires := issue.ExpiryWithin(now, refreshLife, r.end)
	return answer, write(tx, store.Entry{
		Kind: store.EntryRefresh, Key: secret.Hash(answer.RefreshToken), Subject: f.entry.Subject, Parent: f.entry.Key,
		CreatedAt: now, DeleteAfter: expires,
	}, refreshBody{Generation: generation, ExpiresAt: expires})
}
