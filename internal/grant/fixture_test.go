package grant

import (
	"testing"
	"time"

	"pdpp"
	"pdpp/internal/manifest"
)

const mailManifest = `{"declaration_version": "3", "connector_key": "mail",
 "source": {"kind": "connector", "id": "https://reg.acme.test/c/mail"},
 "streams": [
  {"name": "messages", "semantics": "append_only",
   "schema": {"type": "object", "required": ["id", "body"], "properties": {
     "box": {"type": "string"}, "subject": {"type": "string"}, "body": {"type": "string"},
     "sent_at": {"type": "string", "format": "date-time"}, "id": {"type": "string"}}},
   "primary_key": ["box", "id"], "cursor_field": "sent_at", "consent_time_field": "sent_at",
   "selection": {"fields": true, "resources": true},
   "views": [{"id": "brief", "fields": ["sent_at", "subject"]}],
   "relationships": [
     {"name": "files", "stream": "attachments", "foreign_key": "message_id", "cardinality": "has_many"},
     {"name": "sender", "stream": "contacts", "foreign_key": "id", "cardinality": "has_one"},
     {"name": "quiet", "stream": "contacts", "foreign_key": "id", "cardinality": "has_one"}],
   "query": {"expand": [{"name": "files"}, {"name": "sender"}]}},
  {"name": "contacts", "semantics": "mutable_state",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "name": {"type": "string"}}},
   "primary_key": ["id"], "selection": {"fields": false, "resources": false},
   "views": [{"id": "ids", "fields": ["id"]}]},
  {"name": "attachments", "semantics": "append_only",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "message_id": {"type": "string"}, "size": {"type": "integer"}}},
   "primary_key": ["id"], "selection": {"fields": true, "resources": false}}]}`

const chatManifest = `{"declaration_version": "1", "connector_key": "chat",
 "source": {"kind": "connector", "id": "https://reg.acme.test/c/chat"},
 "streams": [{"name": "messages", "semantics": "append_only",
   "schema": {"type": "object", "properties": {"id": {"type": "string"}, "text": {"type": "string"}}},
   "primary_key": ["id"], "selection": {"fields": true, "resources": true}}]}`

const emptyManifest = `{"declaration_version": "1", "connector_key": "notes",
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

// testCatalog returns a catalog with four mail accounts, of which two share a name or
// label and one is paused, a chat account, and a connector without a connection.
func testCatalog(t testing.TB) *pdpp.Catalog {
	t.Helper()
	return &pdpp.Catalog{
		Manifests: []*pdpp.Manifest{
			parseManifest(t, chatManifest), parseManifest(t, mailManifest), parseManifest(t, emptyManifest),
		},
		Connections: []pdpp.Connection{
			{ID: "cin_chat", Connector: "chat", Name: "chat", Label: "Work", Status: "active"},
			{ID: "cin_home", Connector: "mail", Name: "home", Label: "Home mail", Status: "active"},
			{ID: "cin_old", Connector: "mail", Name: "old", Label: "Old mail", Status: "paused"},
			{ID: "cin_twin", Connector: "mail", Name: "twin", Label: "work", Status: "active"},
			{ID: "cin_work", Connector: "mail", Name: "work", Label: "Work", Status: "active"},
		},
	}
}

var noon = time.Date(2026, 11, 1, 12, 0, 0, 987654321, time.FixedZone("", 3600))

// issued is noon as a grant stores it: UTC, whole milliseconds.
var issued = time.Date(2026, 11, 1, 11, 0, 0, 987000000, time.UTC)

func issue() Issue {
	return Issue{ID: "grt_1", Subject: "own_1", ClientID: "cli_1", ClientName: "Tally \"T\"", Now: noon}
}

// mailGrant grants two of the three mail streams, and one that is no longer declared.
func mailGrant() *pdpp.Grant {
	return &pdpp.Grant{
		ID: "grt_1", SubjectID: "own_1", ClientID: "cli_1", ConnectorKey: "mail",
		Streams: []pdpp.GrantStream{
			{Name: "attachments", Connections: []pdpp.ConnectionID{"cin_work"}, Fields: []string{"id", "message_id"}},
			{Name: "gone", Connections: []pdpp.ConnectionID{"cin_twin"}, Fields: []string{"id"}},
			{Name: "messages", Connections: []pdpp.ConnectionID{"cin_work", "cin_home"}, Fields: []string{"subject", "dropped", "id", "box"}},
		},
	}
}
