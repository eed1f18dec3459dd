package grant

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// messagesWith grants messages on one connection, and another stream with the
// given fields.
func messagesWith(t *testing.T, stream string, fields ...string) (*Reach, Row) {
	t.Helper()
	on := []pdpp.ConnectionID{"cin_work"}
	g := &pdpp.Grant{ConnectorKey: "mail", Streams: []pdpp.GrantStream{{Name: "messages", Connections: on, Fields: []string{"id"}}}}
	if stream != "" {
		g.Streams = append(g.Streams, pdpp.GrantStream{Name: stream, Connections: on, Fields: fields})
	}
	r := ForClient(g, testCatalog(t))
	return r, r.Rows[0]
}

func TestRelation(t *testing.T) {
	undeclared := failure{Code: pdpp.CodeInvalidExpand, Param: "expand", Stream: "messages"}
	uncovered := failure{Code: pdpp.CodeInsufficientScope, Param: "expand", Stream: "attachments", Wider: true}
	tests := []struct {
		name   string
		stream string // granted besides messages
		fields []string
		rel    string
		want   failure
		usable []string
	}{
		{"covered", "attachments", []string{"message_id"}, "files", failure{}, []string{"files"}},
		{"foreign key not granted", "attachments", []string{"id", "size"}, "files", uncovered, nil},
		{"stream not granted", "", nil, "files", uncovered, nil},
		{"other stream granted", "contacts", []string{"id"}, "files", uncovered, []string{"sender"}},
		{"undeclared", "attachments", []string{"message_id"}, "nothing", undeclared, []string{"files"}},
		{"dotted", "attachments", []string{"message_id"}, "files.message", undeclared, []string{"files"}},
		{"declared, not expandable", "contacts", []string{"id"}, "quiet", undeclared, []string{"sender"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r, row := messagesWith(t, tt.stream, tt.fields...)
			rel, err := r.Relation(row, tt.rel)
			if diff := cmp.Diff(tt.want, failureOf(t, err)); diff != "" {
				t.Errorf("Relation(%q) error (-want +got):\n%s", tt.rel, diff)
			}
			if err == nil && (rel.Name != tt.rel || rel.Child.Stream.Name != tt.stream) {
				t.Errorf("Relation(%q) = %q to %q", tt.rel, rel.Name, rel.Child.Stream.Name)
			}
			var usable []string
			for _, rel := range r.Relations(row) {
				usable = append(usable, rel.Name)
				if _, err := r.Relation(row, rel.Name); err != nil {
					t.Errorf("Relation(%q), which Relations returned: %v", rel.Name, err)
				}
			}
			if diff := cmp.Diff(tt.usable, usable); diff != "" {
				t.Errorf("Relations (-want +got):\n%s", diff)
			}
		})
	}
}

// Relations of an owner stay within their source, even when another source declares a
// stream with the same name.
func TestRelationsOfOwner(t *testing.T) {
	cat := testCatalog(t)
	book := strings.NewReplacer(`"notes"`, `"contacts"`, `c/notes`, `c/book`).Replace(emptyManifest)
	cat.Manifests = append([]*pdpp.Manifest{parseManifest(t, book)}, cat.Manifests...)
	r := ForOwner("own_1", cat)
	rows, err := r.Stream("messages", Selector{Connector: "mail"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, rel := range r.Relations(rows[0]) {
		got = append(got, rel.Name+" "+rel.Cardinality()+" "+string(rel.Child.Manifest.ConnectorKey)+"/"+rel.Child.Stream.Name)
	}
	want := []string{"files has_many mail/attachments", "sender has_one mail/contacts"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("Relations (-want +got):\n%s", diff)
	}
}
