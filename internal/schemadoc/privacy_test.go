package schemadoc_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/schemadoc"
)

// secretCatalog has a source in which every name is a distinct word that occurs nowhere
// else, and every field is used wherever a manifest can name one.
const secretStreams, secretFields, secretConns = 3, 4, 3

func streamName(s int) string          { return fmt.Sprintf("zs%dz", s) }
func fieldName(s, f int) string        { return fmt.Sprintf("zf%d_%dz", s, f) }
func viewName(s, f int) string         { return fmt.Sprintf("zv%d_%dz", s, f) }
func relationName(s, to int) string    { return fmt.Sprintf("zr%d_%dz", s, to) }
func connName(c int) pdpp.ConnectionID { return pdpp.ConnectionID(fmt.Sprintf("zc%dz", c)) }
func connLabel(c int) string           { return fmt.Sprintf("zl%dz", c) }

func secretCatalog() *pdpp.Catalog {
	m := &pdpp.Manifest{ConnectorKey: "vault", SourceID: "https://zuriz.test/c/vault"}
	for s := range secretStreams {
		m.Streams = append(m.Streams, secretStream(s))
	}
	m.BuildIndex()
	c := &pdpp.Catalog{Manifests: []*pdpp.Manifest{m}}
	for i := range secretConns {
		c.Connections = append(c.Connections, pdpp.Connection{ID: connName(i), Connector: "vault", Label: connLabel(i)})
	}
	return c
}

func secretStream(s int) *pdpp.Stream {
	out := &pdpp.Stream{Name: streamName(s), CursorField: fieldName(s, 0), ConsentTimeField: fieldName(s, 1)}
	var all []string
	for f := range secretFields {
		name, other := fieldName(s, f), fieldName(s, (f+1)%secretFields)
		all = append(all, name)
		out.Fields = append(out.Fields, &pdpp.Field{
			Name: name, Types: []string{"string"}, Kind: pdpp.KindDateTime, Format: "date-time",
			// The reference names another property, which may be hidden.
			Schema: json.RawMessage(`{"anyOf":[{"$ref":"#/properties/` + other + `"}]}`),
		})
		out.RangeFilters = append(out.RangeFilters, pdpp.RangeFilter{Field: name, Ops: []pdpp.Op{pdpp.OpGt}})
		out.Views = append(out.Views, pdpp.View{ID: viewName(s, f), Label: viewName(s, f), Fields: []string{name}})
	}
	out.Views = append(out.Views, pdpp.View{ID: "everything", Fields: all})
	out.Schema = json.RawMessage(`{"type":"object"}`)
	out.Required, out.PrimaryKey, out.LexicalFields, out.SemanticFields = all, all, all, all
	out.Aggregations = pdpp.Aggregations{Sum: all, Min: all, Max: all, GroupBy: all, GroupByTime: all, CountDistinct: all}
	for to := range secretStreams {
		out.Relations = append(out.Relations, pdpp.Relation{
			Name: relationName(s, to), Stream: streamName(to), ForeignKey: fieldName(to, 0),
			HasMany: to%2 == 0, Expandable: to != s, DefaultLimit: 1, MaxLimit: 2,
		})
	}
	return out
}

// drawGrant returns a grant for a random part of secretCatalog. Time bounds apply to a
// field that may or may not be granted (REC-28).
func drawGrant(rt *rapid.T) *pdpp.Grant {
	g := &pdpp.Grant{ID: "grt_v", ClientID: "cli_v", ConnectorKey: "vault"}
	for s := range secretStreams {
		if !rapid.Bool().Draw(rt, "stream") {
			continue
		}
		gs := pdpp.GrantStream{Name: streamName(s), Time: &pdpp.TimeConstraint{Field: fieldName(s, 2), Since: date(2025)}}
		for f := range secretFields {
			if rapid.Bool().Draw(rt, "field") {
				gs.Fields = append(gs.Fields, fieldName(s, f))
			}
		}
		for c := range secretConns {
			if rapid.Bool().Draw(rt, "connection") {
				gs.Connections = append(gs.Connections, connName(c))
			}
		}
		g.Streams = append(g.Streams, gs)
	}
	return g
}

// names splits the names of secretCatalog into those that a grant shows and those that it
// hides.
func names(g *pdpp.Grant) (shown, hidden []string) {
	sort := func(name string, visible bool) {
		if visible {
			shown = append(shown, name)
		} else {
			hidden = append(hidden, name)
		}
	}
	find := func(s int) (pdpp.GrantStream, bool) {
		i := slices.IndexFunc(g.Streams, func(gs pdpp.GrantStream) bool { return gs.Name == streamName(s) })
		if i < 0 {
			return pdpp.GrantStream{}, false
		}
		return g.Streams[i], true
	}
	for s := range secretStreams {
		gs, granted := find(s)
		sort(streamName(s), granted)
		for f := range secretFields {
			visible := slices.Contains(gs.Fields, fieldName(s, f))
			sort(fieldName(s, f), visible)
			sort(viewName(s, f), visible)
		}
		for to := range secretStreams {
			child, _ := find(to)
			sort(relationName(s, to), granted && to != s && slices.Contains(child.Fields, fieldName(to, 0)))
		}
	}
	for c := range secretConns {
		visible := slices.ContainsFunc(g.Streams, func(gs pdpp.GrantStream) bool { return slices.Contains(gs.Connections, connName(c)) })
		sort(string(connName(c)), visible)
		sort(connLabel(c), visible)
	}
	return shown, append(hidden, "zuriz")
}

// No document contains a name that the grant hides, and the full one contains every name
// that it shows (S-6, C-22).
func TestHiddenNames(t *testing.T) {
	c := secretCatalog()
	rapid.Check(t, func(rt *rapid.T) {
		g := drawGrant(rt)
		r := grant.ForClient(g, c)
		shown, hidden := names(g)
		full := schemadoc.AppendFull(nil, r, r.Rows, schemadoc.Request{})
		docs := [][]byte{
			full,
			schemadoc.AppendIndex(nil, r, r.Rows, schemadoc.Request{}),
			schemadoc.AppendScoped(nil, r, r.Rows, schemadoc.Request{}),
		}
		for _, row := range r.Rows {
			docs = append(docs, schemadoc.AppendStream(nil, r, row, schemadoc.Request{}))
		}
		for _, doc := range docs {
			if !json.Valid(doc) {
				rt.Fatalf("not JSON: %s", doc)
			}
			forbid(rt, doc, hidden)
		}
		for _, name := range shown {
			if !bytes.Contains(full, []byte(name)) {
				rt.Fatalf("%q is granted but missing in %s", name, full)
			}
		}
		if again := schemadoc.AppendFull(nil, r, r.Rows, schemadoc.Request{}); !bytes.Equal(full, again) {
			rt.Fatalf("two renderings differ")
		}
	})
}

// A document for one connection does not name another (S-7).
func TestNarrowedHidesOthers(t *testing.T) {
	r := grant.ForOwner("own_1", secretCatalog())
	rows := pick(t, r, streamName(0), connName(1))
	req := schemadoc.Request{Stream: streamName(0), Connection: connName(1)}
	for name, doc := range map[string][]byte{
		"full":   schemadoc.AppendFull(nil, r, rows, req),
		"index":  schemadoc.AppendIndex(nil, r, rows, req),
		"scoped": schemadoc.AppendScoped(nil, r, rows, req),
		"stream": schemadoc.AppendStream(nil, r, rows[0], req),
	} {
		forbid(t, doc, []string{string(connName(0)), string(connName(2)), connLabel(0), connLabel(2)})
		if !bytes.Contains(doc, []byte(connLabel(1))) {
			t.Errorf("%s does not name the connection", name)
		}
	}
}

func forbid(t interface{ Fatalf(string, ...any) }, doc []byte, hidden []string) {
	for _, name := range hidden {
		if i := strings.Index(string(doc), name); i >= 0 {
			t.Fatalf("hidden %q in …%s…", name, doc[max(0, i-80):min(len(doc), i+40)])
		}
	}
}

// A client never gets a schema with a reference to something it does not have. An owner
// gets the schema as declared.
func TestReferences(t *testing.T) {
	for _, tc := range []struct {
		declared string
		client   string
	}{
		{`{"type":"string","enum":["$","€"]}`, `{"type":"string","enum":["$","€"]}`},
		{`{"type":"string","default":"$ref"}`, `{"type":"string","default":"$ref"}`},
		{`{"$ref":"#/properties/b"}`, `{"type":["string","null"],"format":"date","x_pdpp_type":"day","x_pdpp_role":"actor"}`},
		{`{"items":[{"\u0024ref":"#/properties/b"}]}`, `{"type":["string","null"],"format":"date","x_pdpp_type":"day","x_pdpp_role":"actor"}`},
	} {
		m := &pdpp.Manifest{ConnectorKey: "k", Streams: []*pdpp.Stream{{Name: "s", Schema: []byte(`{}`), Fields: []*pdpp.Field{
			{Name: "a", Types: []string{"string", "null"}, Format: "date", DisplayType: "day", Role: "actor", Schema: json.RawMessage(tc.declared)},
			{Name: "b", Schema: json.RawMessage(`{}`)},
		}}}}
		m.BuildIndex()
		cat := &pdpp.Catalog{Manifests: []*pdpp.Manifest{m}}
		client := grant.ForClient(&pdpp.Grant{ConnectorKey: "k", Streams: []pdpp.GrantStream{grantOf("s", []string{"a"})}}, cat)
		doc := schemadoc.AppendStream(nil, client, client.Rows[0], schemadoc.Request{})
		if got := at(t, doc, "schema", "properties", "a"); got != tc.client {
			t.Errorf("client's schema of %s = %s, want %s", tc.declared, got, tc.client)
		}
		if got := at(t, doc, "field_capabilities", "a", "schema"); got != tc.client {
			t.Errorf("client's capability schema of %s = %s, want %s", tc.declared, got, tc.client)
		}
		owner := grant.ForOwner("own_1", cat)
		doc = schemadoc.AppendStream(nil, owner, owner.Rows[0], schemadoc.Request{})
		if got := at(t, doc, "field_capabilities", "a", "schema"); got != tc.declared {
			t.Errorf("owner's schema of %s = %s", tc.declared, got)
		}
	}
}
