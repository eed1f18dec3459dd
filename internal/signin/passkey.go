package signin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/go-webauthn/webauthn/protocol"
	"github.com/go-webauthn/webauthn/webauthn"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

const (
	maxPasskeys    = 20 // of one owner
	maxPasskeyName = 60 // characters
)

// Passkey is a passkey of an owner.
type Passkey struct {
	ID        string // may be shown
	Name      string
	Host      string // the host name of R at which it works
	Synced    bool   // it may be on several devices
	CreatedAt time.Time
	UsedAt    time.Time // zero if never
}

// passkeyBody is the body of a passkey entry. Its key is the hash of the credential id.
type passkeyBody struct {
	ID         string              `json:"id"`
	Name       string              `json:"name"`
	Host       string              `json:"host"`
	UsedAt     time.Time           `json:"used_at,omitzero"`
	Credential webauthn.Credential `json:"credential"`
}

func passkeyKey(credential []byte) string { return secret.Hash(string(credential)) }

func passkeyOf(e store.Entry, b passkeyBody) Passkey {
	return Passkey{b.ID, b.Name, b.Host, b.Credential.Flags.BackupEligible, e.CreatedAt, b.UsedAt}
}

// errPasskey is the answer to a response of an authenticator that is not valid. The cause
// is for logs.
func errPasskey(err error) error {
	return &pdpp.Error{
		Code: pdpp.CodeAuthentication, Message: "This passkey was not accepted. Try again, or use another one.", Err: err,
	}
}

// BeginRegistration returns the options, as JSON, with which a browser asks for a new
// passkey. base is R; cookie is the session cookie. Because a passkey outlives the session,
// the password is checked unless the sign-in was recent (IsRecent).
func (s *Service) BeginRegistration(ctx context.Context, base, cookie, password string, v Visitor) (options []byte, err error) {
	rp, err := relyingParty(base, s.Name)
	if err != nil {
		return nil, err
	}
	in, err := s.Session(ctx, cookie)
	if err != nil {
		return nil, err
	}
	if !s.IsRecent(in) {
		if err := s.Confirm(ctx, in, password, v); err != nil {
			return nil, err
		}
	}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		if err := checkPasskeyCount(tx, in.Subject); err != nil {
			return err
		}
		owner, err := s.passkeyOwner(tx, in.Subject, rp.Config.RPID)
		if err != nil {
			return err
		}
		exclude := webauthn.Credentials(owner.WebAuthnCredentials()).CredentialDescriptors()
		creation, data, err := rp.BeginRegistration(owner, webauthn.WithExclusions(exclude))
		if err != nil {
			return err
		}
		if options, err = json.Marshal(creation); err != nil {
			return err
		}
		return s.putCeremony(tx, registration, cookie, in.Subject, data)
	})
	return options, err
}

func checkPasskeyCount(v store.View, subject pdpp.SubjectID) error {
	list, err := v.EntriesOf(store.EntryPasskey, subject)
	if err == nil && len(list) >= maxPasskeys {
		err = pdpp.Errorf(pdpp.CodeInvalidInput, "You have %d passkeys, which is the limit. Remove one first.", maxPasskeys)
	}
	return err
}

// FinishRegistration checks the response of the authenticator, which is the JSON form of a
// PublicKeyCredential, and stores the passkey under a name.
func (s *Service) FinishRegistration(ctx context.Context, base, cookie, name string, response []byte) (*Passkey, error) {
	rp, err := relyingParty(base, s.Name)
	if err != nil {
		return nil, err
	}
	data, err := s.takeCeremony(ctx, registration, cookie)
	if err != nil {
		return nil, err
	}
	parsed, err := protocol.ParseCredentialCreationResponseBytes(response)
	if err != nil {
		return nil, errPasskey(err)
	}
	var added Passkey
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		in, err := findSession(tx, cookie, s.Clock())
		if err != nil {
			return err
		}
		owner, err := s.passkeyOwner(tx, in.Subject, rp.Config.RPID)
		if err != nil {
			return err
		}
		credential, err := rp.CreateCredential(owner, data, parsed)
		if err != nil {
			return errPasskey(err)
		}
		added, err = s.addPasskey(tx, in.Subject, rp.Config.RPID, name, *credential)
		return err
	})
	if err != nil {
		return nil, err
	}
	return &added, nil
}

// addPasskey stores a new passkey. It refuses a credential that is stored already: it could
// be another owner's.
func (s *Service) addPasskey(tx store.Tx, subject pdpp.SubjectID, host, name string, c webauthn.Credential) (Passkey, error) {
	if err := checkPasskeyCount(tx, subject); err != nil {
		return Passkey{}, err
	}
	key := passkeyKey(c.ID)
	if _, found, err := load[passkeyBody](tx, store.EntryPasskey, key); err != nil || found {
		if err == nil {
			err = errPasskey(errors.New("the credential is already registered"))
		}
		return Passkey{}, err
	}
	c.Attestation = webauthn.CredentialAttestation{} // the model of the authenticator does not matter here
	body := passkeyBody{ID: secret.ID("psk_"), Name: cleanName(name), Host: host, Credential: c}
	e := store.Entry{Kind: store.EntryPasskey, Key: key, Subject: subject, CreatedAt: s.Clock()}
	return passkeyOf(e, body), put(tx, e, body)
}

func cleanName(name string) string {
	if name = cleanText(name, maxPasskeyName); name == "" {
		return "Passkey"
	}
	return name
}

// BeginLogin returns the options, as JSON, with which a browser asks for a passkey of any
// owner. cookie is the random cookie that a browser has before sign-in (H-178).
func (s *Service) BeginLogin(ctx context.Context, base, cookie string, v Visitor) (options []byte, err error) {
	rp, err := relyingParty(base, s.Name)
	if err != nil {
		return nil, err
	}
	if cookie == "" {
		return nil, errNoCeremony
	}
	if err := s.Attempt(ctx, beginnings, AddressKey(v.Address)); err != nil {
		return nil, err
	}
	request, data, err := rp.BeginDiscoverableLogin(webauthn.WithUserVerification(protocol.VerificationRequired))
	if err != nil {
		return nil, err
	}
	if options, err = json.Marshal(request); err != nil {
		return nil, err
	}
	return options, s.Store.Update(ctx, func(tx store.Tx) error { return s.putCeremony(tx, assertion, cookie, "", data) })
}

// FinishLogin checks the response of the authenticator, which is the JSON form of a
// PublicKeyCredential, and signs the owner of the passkey in. It returns the value of the
// session cookie, and the number of failed attempts since the last sign-in.
func (s *Service) FinishLogin(ctx context.Context, base, cookie string, response []byte, v Visitor) (session string, failures int, err error) {
	rp, err := relyingParty(base, s.Name)
	if err != nil {
		return "", 0, err
	}
	data, err := s.takeCeremony(ctx, assertion, cookie)
	if err != nil {
		return "", 0, err
	}
	parsed, err := protocol.ParseCredentialRequestResponseBytes(response)
	if err != nil {
		return "", 0, errPasskey(err)
	}
	err = s.Store.Update(ctx, func(tx store.Tx) error {
		subject, err := s.usePasskey(tx, rp, data, parsed)
		if err != nil {
			return err
		}
		session, failures, err = s.startSession(tx, subject, v, ByPasskey)
		return err
	})
	if err != nil {
		return "", 0, err
	}
	return session, failures, nil
}

// usePasskey verifies an assertion, records the use of its passkey and returns the owner.
func (s *Service) usePasskey(tx store.Tx, rp *webauthn.WebAuthn, data webauthn.SessionData, parsed *protocol.ParsedCredentialAssertionData) (pdpp.SubjectID, error) {
	e, err := tx.Entry(store.EntryPasskey, passkeyKey(parsed.RawID))
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return "", errPasskey(err)
	}
	if err != nil {
		return "", err
	}
	var body passkeyBody
	if err := json.Unmarshal(e.Body, &body); err != nil {
		return "", err
	}
	owner, err := s.passkeyOwner(tx, e.Subject, rp.Config.RPID)
	if err != nil {
		return "", err
	}
	find := func([]byte, []byte) (webauthn.User, error) { return owner, nil } // the library compares the handle
	_, credential, err := rp.ValidatePasskeyLogin(find, data, parsed)
	if err != nil {
		return "", errPasskey(err)
	}
	if credential.Authenticator.CloneWarning {
		return "", errPasskey(fmt.Errorf("the signature counter of passkey %s went back: it may have been copied", body.ID))
	}
	body.Credential, body.UsedAt = *credential, s.Clock()
	return e.Subject, put(tx, e, body)
}

// Passkeys lists the passkeys of an owner, newest first.
func (s *Service) Passkeys(ctx context.Context, subject pdpp.SubjectID) (list []Passkey, err error) {
	err = s.Store.View(ctx, func(v store.View) error {
		return each(v, store.EntryPasskey, subject, func(e store.Entry, b passkeyBody) error {
			list = append(list, passkeyOf(e, b))
			return nil
		})
	})
	return list, err
}

// RemovePasskey removes a passkey of an owner; CodeNotFound when the owner does not have
// it. It does not remove the only way to sign in.
func (s *Service) RemovePasskey(ctx context.Context, subject pdpp.SubjectID, id string) error {
	return s.Store.Update(ctx, func(tx store.Tx) error {
		key, passkeys := "", 0
		err := each(tx, store.EntryPasskey, subject, func(e store.Entry, b passkeyBody) error {
			passkeys++
			if b.ID == id {
				key = e.Key
			}
			return nil
		})
		if err != nil {
			return err
		}
		if key == "" {
			return pdpp.Errorf(pdpp.CodeNotFound, "There is no such passkey. Reload the page to see the others.")
		}
		hash, err := passwordHash(tx, subject)
		if err != nil {
			return err
		}
		if hash == "" && passkeys == 1 {
			return pdpp.Errorf(pdpp.CodeInvalidInput, "This passkey is your only way to sign in. Set a password or add another passkey first.")
		}
		return tx.DeleteEntry(store.EntryPasskey, key)
	})
}

// cleanText returns text without invisible characters, cut to a number of characters.
func cleanText(s string, most int) string {
	chars := []rune(evidence.Clean(s))
	return string(chars[:min(len(chars), most)])
}
