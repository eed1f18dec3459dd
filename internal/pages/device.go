package pages

import (
	"cmp"
	"net/http"

	"pdpp"
	"pdpp/internal/as"
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

// findDevice shows the request of a device that has the posted code.
func findDevice(v *visit) error {
	req, err := v.deviceRequest()
	if pdpp.CodeOf(err) == pdpp.CodeNotFound {
		return v.showDevice(http.StatusBadRequest, deviceBody{Code: clean(v.value("user_code"), 20)},
			consent.Fault{Control: "user_code", Message: "There is no request with this code. Look at the device again; codes end after 15 minutes."})
	}
	if err != nil {
		return err
	}
	about := describeRequest(req)
	return v.showDevice(http.StatusOK, deviceBody{
		Code: req.UserCode, Found: true, Client: about.Client, Known: about.Known, When: moment(req.CreatedAt, ""), Address: cmp.Or(req.Address, "an unknown address"),
	})
}

// deviceRequest returns the request of the posted code; CodeNotFound for a wrong code.
// Wrong codes are limited per session and address (H-157).
func (v *visit) deviceRequest() (*as.Request, error) {
	ctx := v.r.Context()
	keys := []string{"session " + v.session.ID, signin.AddressKey(v.pages.Edge.ClientAddr(v.r))}
	if err := v.pages.SignIn.Attempt(ctx, signin.UserCodes, keys...); err != nil {
		return nil, err
	}
	req, err := v.pages.AS.FindUserCode(ctx, v.value("user_code"), v.session.Subject)
	if err != nil {
		return nil, err
	}
	return req, v.pages.SignIn.Forgive(ctx, signin.UserCodes, keys...)
}

// continueDevice leads to the consent page of a request.
func continueDevice(v *visit) error {
	req, err := v.deviceRequest()
	if err != nil {
		return err
	}
	return v.redirect("/consent/" + req.ID)
}
