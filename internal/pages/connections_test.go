package pages_test

import (
	"net/http"
	"strings"
	"testing"

	"pdpp"
	"pdpp/internal/store"
)

func TestH185aConnections(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	b.connect("Tally", "stream", "3", "duration", "30d")
	b.get("/owner/connections").wants(200, "Work mail Mail", "messages 2 20 April 2026", "Last data came in on 1 May 2026", "Can be read by Tally.", "No data has come in yet.", "pdpp ingest")
	for _, label := range []string{"", "   ", strings.Repeat("x", 101), "Safe\u202egnp"} {
		b.submit("/owner/connections/cin_work/rename", "label", label).wants(http.StatusBadRequest, "A name has 1 to 100 characters")
	}
	b.submit("/owner/connections/cin_work/rename", "label", " Büro <b> ").leadsTo("/owner/connections")
	b.get("/owner/connections").wants(200, "Renamed.", "Büro <b>").lacks("Work mail")
	b.submit("/owner/connections/cin_none/rename", "label", "X").wants(http.StatusNotFound)
}

func TestH185aHide(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	_, token := b.connect("Tally", "stream", "3", "duration", "30d")
	b.get("/owner/connections")
	b.submit("/owner/connections/cin_work/hide").leadsTo("/owner/connections")
	b.get("/owner/connections").wants(200, "hidden from new requests", "Access that you gave before is unchanged")
	if !w.isLive(token) {
		t.Error("hiding a connection ended a grant")
	}
	b.get(w.ask(w.register("Other", callback), callback)).wants(200, "Home mail").lacks("Work mail")
	b.get("/owner/connections")
	b.submit("/owner/connections/cin_work/show").leadsTo("/owner/connections")
	b.get(w.ask(w.register("Other", callback), callback)).wants(200, "Work mail")
}

func TestH185aDelete(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b := w.byPassword()
	_, token := b.connect("Tally", "stream", "3", "duration", "30d")
	_, home := b.connect("Other", "stream", "1", "duration", "30d")
	const path = "/owner/connections/cin_work/delete"
	b.get(path).wants(200, "Delete “Work mail”?", "2 records are removed for good", "“Tally”, mail: messages", "Your password").lacks("Other")
	b.submit(path, "password", "a wrong one").wants(http.StatusBadRequest, "The current password is wrong")
	b.submit(path).wants(http.StatusBadRequest)
	if !w.isLive(token) {
		t.Fatal("a refused form deleted the connection")
	}
	b.submit(path, "password", password).leadsTo("/owner/connections")
	b.get("/owner/connections").wants(200, "Deleted. Nobody can read it any more.", "Home mail").lacks("Work mail")
	if w.isLive(token) || !w.isLive(home) {
		t.Error("the grant of the deleted connection lives, or another ended")
	}
	if status := w.grants()[0].Status(w.Now()); status != pdpp.GrantRevoked && w.grants()[1].Status(w.Now()) != pdpp.GrantRevoked {
		t.Errorf("grants: %+v", w.grants())
	}
	owner := w.OwnerToken()
	if a := w.Get(owner, "/v1/streams/messages/records").OK(); strings.Contains(string(a.Body), "Lunch") {
		t.Errorf("the owner still reads %s", a.Body)
	}
	b.get("/owner").wants(200, "0 records", "1 source")
	if err := store.Purge(t.Context(), w.Store, w.Now()); err != nil {
		t.Fatal(err)
	}
	b.get("/owner/connections").wants(200, "Home mail")
	b.get(path).wants(http.StatusNotFound)
	b.get("/owner")
	b.submit(path, "password", password).wants(http.StatusNotFound)
}
