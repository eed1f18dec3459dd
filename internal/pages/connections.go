package pages

import (
	"cmp"
	"net/http"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/store"
)

// connectionsBody fills connections.html.
type connectionsBody struct{ Connections []connectionRow }

type connectionRow struct {
	ID                                    pdpp.ConnectionID
	Label, Connector, LastIngest, Readers string
	Hidden                                bool
	Streams                               []streamRow
}

type streamRow struct{ Name, Records, Newest string }

func connectionsPage(v *visit) error {
	var body connectionsBody
	err := v.pages.Store.View(v.r.Context(), func(view store.View) error {
		o, err := newOverview(view, v.session.Subject)
		if err != nil {
			return err
		}
		grants, err := view.Grants(v.session.Subject, store.GrantFilter{})
		if err != nil {
			return err
		}
		for _, c := range o.catalog.Connections {
			row, err := connectionRowOf(o, c)
			if err != nil {
				return err
			}
			row.Readers = readers(grants, c.ID, v.pages.Clock())
			body.Connections = append(body.Connections, row)
		}
		return nil
	})
	if err != nil {
		return err
	}
	return v.render(http.StatusOK, "connections", &page{Title: "Your data", Section: "connections", Body: body})
}

func connectionRowOf(o *overview, c pdpp.Connection) (connectionRow, error) {
	row := connectionRow{
		ID: c.ID, Label: clean(cmp.Or(c.DisplayName(), c.Name), nameLength), Connector: connectorName(o.catalog, c.Connector), Hidden: c.Status != pdpp.ConnectionActive,
	}
	m := o.catalog.Manifest(c.Connector)
	if m == nil {
		return row, nil
	}
	var last time.Time
	for _, s := range m.Streams {
		if u := o.usage[bindingKey{c.ID, s.Name}]; u.LastIngest.After(last) {
			last = u.LastIngest
		}
		_, newest, err := o.span(c.ID, s)
		if err != nil {
			return row, err
		}
		row.Streams = append(row.Streams, streamRow{clean(cmp.Or(s.Label, s.Name), nameLength), thousands(o.records(c.ID, s.Name)), day(newest, "—")})
	}
	row.LastIngest = "Last data came in on " + moment(last, "") + "."
	if last.IsZero() {
		row.LastIngest = "No data has come in yet."
	}
	return row, nil
}

// readers names the clients that can read a connection.
func readers(grants []store.Grant, id pdpp.ConnectionID, now time.Time) string {
	var names []string
	for _, g := range grants {
		if !slices.Contains(connectionsOf(g, now), id) {
			continue
		}
		if name := clean(g.Client.Name, nameLength); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

// connectionsOf returns the connections that can be read with a grant.
func connectionsOf(g store.Grant, now time.Time) []pdpp.ConnectionID {
	doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
	if err != nil || !isUsable(g, now) {
		return nil
	}
	return doc.Connections()
}

// changeConnection changes a connection of the owner.
func (v *visit) changeConnection(change func(*pdpp.Connection), notice string) error {
	err := v.pages.Store.Update(v.r.Context(), func(tx store.Tx) error {
		catalog, err := tx.Catalog(v.session.Subject)
		if err != nil {
			return err
		}
		c, ok := catalog.Connection(pdpp.ConnectionID(v.r.PathValue("id")))
		if !ok {
			return errNoPage
		}
		change(&c)
		return tx.PutConnection(v.session.Subject, c)
	})
	if err != nil {
		return err
	}
	v.setNotice(notice)
	return v.redirect("/owner/connections")
}

func renameConnection(v *visit) error {
	label := v.value("label")
	if label == "" || label != clean(label, nameLength) {
		return pdpp.Errorf(pdpp.CodeInvalidRequest, "A name has 1 to %d characters, without control characters. Go back and type another one.", nameLength)
	}
	return v.changeConnection(func(c *pdpp.Connection) { c.Label = label }, "Renamed.")
}

// hideConnection hides a connection on consent pages. Existing grants still cover it.
func hideConnection(v *visit) error {
	return v.changeConnection(func(c *pdpp.Connection) { c.Status = pdpp.ConnectionHidden }, "It is hidden from new requests. Access that you gave before is unchanged.")
}

func showConnection(v *visit) error {
	return v.changeConnection(func(c *pdpp.Connection) { c.Status = pdpp.ConnectionActive }, "Programs can ask for it again.")
}
