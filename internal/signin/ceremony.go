package signin

import (
	"context"
	"net/netip"
	"net/url"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"pdpp"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// ceremonyLife is the time from the beginning of a registration or sign-in by passkey to
// its end.
const ceremonyLife = 5 * time.Minute

// beginnings limits the sign-ins by passkey that an address begins: each writes an entry.
var beginnings = Limit{Name: "passkey", Max: 60, Window: 5 * time.Minute}

// purpose distinguishes the two ceremonies of WebAuthn.
type purpose string

const (
	registration purpose = "register"
	assertion    purpose = "sign in"
)

// ceremonyBody is the body of a ceremony entry. Its key is the hash of the purpose and of
// the cookie of the browser that began it, so that another browser cannot finish it.
type ceremonyBody struct {
	Session   webauthn.SessionData `json:"session"`
	ExpiresAt time.Time            `json:"expires_at"`
}

func ceremonyKey(p purpose, cookie string) string { return secret.Hash(string(p) + " " + cookie) }

// errNoCeremony is the answer when a ceremony is finished too late, twice, or by another
// browser than the one that began it.
var errNoCeremony = pdpp.Errorf(pdpp.CodeAuthentication, "The passkey took too long, or was used already. Try again.")

// putCeremony stores a ceremony; it replaces the former one of the same browser.
func (s *Service) putCeremony(tx store.Tx, p purpose, cookie string, subject pdpp.SubjectID, data *webauthn.SessionData) error {
	now := s.Clock()
	ends := now.Add(ceremonyLife)
	return put(tx, store.Entry{
		Kind: store.EntryCeremony, Key: ceremonyKey(p, cookie), Subject: subject, CreatedAt: now, DeleteAfter: ends,
	}, ceremonyBody{*data, ends})
}

// takeCeremony returns a ceremony and removes it, in an update of its own: a response that
// is refused afterwards cannot be tried again.
func (s *Service) takeCeremony(ctx context.Context, p purpose, cookie string) (data webauthn.SessionData, err error) {
	key := ceremonyKey(p, cookie)
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		b, found, err := load[ceremonyBody](tx, store.EntryCeremony, key)
		if err != nil || !found {
			return orNoCeremony(err)
		}
		data = b.Session
		if !s.Clock().Before(b.ExpiresAt) {
			return errNoCeremony
		}
		return tx.DeleteEntry(store.EntryCeremony, key)
	})
	return data, err
}

func orNoCeremony(err error) error {
	if err != nil {
		return err
	}
	return errNoCeremony
}

// CanUsePasskeys reports whether browsers allow passkeys at an origin R: they need a host
// name, and HTTPS except on localhost.
func CanUsePasskeys(base string) bool {
	_, err := relyingParty(base, "")
	return err == nil
}

// relyingParty returns the relying party of an origin R: its id is the host name.
func relyingParty(base, name string) (*webauthn.WebAuthn, error) {
	refused := func(err error) (*webauthn.WebAuthn, error) {
		return nil, &pdpp.Error{
			Code: pdpp.CodeInvalidRequest, Err: err,
			Message: "Browsers do not allow passkeys at this address. Open the page by its host name with https, or at http://localhost.",
		}
	}
	u, err := url.Parse(base)
	if err != nil {
		return refused(err)
	}
	host := u.Hostname()
	if _, err := netip.ParseAddr(host); err == nil || host == "" || u.Scheme != "https" && host != "localhost" {
		return refused(nil)
	}
	rp, err := webauthn.New(&webauthn.Config{
		RPID: host, RPDisplayName: name, RPOrigins: []string{base},
		AttestationPreference: protocol.PreferNoAttestation,
		AuthenticatorSelection: protocol.AuthenticatorSelection{
			ResidentKey: protocol.ResidentKeyRequirementRequired, RequireResidentKey: protocol.ResidentKeyRequired(),
			UserVerification: protocol.VerificationRequired,
		},
		// Password managers report properties of their passkeys without being asked.
		ExtensionsUnsolicitedOutputPolicy: protocol.UnsolicitedOutputPolicyIgnore,
	})
	if err != nil {
		return refused(err)
	}
	return rp, nil
}

// passkeyOwner is an owner as the WebAuthn library knows users.
type passkeyOwner struct {
	subject  store.Subject
	handle   []byte
	passkeys []passkeyBody
}

// WebAuthnID implements webauthn.User. The handle is stored in authenticators, which may
// show it to others; it says nothing about the owner.
func (o passkeyOwner) WebAuthnID() []byte { return o.handle }

// WebAuthnName implements webauthn.User.
func (o passkeyOwner) WebAuthnName() string { return o.subject.Name }

// WebAuthnDisplayName implements webauthn.User.
func (o passkeyOwner) WebAuthnDisplayName() string { return o.subject.Name }

// WebAuthnCredentials implements webauthn.User.
func (o passkeyOwner) WebAuthnCredentials() []webauthn.Credential {
	var list []webauthn.Credential
	for _, p := range o.passkeys {
		list = append(list, p.Credential)
	}
	return list
}

// passkeyOwner returns an owner with the passkeys of a relying party.
func (s *Service) passkeyOwner(v store.View, subject pdpp.SubjectID, rpID string) (passkeyOwner, error) {
	o := passkeyOwner{handle: mac(s.handleKey, string(subject))}
	var found bool
	var err error
	if o.subject, found, err = ownerBy(v, func(x store.Subject) bool { return x.ID == subject }); err != nil || !found {
		return o, orNoCeremony(err)
	}
	err = each(v, store.EntryPasskey, subject, func(_ store.Entry, b passkeyBody) error {
		if b.Host == rpID {
			o.passkeys = append(o.passkeys, b)
		}
		return nil
	})
	return o, err
}
