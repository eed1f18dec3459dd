package pages

import (
	"errors"
	"net/http"
	"strings"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/signin"
	"pdpp/internal/store"
)

// loginBody fills login.html.
type loginBody struct {
	Why, ReturnTo, Name string
	AskName             bool // there are several owners
	CanPasskey          bool // browsers offer passkeys for this address
}

func loginPage(v *visit) error {
	if v.session != nil {
		return v.redirect(safeReturn(v.r.URL.Query().Get("return_to")))
	}
	return v.showLogin(http.StatusOK, "", v.r.URL.Query().Get("return_to"))
}

// showLogin shows the sign-in page, or where to find the link for the first sign-in.
func (v *visit) showLogin(status int, name, returnTo string, faults ...consent.Fault) error {
	body := loginBody{ReturnTo: safeReturn(returnTo), Name: name, CanPasskey: signin.CanUsePasskeys(v.base)}
	if strings.HasPrefix(body.ReturnTo, "/consent/") || strings.HasPrefix(body.ReturnTo, "/device") {
		body.Why = "A program wants to read your data. Sign in to decide what it may read."
	}
	owners, err := v.owners()
	if err != nil {
		return err
	}
	if body.AskName = len(owners) > 1; !body.AskName && len(owners) == 1 {
		has, err := v.pages.SignIn.CanSignIn(v.r.Context(), owners[0].ID)
		if err != nil {
			return err
		}
		if !has {
			return v.render(http.StatusOK, "firstrun", &page{Title: "First sign-in", Narrow: true, Body: firstRunBody{}})
		}
	}
	return v.render(status, "login", &page{Title: "Sign in", Narrow: true, Faults: faults, Script: asset("passkey.js"), Body: body})
}

func (v *visit) owners() (owners []store.Subject, err error) {
	err = v.pages.Store.View(v.r.Context(), func(view store.View) error {
		owners, err = view.Subjects()
		return err
	})
	return owners, err
}

// login signs an owner in by password (H-175).
func login(v *visit) error {
	name, returnTo := v.value("username"), v.value("return_to")
	cookie, failures, err := v.pages.SignIn.Password(v.r.Context(), name, v.r.PostForm.Get("password"), v.visitor())
	var e *pdpp.Error
	switch {
	case err == nil:
		v.noticeFailures(failures)
		return v.signIn(cookie, returnTo)
	case errors.As(err, &e) && e.Code == pdpp.CodeAuthentication:
		fault := consent.Fault{Control: "password", Message: e.Message}
		if name == "" { // the page asked for none
			fault.Message = "The password is wrong. Try again."
		}
		return v.showLogin(http.StatusUnauthorized, name, returnTo, fault)
	}
	return err
}

// noticeFailures tells an owner that somebody tried to sign in (H-177).
func (v *visit) noticeFailures(failures int) {
	if failures > 0 {
		v.setNotice(countOf(failures, "failed attempt", "failed attempts") + " to sign in since your last visit.")
	}
}

func (v *visit) visitor() signin.Visitor {
	return signin.Visitor{Address: v.pages.Edge.ClientAddr(v.r), UserAgent: v.r.UserAgent()}
}

func logout(v *visit) error {
	if err := v.pages.SignIn.SignOut(v.r.Context(), v.secret); err != nil {
		return err
	}
	v.setCookie(sessionCookie, "", -1)
	return v.redirect("/")
}
