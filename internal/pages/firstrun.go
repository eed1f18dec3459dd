package pages

import (
	"errors"
	"net/http"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/signin"
)

// firstRunBody fills firstrun.html and link.html. Without a code the page says where to
// find one.
type firstRunBody struct{ Code string }

// firstRunPage asks for a password, if the code can be used. Otherwise it says where to
// find one, or leads to the sign-in page.
func firstRunPage(v *visit) error {
	code := v.r.URL.Query().Get("code")
	switch _, err := v.pages.SignIn.CheckLink(v.r.Context(), code, signin.LinkFirstRun); {
	case pdpp.CodeOf(err) == pdpp.CodeNotFound:
		return v.showLogin(http.StatusOK, "", "")
	case err != nil:
		return err
	}
	return v.showFirstRun(http.StatusOK, code)
}

func (v *visit) showFirstRun(status int, code string, faults ...consent.Fault) error {
	return v.render(status, "firstrun", &page{Title: "First sign-in", Narrow: true, Faults: faults, Body: firstRunBody{Code: code}})
}

// firstRun sets the first password of an owner and signs them in (H-13).
func firstRun(v *visit) error {
	code, password := v.value("code"), v.r.PostForm.Get("password")
	if password != v.r.PostForm.Get("again") {
		return v.showFirstRun(http.StatusBadRequest, code, consent.Fault{Control: "again", Message: "The two passwords differ. Type the same one twice."})
	}
	cookie, err := v.pages.SignIn.FirstRun(v.r.Context(), code, password, v.visitor())
	var e *pdpp.Error
	if errors.As(err, &e) && e.Code == pdpp.CodeInvalidInput {
		return v.showFirstRun(http.StatusBadRequest, code, consent.Fault{Control: "password", Message: e.Message})
	}
	if err != nil {
		return err
	}
	return v.signIn(cookie, "/owner")
}

// linkPage asks before a sign-in link is used: a link that only signs in when a button is
// pressed is not used up by a program that looks at it first.
func linkPage(v *visit) error {
	code := v.r.URL.Query().Get("code")
	if _, err := v.pages.SignIn.CheckLink(v.r.Context(), code, signin.LinkSignIn); err != nil {
		return err
	}
	return v.render(http.StatusOK, "link", &page{Title: "Sign in", Narrow: true, Body: firstRunBody{Code: code}})
}

// useLink signs an owner in by a link that the server printed, on the same computer.
func useLink(v *visit) error {
	if !v.visitor().Address.IsLoopback() {
		return errNoPage
	}
	cookie, _, err := v.pages.SignIn.UseLink(v.r.Context(), v.value("code"), v.visitor())
	if err != nil {
		return err
	}
	return v.signIn(cookie, "/owner")
}
