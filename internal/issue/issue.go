package issue

import (
	"time"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// ClientToken returns a token of a grant that expires at end, and its value.
func ClientToken(g store.Grant, audience []string, now, end time.Time) (store.Token, string) {
	return store.Token{
		ID: pdpp.TokenID(secret.ID("tok_")), Kind: pdpp.TokenClient, Subject: g.Subject, Client: g.Client.ID, Grant: g.ID,
		Audience: audience, IssuedAt: now, ExpiresAt: end,
	}, secret.Token("pdpp_at_")
}

// PackageToken returns a token of a package that expires at end, and its value.
func PackageToken(p store.Package, audience []string, now, end time.Time) (store.Token, string) {
	return store.Token{
		ID: pdpp.TokenID(secret.ID("tok_")), Kind: pdpp.TokenPackage, Subject: p.Subject, Client: p.Client.ID, Package: p.ID,
		Audience: audience, IssuedAt: now, ExpiresAt: end,
	}, secret.Token("pdpp_pt_")
}

// OwnerToken returns a token of an owner that expires at end, and its value (H-24).
func OwnerToken(owner pdpp.SubjectID, label string, now, end time.Time) (store.Token, string) {
	return store.Token{
		ID: pdpp.TokenID(secret.ID("tok_")), Kind: pdpp.TokenOwner, Subject: owner, Audience: []string{"rest"},
		Label: label, IssuedAt: now, ExpiresAt: end,
	}, secret.Token("pdpp_ot_")
}

// ExpiryWithin returns the end of a token: now + ttl, but never after limit, the end of
// its grant or package (H-160). A zero limit is no limit.
func ExpiryWithin(now time.Time, ttl time.Duration, limit time.Time) time.Time {
	end := now.Add(ttl)
	if !limit.IsZero() && limit.Before(end) {
		return limit
	}
	return end
}
