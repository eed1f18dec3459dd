package grant

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
)

// summary formats rows as "connector/stream: connections".
func summary(rows []Row) []string {
	out := []string{}
	for _, row := range rows {
		s := string(row.Manifest.ConnectorKey) + "/" + row.Stream.Name + ":"
		for _, c := range row.Connections {
			s += " " + string(c.ID)
		}
		out = append(out, s)
	}
	return out
}

// failure holds the members of an error that the contract defines.
type failure struct {
	Code   pdpp.Code
	Param  string
	Field  string
	Stream string
	Wider  bool
}

func failureOf(t *testing.T, err error) failure {
	t.Helper()
	if err == nil {
		return failure{}
	}
	var e *pdpp.Error
	if !errors.As(err, &e) {
		t.Fatalf("error %v is not a *pdpp.Error", err)
	}
	if e.Message == "" {
		t.Errorf("error %s has no message", e.Code)
	}
	return failure{e.Code, e.Param, e.Field, e.Stream, e.NeedsBroaderGrant}
}

// TestStream tests the rules of C-23 for streams, connections and connectors.
func TestStream(t *testing.T) {
	cat := testCatalog(t)
	client, owner := ForClient(mailGrant(), cat), ForOwner("own_1", cat)
	noConnection := failure{Code: pdpp.CodeConnectionNotFound, Param: "connection_id"}
	noConnector := failure{Code: pdpp.CodeNotFound, Param: "connector_id"}
	tests := []struct {
		name   string
		reach  *Reach
		stream string
		sel    Selector
		want   []string
		fail   failure
	}{
		{"granted", client, "messages", Selector{}, []string{"mail/messages: cin_work cin_home"}, failure{}},
		{"granted, one connection", client, "messages", Selector{Connection: "cin_home"}, []string{"mail/messages: cin_home"}, failure{}},
		{"granted, its connector", client, "messages", Selector{Connector: "mail"}, []string{"mail/messages: cin_work cin_home"}, failure{}},
		{
			"declared, not granted", client, "contacts",
			Selector{},
			nil,
			failure{Code: pdpp.CodeStreamNotAllowed, Stream: "contacts", Wider: true},
		},
		{"declared by another source only", client, "notes", Selector{}, nil, failure{Code: pdpp.CodeStreamNotAllowed, Stream: "notes"}},
		{"not declared", client, "nothing", Selector{}, nil, failure{Code: pdpp.CodeStreamNotAllowed, Stream: "nothing"}},
		{"granted, no longer declared", client, "gone", Selector{}, nil, failure{Code: pdpp.CodeStreamNotDeclared, Stream: "gone"}},
		{
			"stream before connection (C-20)", client, "contacts",
			Selector{Connection: "cin_none"},
			nil,
			failure{Code: pdpp.CodeStreamNotAllowed, Stream: "contacts", Wider: true},
		},
		{"unknown connection", client, "messages", Selector{Connection: "cin_none"}, nil, noConnection},
		{"connection of another connector", client, "messages", Selector{Connection: "cin_chat"}, nil, noConnection},
		{"connection of the connector, not granted", client, "messages", Selector{Connection: "cin_old"}, nil, noConnection},
		{"stream and connection granted, but not together", client, "attachments", Selector{Connection: "cin_home"}, nil, noConnection},
		{"granted only with an undeclared stream", client, "messages", Selector{Connection: "cin_twin"}, nil, noConnection},
		{"another connector", client, "messages", Selector{Connector: "chat"}, nil, noConnector},
		{"unknown connector", client, "messages", Selector{Connector: "none"}, nil, noConnector},

		{
			"owner", owner, "messages",
			Selector{},
			[]string{"chat/messages: cin_chat", "mail/messages: cin_home cin_old cin_twin cin_work"},
			failure{},
		},
		{"owner, one connector", owner, "messages", Selector{Connector: "chat"}, []string{"chat/messages: cin_chat"}, failure{}},
		{"owner, one connection", owner, "messages", Selector{Connection: "cin_home"}, []string{"mail/messages: cin_home"}, failure{}},
		{"owner, nothing connected", owner, "notes", Selector{}, []string{"notes/notes:"}, failure{}},
		{"owner, not declared", owner, "nothing", Selector{}, nil, failure{Code: pdpp.CodeNotFound, Stream: "nothing"}},
		{"owner, unknown connection", owner, "messages", Selector{Connection: "cin_none"}, nil, noConnection},
		{"owner, connection without the stream", owner, "contacts", Selector{Connection: "cin_chat"}, nil, noConnection},
		{
			"owner, connector without the stream", owner, "contacts",
			Selector{Connector: "chat"},
			nil,
			failure{Code: pdpp.CodeConnectionNotFound, Param: "connector_id"},
		},
		{"owner, unknown connector", owner, "messages", Selector{Connector: "none"}, nil, noConnector},
		{"owner, connection of another connector", owner, "messages", Selector{Connector: "mail", Connection: "cin_chat"}, nil, noConnection},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := tt.reach.Stream(tt.stream, tt.sel)
			if diff := cmp.Diff(tt.fail, failureOf(t, err)); diff != "" {
				t.Errorf("Stream(%q, %+v) error (-want +got):\n%s", tt.stream, tt.sel, diff)
			}
			if err != nil && rows != nil {
				t.Errorf("Stream(%q, %+v) returned rows and an error", tt.stream, tt.sel)
			}
			if err == nil {
				if diff := cmp.Diff(tt.want, summary(rows)); diff != "" {
					t.Errorf("Stream(%q, %+v) (-want +got):\n%s", tt.stream, tt.sel, diff)
				}
			}
		})
	}
}

// The error for a hidden connection equals that for an unknown one, and a 404 never says
// that a wider grant would help (C-21, C-44).
func TestHiddenIsNotFound(t *testing.T) {
	client := ForClient(mailGrant(), testCatalog(t))
	_, hidden := client.Stream("messages", Selector{Connection: "cin_old"})
	_, absent := client.Stream("messages", Selector{Connection: "cin_none"})
	_, apart := client.Stream("attachments", Selector{Connection: "cin_home"})
	if diff := cmp.Diff(hidden, absent); diff != "" {
		t.Errorf("hidden and absent connections differ:\n%s", diff)
	}
	if diff := cmp.Diff(hidden, apart); diff != "" {
		t.Errorf("hidden connections and those without the stream differ:\n%s", diff)
	}
}

func TestSelect(t *testing.T) {
	cat := testCatalog(t)
	client, owner := ForClient(mailGrant(), cat), ForOwner("own_1", cat)
	tests := []struct {
		name  string
		reach *Reach
		sel   Selector
		want  []string
		fail  pdpp.Code
	}{
		{"all, in grant order", client, Selector{}, []string{"mail/attachments: cin_work", "mail/messages: cin_work cin_home"}, ""},
		{"other streams are omitted (S-4)", client, Selector{Connection: "cin_home"}, []string{"mail/messages: cin_home"}, ""},
		{"all streams of a connection", client, Selector{Connection: "cin_work"}, []string{"mail/attachments: cin_work", "mail/messages: cin_work"}, ""},
		{"connection of no stream (S-4)", client, Selector{Connection: "cin_old"}, nil, pdpp.CodeConnectionNotFound},
		{"connection of an undeclared stream (S-4, C-28)", client, Selector{Connection: "cin_twin"}, []string{}, ""},
		{"other connector", client, Selector{Connector: "chat"}, nil, pdpp.CodeNotFound},
		{"own connector", client, Selector{Connector: "mail", Connection: "cin_home"}, []string{"mail/messages: cin_home"}, ""},
		{"owner: by connector, then manifest", owner, Selector{}, []string{
			"chat/messages: cin_chat",
			"mail/messages: cin_home cin_old cin_twin cin_work",
			"mail/contacts: cin_home cin_old cin_twin cin_work",
			"mail/attachments: cin_home cin_old cin_twin cin_work",
			"notes/notes:",
		}, ""},
		{"owner: nothing connected", owner, Selector{Connector: "notes"}, []string{"notes/notes:"}, ""},
		{"owner: unknown", owner, Selector{Connection: "cin_none"}, nil, pdpp.CodeConnectionNotFound},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			rows, err := tt.reach.Select(tt.sel)
			if got := pdpp.CodeOf(err); got != tt.fail {
				t.Fatalf("Select(%+v) error = %v, want code %q", tt.sel, err, tt.fail)
			}
			if err == nil {
				if diff := cmp.Diff(tt.want, summary(rows)); diff != "" {
					t.Errorf("Select(%+v) (-want +got):\n%s", tt.sel, diff)
				}
			}
		})
	}
}

// Select must not change the reach.
func TestSelectKeepsReach(t *testing.T) {
	r := ForOwner("own_1", testCatalog(t))
	before := summary(r.Rows)
	for _, sel := range []Selector{{Connector: "mail"}, {Connection: "cin_home"}, {Connector: "chat", Connection: "cin_chat"}} {
		if _, err := r.Select(sel); err != nil {
			t.Fatalf("Select(%+v): %v", sel, err)
		}
		if _, err := r.Stream("messages", sel); err != nil {
			t.Fatalf("Stream(%+v): %v", sel, err)
		}
	}
	if diff := cmp.Diff(before, summary(r.Rows)); diff != "" {
		t.Errorf("the reach changed:\n%s", diff)
	}
}

// Connections come from the grant; the catalog supplies labels only (C-24).
func TestBindingsOfClient(t *testing.T) {
	g := mailGrant()
	g.Streams = []pdpp.GrantStream{{Name: "contacts", Connections: []pdpp.ConnectionID{"cin_work", "cin_deleted", "cin_old"}, Fields: []string{"id"}}}
	r := ForClient(g, testCatalog(t))
	var got []pdpp.ConnectionRef
	for _, b := range Bindings(r.Rows) {
		got = append(got, r.Ref(b))
	}
	want := []pdpp.ConnectionRef{
		{ConnectionID: "cin_work", ConnectorKey: "mail", DisplayName: "Work", GrantID: "grt_1"},
		{ConnectionID: "cin_deleted", ConnectorKey: "mail", GrantID: "grt_1"},
		{ConnectionID: "cin_old", ConnectorKey: "mail", DisplayName: "Old mail", GrantID: "grt_1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("bindings (-want +got):\n%s", diff)
	}
}

// A grant whose connector is no longer registered has no rows.
func TestUnregisteredSource(t *testing.T) {
	r := ForClient(mailGrant(), &pdpp.Catalog{})
	if diff := cmp.Diff([]string{"attachments", "gone", "messages"}, r.Undeclared); diff != "" {
		t.Errorf("Undeclared (-want +got):\n%s", diff)
	}
	if rows, err := r.Select(Selector{Connector: "mail", Connection: "cin_home"}); err != nil || len(rows) > 0 {
		t.Errorf("Select = %v, %v, want no rows and no error", summary(rows), err)
	}
	if _, err := r.Stream("messages", Selector{}); pdpp.CodeOf(err) != pdpp.CodeStreamNotDeclared {
		t.Errorf("Stream = %v, want %s", err, pdpp.CodeStreamNotDeclared)
	}
}

// Every selection is a subset of the grant.
func TestReachIsWithinGrant(t *testing.T) {
	cat := testCatalog(t)
	rapid.Check(t, func(t *rapid.T) {
		g := drawGrant(t, cat)
		r := ForClient(g, cat)
		sel := Selector{
			Connection: rapid.SampledFrom([]pdpp.ConnectionID{"", "cin_chat", "cin_home", "cin_none"}).Draw(t, "connection"),
			Connector:  rapid.SampledFrom([]pdpp.ConnectorKey{"", "mail", "chat"}).Draw(t, "connector"),
		}
		rows, err := r.Select(sel)
		if err != nil {
			return
		}
		for _, b := range Bindings(rows) {
			i := slices.IndexFunc(g.Streams, func(s pdpp.GrantStream) bool { return s.Name == b.Stream.Name })
			if i < 0 || b.Manifest.ConnectorKey != g.ConnectorKey || !slices.Contains(g.Streams[i].Connections, b.Connection.ID) {
				t.Fatalf("%s on %s is not in the grant", b.Stream.Name, b.Connection.ID)
			}
			for _, f := range b.Access.Fields {
				if !slices.Contains(g.Streams[i].Fields, f.Name) {
					t.Fatalf("field %s of %s is not in the grant", f.Name, b.Stream.Name)
				}
			}
		}
	})
}
