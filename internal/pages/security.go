package pages

import (
	"errors"
	"net/http"
	"time"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// securityBody fills security.html.
type securityBody struct {
	Passkeys    []passkeyRow
	PasskeyName string
	Sessions    []sessionRow
	Tokens      []tokenRow
	NewToken    string
}

type passkeyRow struct{ ID, Name, Added, LastUsed string }

type sessionRow struct {
	ID, Browser, Address, Since, Seen string
	Current                           bool
}

func securityPage(v *visit) error { return v.showSecurity(http.StatusOK, "") }

func (v *visit) showSecurity(status int, newToken string, faults ...consent.Fault) error {
	ctx := v.r.Context()
	body := securityBody{PasskeyName: "My device", NewToken: newToken}
	keys, err := v.pages.SignIn.Passkeys(ctx, v.session.Subject)
	if err != nil {
		return err
	}
	for _, k := range keys {
		body.Passkeys = append(body.Passkeys, passkeyRow{k.ID, clean(k.Name, nameLength), moment(k.CreatedAt, ""), moment(k.UsedAt, "never")})
	}
	sessions, err := v.pages.SignIn.Sessions(ctx, v.session.Subject)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		body.Sessions = append(body.Sessions, sessionRow{
			ID: s.ID, Browser: clean(s.UserAgent, nameLength), Address: s.Address, Since: moment(s.CreatedAt, ""), Seen: moment(s.SeenAt, ""), Current: s.ID == v.session.ID,
		})
	}
	err = v.pages.Store.View(ctx, func(view store.View) error {
		tokens, err := view.Tokens(v.session.Subject, "")
		body.Tokens = tokenRows(tokens, v.pages.Clock())
		return err
	})
	if err != nil {
		return err
	}
	return v.render(status, "security", &page{Title: "Security", Section: "security", Notice: v.takeNotice(), Faults: faults, Script: asset("passkey.js"), Body: body})
}

// toSecurity returns to the page with a notice.
func (v *visit) toSecurity(err error, notice string) error {
	if err != nil {
		return err
	}
	v.setNotice(notice)
	return v.redirect("/owner/security")
}

func changePassword(v *visit) error {
	err := v.pages.SignIn.ChangePassword(v.r.Context(), v.session, v.r.PostForm.Get("current"), v.r.PostForm.Get("password"), v.visitor())
	var e *pdpp.Error
	switch {
	case errors.As(err, &e) && e.Code == pdpp.CodeAuthentication:
		return v.showSecurity(http.StatusBadRequest, "", consent.Fault{Control: "current", Message: e.Message})
	case errors.As(err, &e) && e.Code == pdpp.CodeInvalidInput:
		return v.showSecurity(http.StatusBadRequest, "", consent.Fault{Control: "password", Message: e.Message})
	}
	return v.toSecurity(err, "The password was changed. All other sessions have ended.")
}

func endSession(v *visit) error {
	return v.toSecurity(v.pages.SignIn.EndSession(v.r.Context(), v.session.Subject, v.r.PathValue("id")), "The session has ended.")
}

func removePasskey(v *visit) error {
	return v.toSecurity(v.pages.SignIn.RemovePasskey(v.r.Context(), v.session.Subject, v.r.PathValue("id")), "The passkey was removed.")
}

// ownerTokenLife is the life of an owner token (H-24).
const ownerTokenLife = 90 * 24 * time.Hour

// createOwnerToken makes a token for the owner's own scripts and shows it once (H-179).
func createOwnerToken(v *visit) error {
	err := v.pages.SignIn.Confirm(v.r.Context(), v.session, v.r.PostForm.Get("password"), v.visitor())
	var e *pdpp.Error
	if errors.As(err, &e) && e.Code == pdpp.CodeAuthentication {
		return v.showSecurity(http.StatusBadRequest, "", consent.Fault{Control: "token-password", Message: e.Message})
	}
	if err != nil {
		return err
	}
	now := v.pages.Clock()
	value := secret.Token("pdpp_ot_")
	err = v.pages.Store.Update(v.r.Context(), func(tx store.Tx) error {
		return tx.CreateToken(store.Token{
			ID: pdpp.TokenID(secret.ID("tok_")), Kind: pdpp.TokenOwner, Subject: v.session.Subject, Audience: []string{"rest"},
			Label: clean(v.value("label"), nameLength), IssuedAt: now, ExpiresAt: now.Add(ownerTokenLife),
		}, store.HashToken(value))
	})
	if err != nil {
		return err
	}
	return v.showSecurity(http.StatusOK, value)
}

func revokeOwnerToken(v *visit) error {
	err := v.pages.Store.Update(v.r.Context(), func(tx store.Tx) error {
		_, _, err := tx.RevokeToken(v.session.Subject, pdpp.TokenID(v.r.PathValue("id")), v.pages.Clock())
		return err
	})
	return v.toSecurity(err, "The token was revoked.")
}
