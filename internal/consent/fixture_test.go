package consent

import (
	"strings"
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/manifest"
)

const mailManifest = `{"declaration_version": "3", "connector_key": "mail", "display": {"name": "Mail"},
 "source": {"kind": "connector", "id": "https://reg.acme.test/c/mail"},
 "streams": [
  {"name": "messages", "semantics": "append_only", "description": "Letters",
   "schema": {"type": "object", "properties": {
     "box": {"type": "string"}, "subject": {"type": "string", "description": "The subject line"}, "body": {"type": "string"},
     "sent_at": {"type": "string", "format": "date-time"}, "id": {"type": "string"}}},
   "primary_key": ["box", "id"], "cursor_field": "sent_at", "consent_time_field": "sent_at",
   "selection": {"fields": true, "resources": true},
   "views": [{"id": "brief", "fields": ["sent_at", "subject"]}]},
  {"name": "contacts", "semantics": "mutable_state",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
   "primary_key": ["id"], "selection": {"fields": false, "resources": false},
   "views": [{"id": "ids", "fields": ["id"]}]}]}`

const chatManifest = `{"declaration_version": "1", "connector_key": "chat", "display": {"name": "messenger"},
 "source": {"kind": "connector", "id": "https://reg.acme.test/c/chat"},
 "streams": [{"name": "messages", "semantics": "append_only",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}}},
   "primary_key": ["id"], "selection": {"fields": true, "resources": true}}]}`

const notesManifest = `{"declaration_version": "1", "connector_key": "notes",
 "source": {"kind": "connector", "id": "https://reg.acme.test/c/notes"},
 "streams": [{"name": "notes", "semantics": "append_only",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}}},
   "primary_key": ["id"], "selection": {"fields": true, "resources": true}}]}`

func parseManifest(t testing.TB, raw string) *pdpp.Manifest {
	t.Helper()
	m, err := manifest.Parse([]byte(raw))
	if err != nil {
		t.Fatalf("manifest.Parse: %v", err)
	}
	return m
}

// catalog has two mail accounts and a hidden one, a chat account, and a connector without
// an account.
func catalog(t testing.TB) *pdpp.Catalog {
	t.Helper()
	return &pdpp.Catalog{
		Manifests: []*pdpp.Manifest{parseManifest(t, chatManifest), parseManifest(t, mailManifest), parseManifest(t, notesManifest)},
		Connections: []pdpp.Connection{
			{ID: "cin_chat", Connector: "chat", Name: "chat", Label: "Friends", Status: "active"},
			{ID: "cin_home", Connector: "mail", Name: "home", Label: "Home mail", Status: "active"},
			{ID: "cin_old", Connector: "mail", Name: "old", Label: "Old mail", Status: "hidden"},
			{ID: "cin_work", Connector: "mail", Name: "work", Status: "active"},
		},
	}
}

// withManifest returns the catalog with the mail manifest changed by a replacement.
func withManifest(t testing.TB, old, replacement string) *pdpp.Catalog {
	t.Helper()
	if !strings.Contains(mailManifest, old) {
		t.Fatalf("the manifest does not contain %s", old)
	}
	c := catalog(t)
	c.Manifests[1] = parseManifest(t, strings.Replace(mailManifest, old, replacement, 1))
	return c
}

var now = time.Date(2026, 11, 1, 12, 0, 0, 987654321, time.UTC)

func issue() Issue {
	return Issue{Subject: "own_1", ClientID: "cli_1", ClientName: "Tally", Now: now}
}

// entry returns a request entry for the mail source with these streams.
func entry(streams string) string {
	return `{"type":"https://pdpp.dev/data-access","source":{"connector_key":"mail"},"streams":[` + streams + `]}`
}

func mustParse(t testing.TB, details string) *Request {
	t.Helper()
	r, err := ParseRequest([]byte(details))
	if err != nil {
		t.Fatalf("ParseRequest(%s): %v", details, err)
	}
	return r
}

// offerOf returns the offer for one entry with these streams.
func offerOf(t testing.TB, streams string) *Offer {
	t.Helper()
	return NewOffer(mustParse(t, "["+entry(streams)+"]"), catalog(t))
}

// find returns the number of a stream in the offer.
func find(t testing.TB, o *Offer, id pdpp.ConnectionID, name string) int {
	t.Helper()
	for _, source := range o.Sources {
		for _, s := range source.Streams {
			if source.Connection == id && s.Name == name {
				return s.N
			}
		}
	}
	t.Fatalf("the offer does not contain %s of %s", name, id)
	return 0
}
