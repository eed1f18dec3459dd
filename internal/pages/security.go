package pages

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/httpx"
	"pdpp/internal/issue"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

// securityBody fills security.html.
type securityBody struct {
	Passkeys         []passkeyRow
	CanAddPasskey    bool
	AskForPasskey    bool // the password is needed to add one
	HasPassword      bool
	Sessions         []sessionRow
	Tokens           []tokenRow
	NewToken         string
	LocalhostAddress string // at which passkeys would work
}

type passkeyRow struct{ ID, Name, Host, Added, LastUsed string }

type sessionRow struct {
	ID, Browser, Address, Since, Seen string
	Current                           bool
}

func securityPage(v *visit) error { return v.showSecurity(http.StatusOK, "") }

func (v *visit) showSecurity(status int, newToken string, faults ...consent.Fault) error {
	ctx := v.r.Context()
	has, err := v.pages.SignIn.HasPassword(ctx, v.session.Subject)
	if err != nil {
		return err
	}
	body := securityBody{
		NewToken: newToken, HasPassword: has, CanAddPasskey: signin.CanUsePasskeys(v.base), LocalhostAddress: localhostOf(v.base),
		AskForPasskey: has && !v.pages.SignIn.IsRecent(v.session),
	}
	keys, err := v.pages.SignIn.Passkeys(ctx, v.session.Subject)
	if err != nil {
		return err
	}
	for _, k := range keys {
		body.Passkeys = append(body.Passkeys, passkeyRow{k.ID, clean(k.Name, nameLength), k.Host, moment(k.CreatedAt, ""), moment(k.UsedAt, "never")})
	}
	sessions, err := v.pages.SignIn.Sessions(ctx, v.session.Subject)
	if err != nil {
		return err
	}
	for _, s := range sessions {
		body.Sessions = append(body.Sessions, sessionRow{
			ID: s.ID, Browser: browserName(s.UserAgent), Address: s.Address, Since: moment(s.CreatedAt, ""), Seen: moment(s.SeenAt, ""), Current: s.ID == v.session.ID,
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
	return v.render(status, "security", &page{Title: "Security", Section: "security", Faults: faults, Script: asset("passkey.js"), Body: body})
}

// localhostOf returns the address under which a loopback server has passkeys: browsers
// bind them to a name. It is "" for other servers.
func localhostOf(base string) string {
	for _, host := range []string{"127.0.0.1", "[::1]"} {
		if rest, ok := strings.CutPrefix(base, "http://"+host); ok {
			return "http://localhost" + rest
		}
	}
	return ""
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
	token, value := issue.OwnerToken(v.session.Subject, clean(v.value("label"), nameLength), now, now.Add(ownerTokenLife))
	err = v.changeRights(func(tx store.Tx) error { return tx.CreateToken(token, store.HashToken(value)) })
	if err != nil {
		return err
	}
	return v.showSecurity(http.StatusOK, value)
}

func revokeOwnerToken(v *visit) error {
	err := v.changeRights(func(tx store.Tx) error {
		own, err := tx.Tokens(v.session.Subject, "")
		if err != nil {
			return err
		}
		id := pdpp.TokenID(v.r.PathValue("id"))
		if !slices.ContainsFunc(own, func(t store.Token) bool { return t.ID == id }) {
			return errNoPage // the token of a client ends with its grant
		}
		_, _, err = tx.RevokeToken(v.session.Subject, id, v.pages.Clock())
		return err
	})
	return v.toSecurity(err, "The token was revoked.")
}

// changeRights changes rights of the owner who is signed in. The changes have audit rows
// (H-197).
func (v *visit) changeRights(fn func(store.Tx) error) error {
	ctx := v.r.Context()
	by := store.Cause{Actor: store.ByOwner, RequestID: httpx.RequestID(ctx), Address: httpx.AddressOf(ctx)}
	return v.pages.Store.Update(ctx, store.Audited(by, fn))
}
