package grant

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

func accessOf(t *testing.T, r *Reach, stream string) *Access {
	t.Helper()
	rows, err := r.Stream(stream, Selector{})
	if err != nil {
		t.Fatalf("Stream(%q): %v", stream, err)
	}
	return rows[len(rows)-1].Access
}

// TestField tests the rule for fields of C-23.
func TestField(t *testing.T) {
	cat := testCatalog(t)
	client := accessOf(t, ForClient(mailGrant(), cat), "messages")
	owner := accessOf(t, ForOwner("own_1", cat), "messages")
	tests := []struct {
		name   string
		access *Access
		field  string
		want   failure
	}{
		{"granted", client, "subject", failure{}},
		{"declared", client, "body", failure{Code: pdpp.CodeFieldNotGranted, Param: "fields", Field: "body", Wider: true}},
		{"required by the schema", client, "sent_at", failure{Code: pdpp.CodeFieldNotGranted, Param: "fields", Field: "sent_at", Wider: true}},
		{"undeclared", client, "nothing", failure{Code: pdpp.CodeUnknownField, Param: "fields", Field: "nothing"}},
		{"granted, no longer declared", client, "dropped", failure{Code: pdpp.CodeUnknownField, Param: "fields", Field: "dropped"}},
		{"owner", owner, "body", failure{}},
		{"owner, undeclared", owner, "nothing", failure{Code: pdpp.CodeUnknownField, Param: "fields", Field: "nothing"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			f, err := tt.access.Field(tt.field, "fields")
			if diff := cmp.Diff(tt.want, failureOf(t, err)); diff != "" {
				t.Errorf("Field(%q) error (-want +got):\n%s", tt.field, diff)
			}
			if err == nil && f.Name != tt.field {
				t.Errorf("Field(%q) = %q", tt.field, f.Name)
			}
			if got := tt.access.Granted(tt.field); got != (err == nil) {
				t.Errorf("Granted(%q) = %v", tt.field, got)
			}
		})
	}
}

// Access contains the fields that are granted and declared, in manifest order. Fields
// that the schema requires are not added (REC-27).
func TestEffectiveFields(t *testing.T) {
	names := func(a *Access) []string {
		var out []string
		for _, f := range a.Fields {
			out = append(out, f.Name)
		}
		return out
	}
	cat := testCatalog(t)
	client := accessOf(t, ForClient(mailGrant(), cat), "messages")
	if diff := cmp.Diff([]string{"box", "subject", "id"}, names(client)); diff != "" {
		t.Errorf("client fields (-want +got):\n%s", diff)
	}
	owner := accessOf(t, ForOwner("own_1", cat), "messages")
	if diff := cmp.Diff([]string{"box", "subject", "body", "sent_at", "id"}, names(owner)); diff != "" {
		t.Errorf("owner fields (-want +got):\n%s", diff)
	}
	if client.All || !owner.All {
		t.Errorf("All = %v for a client, %v for an owner", client.All, owner.All)
	}
}

func TestDerivedFields(t *testing.T) {
	cat := testCatalog(t)
	client := accessOf(t, ForClient(mailGrant(), cat), "messages")
	owner := accessOf(t, ForOwner("own_1", cat), "messages")
	if got := client.CursorField(); got != "" {
		t.Errorf("client CursorField = %q, which is not granted", got)
	}
	if got := owner.CursorField(); got != "sent_at" {
		t.Errorf("owner CursorField = %q, want sent_at", got)
	}
	if got := accessOf(t, ForOwner("own_1", cat), "contacts").CursorField(); got != "" {
		t.Errorf("CursorField = %q for a stream without one", got)
	}
	view, _ := client.Stream.View("brief")
	if diff := cmp.Diff([]string{"subject"}, client.ViewFields(view)); diff != "" {
		t.Errorf("client ViewFields (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"sent_at", "subject"}, owner.ViewFields(view)); diff != "" {
		t.Errorf("owner ViewFields (-want +got):\n%s", diff)
	}
}

func TestBounds(t *testing.T) {
	s := parseManifest(t, chatManifest).Stream("messages")
	tests := []struct {
		name      string
		grant     pdpp.GrantStream
		resources []pdpp.RecordID
	}{
		{"none", pdpp.GrantStream{}, nil},
		{"time", pdpp.GrantStream{Time: &pdpp.TimeConstraint{Field: "at", Since: issued}}, nil},
		{"records, sorted", pdpp.GrantStream{Resources: []pdpp.RecordID{"b", "a"}}, []pdpp.RecordID{"a", "b"}},
		{"an empty list is not all records", pdpp.GrantStream{Resources: []pdpp.RecordID{}}, []pdpp.RecordID{}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a := clientAccess(s, &tt.grant)
			if diff := cmp.Diff(tt.resources, a.Resources); diff != "" {
				t.Errorf("Resources (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(tt.grant.Time, a.Time); diff != "" {
				t.Errorf("Time (-want +got):\n%s", diff)
			}
		})
	}
	g := pdpp.GrantStream{Resources: []pdpp.RecordID{"b", "a"}}
	clientAccess(s, &g)
	if g.Resources[0] != "b" {
		t.Error("sorting changed the grant")
	}
}
