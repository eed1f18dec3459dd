package pages

import (
	"net/http"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/signin"
)

// deviceBody fills device.html.
type deviceBody struct {
	Code                         string
	Found                        bool
	Client, Known, When, Address string
}

// devicePage asks for the code that a device shows. A code in the link is filled in, and
// never submitted automatically (H-157).
func devicePage(v *visit) error {
	return v.showDevice(http.StatusOK, deviceBody{Code: clean(v.r.URL.Query().Get("user_code"), 20)})
}

func (v *visit) showDevice(status int, body deviceBody, faults ...consent.Fault) error {
	return v.render(status, "device", &page{Title: "Connect a device", Narrow: true, Faults: faults, Body: body})
}

// findDevice shows what asked with a code.
func findDevice(v *visit) error {
	code := v.value("user_code")
	keys := []string{"session " + v.session.ID, signin.AddressKey(v.pages.Edge.ClientAddr(v.r))}
	if err := v.pages.SignIn.Attempt(v.r.Context(), signin.UserCodes, keys...); err != nil {
		return err
	}
	req, err := v.pages.AS.FindUserCode(v.r.Context(), code, v.session.Subject)
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return v.showDevice(http.StatusBadRequest, deviceBody{Code: clean(code, 20)},
			consent.Fault{Control: "user_code", Message: "There is no request with this code. Look at the device again; codes end after 15 minutes."})
	}
	if err != nil {
		return err
	}
	if err := v.pages.SignIn.Forgive(v.r.Context(), signin.UserCodes, keys...); err != nil {
		return err
	}
	about := describeRequest(req)
	return v.showDevice(http.StatusOK, deviceBody{
		Code: req.UserCode, Found: true, Client: about.Client, Known: about.Known, When: moment(req.CreatedAt, ""), Address: orElse(req.Address, "an unknown address"),
	})
}

// continueDevice leads to the consent page of a request.
func continueDevice(v *visit) error {
	req, err := v.pages.AS.FindUserCode(v.r.Context(), v.value("user_code"), v.session.Subject)
	if err != nil {
		return err
	}
	return v.redirect("/consent/" + req.ID)
}
