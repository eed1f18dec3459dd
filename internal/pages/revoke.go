package pages

import (
	"net/http"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/store"
)

// confirmBody fills confirm.html.
type confirmBody struct {
	Text, List           []string
	After                string // follows the list
	Action, Button, Back string
	Hidden               map[string]string
	AskPassword          bool
}

func (v *visit) confirm(title, section string, body confirmBody, faults ...consent.Fault) error {
	status := http.StatusOK
	if len(faults) > 0 {
		status = http.StatusBadRequest
	}
	return v.render(status, "confirm", &page{Title: title, Section: section, Narrow: true, Faults: faults, Body: body})
}

const afterRevoke = "It takes effect with the next request. What the program has already read stays with it."

func confirmRevokeGrant(v *visit) error {
	g, err := v.grant()
	if err != nil {
		return err
	}
	return v.confirm("Revoke this access?", "grants", confirmBody{
		Text: []string{"“" + clean(g.Client.Name, nameLength) + "” will no longer be able to read:"}, List: []string{grantText(g)}, After: afterRevoke,
		Action: "/owner/grants/" + string(g.ID) + "/revoke", Button: "Revoke", Back: "/owner/grants/" + string(g.ID),
	})
}

func (v *visit) grant() (g store.Grant, err error) {
	err = v.pages.Store.View(v.r.Context(), func(view store.View) error {
		g, err = view.Grant(v.session.Subject, pdpp.GrantID(v.r.PathValue("id")))
		return err
	})
	return g, err
}

func revokeGrant(v *visit) error {
	err := v.pages.AS.RevokeGrant(v.r.Context(), v.session.Subject, pdpp.GrantID(v.r.PathValue("id")))
	return v.revoked(err)
}

// revoked returns to the list with a notice.
func (v *visit) revoked(err error) error {
	if err != nil {
		return err
	}
	v.setNotice("Revoked. The next request with it is refused.")
	return v.redirect("/owner/grants")
}

func confirmRevokePackage(v *visit) error {
	id := pdpp.PackageID(v.r.PathValue("id"))
	grants, err := v.grantsOf(func(g store.Grant) bool { return g.Package == id })
	if err != nil {
		return err
	}
	return v.confirmGrants(grants, "/owner/packages/"+string(id)+"/revoke", nil)
}

func revokePackage(v *visit) error {
	return v.revoked(v.pages.AS.RevokePackage(v.r.Context(), v.session.Subject, pdpp.PackageID(v.r.PathValue("id"))))
}

// The id of a client may be a URL, so it is a parameter and not a part of the path.
func confirmRevokeClient(v *visit) error {
	id := v.r.URL.Query().Get("id")
	grants, err := v.grantsOf(func(g store.Grant) bool { return string(g.Client.ID) == id })
	if err != nil {
		return err
	}
	return v.confirmGrants(grants, "/owner/clients/revoke", map[string]string{"id": id})
}

func revokeClient(v *visit) error {
	return v.revoked(v.pages.AS.RevokeClient(v.r.Context(), v.session.Subject, pdpp.ClientID(v.value("id"))))
}

// grantsOf returns the grants that can be used and match; CodeNotFound when there are none.
func (v *visit) grantsOf(match func(store.Grant) bool) (out []store.Grant, err error) {
	err = v.pages.Store.View(v.r.Context(), func(view store.View) error {
		grants, err := view.Grants(v.session.Subject, store.GrantFilter{})
		for _, g := range grants {
			if isUsable(g, v.pages.Clock()) && match(g) {
				out = append(out, g)
			}
		}
		return err
	})
	if err == nil && len(out) == 0 {
		err = errNoPage
	}
	return out, err
}

func (v *visit) confirmGrants(grants []store.Grant, action string, hidden map[string]string) error {
	body := confirmBody{
		Text: []string{"“" + clean(grants[0].Client.Name, nameLength) + "” will no longer be able to read:"}, After: afterRevoke,
		Action: action, Button: "Revoke all of it", Back: "/owner/grants", Hidden: hidden,
	}
	for _, g := range grants {
		body.List = append(body.List, grantText(g))
	}
	return v.confirm("Revoke all of this access?", "grants", body)
}
