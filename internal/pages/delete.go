package pages

import (
	"cmp"
	"errors"
	"slices"

	"pdpp"
	"pdpp/internal/consent"
	"pdpp/internal/store"
)

// deletion is a connection to delete, and what is lost with it.
type deletion struct {
	connection pdpp.Connection
	records    int64
	readers    []store.Grant // grants that can read it
}

// deletion finds the connection of the path.
func (v *visit) deletion() (d deletion, err error) {
	err = v.pages.Store.View(v.r.Context(), func(view store.View) error {
		o, err := newOverview(view, v.session.Subject)
		if err != nil {
			return err
		}
		var ok bool
		if d.connection, ok = o.catalog.Connection(pdpp.ConnectionID(v.r.PathValue("id"))); !ok {
			return errNoPage
		}
		for key, u := range o.usage {
			if key.connection == d.connection.ID {
				d.records += u.Records
			}
		}
		grants, err := view.Grants(v.session.Subject, store.GrantFilter{})
		for _, g := range grants {
			if slices.Contains(connectionsOf(g, v.pages.Clock()), d.connection.ID) {
				d.readers = append(d.readers, g)
			}
		}
		return err
	})
	return d, err
}

// confirmDeleteConnection asks before a connection is deleted (H-185a).
func confirmDeleteConnection(v *visit) error { return v.askToDelete() }

func (v *visit) askToDelete(faults ...consent.Fault) error {
	d, err := v.deletion()
	if err != nil {
		return err
	}
	has, err := v.pages.SignIn.HasPassword(v.r.Context(), v.session.Subject)
	if err != nil {
		return err
	}
	c := d.connection
	body := confirmBody{
		Text:   []string{countOf(d.records, "record is", "records are") + " removed for good from this server. What programs have already read stays with them."},
		Action: "/owner/connections/" + string(c.ID) + "/delete", Button: "Delete for good", Back: "/owner/connections", AskPassword: has,
	}
	if len(d.readers) > 0 {
		body.Text = append(body.Text, "These can no longer read it:")
	}
	for _, g := range d.readers {
		body.List = append(body.List, "“"+clean(g.Client.Name, nameLength)+"”, "+grantText(g))
	}
	return v.confirm("Delete “"+clean(cmp.Or(c.DisplayName(), c.Name), nameLength)+"”?", "connections", body, faults...)
}

// deleteConnection deletes a connection with all records. Grants that have no other
// connection are revoked.
func deleteConnection(v *visit) error {
	ctx := v.r.Context()
	d, err := v.deletion()
	if err != nil {
		return err
	}
	err = v.pages.SignIn.Confirm(ctx, v.session, v.r.PostForm.Get("password"), v.visitor())
	var e *pdpp.Error
	if errors.As(err, &e) && e.Code == pdpp.CodeAuthentication {
		return v.askToDelete(consent.Fault{Control: "password", Message: e.Message})
	}
	if err != nil {
		return err
	}
	err = v.pages.Store.Update(ctx, func(tx store.Tx) error { return tx.DeleteConnection(v.session.Subject, d.connection.ID) })
	if err != nil {
		return err
	}
	for _, g := range d.readers {
		if len(connectionsOf(g, v.pages.Clock())) > 1 {
			continue
		}
		if err := v.pages.AS.RevokeGrant(ctx, v.session.Subject, g.ID); err != nil {
			return err
		}
	}
	v.pages.Log.InfoContext(ctx, "a connection was deleted", "connection", string(d.connection.ID))
	v.setNotice("Deleted. Nobody can read it any more.")
	return v.redirect("/owner/connections")
}
