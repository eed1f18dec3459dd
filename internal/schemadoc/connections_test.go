package schemadoc_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/schemadoc"
)

func grantOf(stream string, fields []string, conns ...pdpp.ConnectionID) pdpp.GrantStream {
	return pdpp.GrantStream{Name: stream, Fields: fields, Connections: conns}
}

// many returns the reach of a client for streams s0, s1, … with one field each, where
// stream i is granted on conns[i].
func many(conns ...[]pdpp.ConnectionID) *grant.Reach {
	m := &pdpp.Manifest{ConnectorKey: "ledgerly"}
	g := &pdpp.Grant{ID: "grt_m", ClientID: "cli_m", ConnectorKey: "ledgerly"}
	for i, ids := range conns {
		name := "s" + strconv.Itoa(i)
		m.Streams = append(m.Streams, &pdpp.Stream{
			Name: name, Schema: []byte(`{}`),
			Fields: []*pdpp.Field{{Name: "id", Types: []string{"string"}, Kind: pdpp.KindString, Schema: []byte(`{"type":"string"}`)}},
		})
		g.Streams = append(g.Streams, grantOf(name, []string{"id"}, ids...))
	}
	m.BuildIndex()
	return grant.ForClient(g, catalog(m))
}

func TestDeduplication(t *testing.T) {
	type ids = []pdpp.ConnectionID
	const none = "" // the row has no set of its own
	for _, tc := range []struct {
		name      string
		conns     []ids
		connector string
		rows      []string
	}{
		{"all equal", []ids{{"x"}, {"x"}}, `x`, []string{none, none}},
		{"the most frequent set is shared", []ids{{"x"}, {"y"}, {"y"}}, `y`, []string{`x`, none, none}},
		{"order does not matter", []ids{{"x", "y"}, {"z"}, {"y", "x"}}, `x,y`, []string{none, `z`, none}},
		{"the first of equally frequent sets is shared", []ids{{"x"}, {"y"}}, `x`, []string{none, `y`}},
		{"a subset is another set", []ids{{"x", "y"}, {"x"}, {"x", "y"}}, `x,y`, []string{none, `x`, none}},
		{"empty sets are not shared", []ids{{}, {}, {"x"}}, `x`, []string{`[]`, `[]`, none}},
		{"nothing connected", []ids{{}, {}}, none, []string{`[]`, `[]`}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			r := many(tc.conns...)
			for scope, doc := range map[string][]byte{
				"index":  schemadoc.AppendIndex(nil, r, r.Rows, schemadoc.Request{}),
				"scoped": schemadoc.AppendScoped(nil, r, r.Rows, schemadoc.Request{}),
			} {
				c := []byte(at(t, doc, "connectors", 0))
				if got, want := at(t, c, "granted_connections"), connJSON(tc.connector); got != want {
					t.Errorf("%s: connector's set = %s, want %s", scope, got, want)
				}
				for i, want := range tc.rows {
					if got := at(t, c, "streams", i, "granted_connections"); got != connJSON(want) {
						t.Errorf("%s: row %d's set = %s, want %s", scope, i, got, connJSON(want))
					}
				}
			}
		})
	}
}

func connJSON(ids string) string {
	if ids == "" || ids == "[]" {
		return ids
	}
	out := "["
	for i, id := range strings.Split(ids, ",") {
		if i > 0 {
			out += ","
		}
		out += fmt.Sprintf(`{"connection_id":%q}`, id)
	}
	return out + "]"
}

// The same id with two labels is two sets, and a label cannot imitate another set.
func TestLabelsDistinguishSets(t *testing.T) {
	r := many([]pdpp.ConnectionID{"x"}, []pdpp.ConnectionID{"x"}, []pdpp.ConnectionID{"x", "y"})
	r.Rows[1].Connections[0].Label = "Mine"
	r.Rows[2].Connections[0].Label = `Mine"y"`
	doc := schemadoc.AppendIndex(nil, r, r.Rows, schemadoc.Request{})
	for i, want := range []string{
		"", `[{"connection_id":"x","display_name":"Mine"}]`,
		`[{"connection_id":"x","display_name":"Mine\"y\""},{"connection_id":"y"}]`,
	} {
		if got := at(t, doc, "connectors", 0, "streams", i, "granted_connections"); got != want {
			t.Errorf("row %d's set = %s, want %s", i, got, want)
		}
	}
}

// The set of each row can be read back: its own if present, else that of the connector.
func TestSharedConnectionsRoundTrip(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		id := rapid.SampledFrom([]pdpp.ConnectionID{"x", "y", "z"})
		sets := rapid.SliceOfN(rapid.SliceOfNDistinct(id, 0, 3, rapid.ID[pdpp.ConnectionID]), 1, 8).Draw(rt, "sets")
		r := many(sets...)
		doc := schemadoc.AppendIndex(nil, r, r.Rows, schemadoc.Request{})
		shared := idsOf(t, at(t, doc, "connectors", 0, "granted_connections"))
		for i, set := range sets {
			got := shared
			if own := at(t, doc, "connectors", 0, "streams", i, "granted_connections"); own != "" {
				got = idsOf(t, own)
			}
			if !sameSet(got, set) {
				rt.Fatalf("row %d reads as %v, want %v", i, got, set)
			}
		}
	})
}
