package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/manifest"
	"pdpp/internal/rs/resttest"
)

// advertised is a row of the schema document as a client reads it.
type advertised struct {
	Name   string `json:"name"`
	Schema struct {
		Properties map[string]any `json:"properties"`
	} `json:"schema"`
	Fields map[string]struct {
		Exact struct {
			Usable bool `json:"usable"`
		} `json:"exact_filter"`
		Range struct {
			Usable    bool     `json:"usable"`
			Operators []string `json:"operators"`
		} `json:"range_filter"`
		Aggregation map[string]struct {
			Usable bool `json:"usable"`
		} `json:"aggregation"`
	} `json:"field_capabilities"`
	Query struct {
		Sort struct {
			Fields  []string `json:"fields"`
			Default *string  `json:"default"`
			Order   []string `json:"order"`
		} `json:"sort"`
		Count      []string `json:"count"`
		Changes    bool     `json:"changes_since"`
		Projection struct {
			Views []string `json:"views"`
		} `json:"projection"`
		Expand    []string             `json:"expand"`
		Aggregate *advertisedAggregate `json:"aggregate"`
	} `json:"query_capabilities"`
	Expand []struct {
		Name        string `json:"name"`
		Cardinality string `json:"cardinality"`
		Max         int    `json:"max_limit"`
	} `json:"expand_capabilities"`
	Connections []struct {
		ID string `json:"connection_id"`
	} `json:"granted_connections"`
}

// probe sends requests about one stream with one token.
type probe struct {
	rt     *rapid.T
	w      *resttest.World
	token  string
	stream *pdpp.Stream
	row    advertised
}

// accepts reports whether the server accepts a read. Any status but 200 and 400 to 404
// fails the test.
func (p *probe) accepts(query string) (bool, resttest.Answer) {
	a := p.w.Get(p.token, "/v1/streams/"+p.stream.Name+"/records?limit=1&"+query)
	if a.Status != 200 && (a.Status < 400 || a.Status > 404) {
		p.rt.Fatalf("%s: unexpected status %d: %s", a.Request, a.Status, a.Body)
	}
	return a.Status == 200, a
}

// expect fails unless the server accepts exactly the reads that are advertised.
func (p *probe) expect(isAdvertised bool, query string) {
	p.rt.Helper()
	if accepted, a := p.accepts(query); accepted != isAdvertised {
		p.rt.Fatalf("X-4 %s?%s: advertised: %v, status %d: %s", p.stream.Name, query, isAdvertised, a.Status, a.Body)
	}
}

func (p *probe) operand(f *pdpp.Field) string {
	return map[pdpp.Kind]string{
		pdpp.KindInteger: "1", pdpp.KindNumber: "1.5", pdpp.KindBoolean: "true",
		pdpp.KindDate: "2026-01-01", pdpp.KindDateTime: "2026-01-01T00:00:00Z",
	}[f.Kind]
}

func (p *probe) fields() {
	var granted []string
	for _, f := range p.stream.Fields {
		name := url.QueryEscape(f.Name)
		c, listed := p.row.Fields[f.Name]
		if _, typed := p.row.Schema.Properties[f.Name]; typed != listed {
			p.rt.Fatalf("S-6 %s: in schema.properties %v, in field_capabilities %v", f.Name, typed, listed)
		}
		if listed {
			granted = append(granted, name)
		}
		p.expect(listed, "fields="+name)
		p.expect(c.Exact.Usable, "filter["+name+"]="+p.operand(f))
		for _, op := range []string{"gte", "gt", "lte", "lt", "ne", "in"} {
			p.expect(c.Range.Usable && slices.Contains(c.Range.Operators, op), "filter["+name+"]["+op+"]="+p.operand(f))
		}
		p.expect(slices.Contains(p.row.Query.Sort.Fields, f.Name), "sort="+name)
		p.expect(slices.Contains(p.row.Query.Sort.Fields, f.Name), "sort=-"+name)
	}
	p.expect(true, "fields="+strings.Join(granted, ","))
	for _, query := range []string{"fields=nope", "filter[nope]=1", "sort=nope"} {
		p.expect(false, query)
	}
}

func (p *probe) capabilities() {
	q := p.row.Query
	for _, order := range []string{"asc", "desc", "up"} {
		p.expect(slices.Contains(q.Sort.Order, order), "order="+order)
	}
	for _, count := range []string{"none", "estimated", "exact", "some"} {
		p.expect(slices.Contains(q.Count, count), "count="+count)
	}
	p.expect(q.Changes, "changes_since=beginning")
	if q.Sort.Default != nil {
		p.expect(true, "sort="+*q.Sort.Default)
	}
	for _, v := range append(p.stream.Views, pdpp.View{ID: "nope"}) {
		p.expect(slices.Contains(q.Projection.Views, v.ID), "view="+v.ID)
	}
	for _, rel := range append(p.stream.Relations, pdpp.Relation{Name: "nope"}) {
		p.expect(slices.Contains(q.Expand, rel.Name), "expand="+rel.Name)
	}
	for _, e := range p.row.Expand {
		if !slices.Contains(q.Expand, e.Name) {
			p.rt.Fatalf("X-11 %s is in expand_capabilities but not in query_capabilities", e.Name)
		}
		if e.Cardinality == "has_one" {
			p.expect(false, "expand="+e.Name+"&expand_limit["+e.Name+"]=1")
			continue
		}
		p.expect(true, fmt.Sprintf("expand=%s&expand_limit[%s]=%d", e.Name, e.Name, e.Max))
		p.expect(false, fmt.Sprintf("expand=%s&expand_limit[%s]=%d", e.Name, e.Name, e.Max+1))
	}
}

func (p *probe) connections(all []string) {
	for _, id := range append(all, "cin_none") {
		listed := false
		for _, c := range p.row.Connections {
			listed = listed || c.ID == id
		}
		p.expect(listed, "connection_id="+id)
	}
}

// compact compares the flags of the scoped compact row with the full row.
func (p *probe) compact() {
	a := p.w.Get(p.token, "/v1/schema?view=compact&stream="+p.stream.Name).OK()
	flags := a.At("connectors.0.streams.0.field_capabilities").(map[string]any)
	if len(flags) != len(p.row.Fields) {
		p.rt.Fatalf("X-14 %d fields with flags, want %d", len(flags), len(p.row.Fields))
	}
	for name, c := range p.row.Fields {
		var tokens []string
		for token := range strings.SplitSeq(flags[name].(string), ",") {
			if token == "eq" || strings.HasPrefix(token, "r=") {
				tokens = append(tokens, token)
			}
		}
		var want []string
		if c.Exact.Usable {
			want = append(want, "eq")
		}
		if c.Range.Usable {
			want = append(want, "r="+strings.Join(c.Range.Operators, "|"))
		}
		if !slices.Equal(tokens, want) {
			p.rt.Fatalf("X-15 flags of %s: %v, want %v", name, tokens, want)
		}
	}
}

// drawGrant draws a grant for a connector.
func drawGrant(rt *rapid.T, m *pdpp.Manifest, connections []string) string {
	subset := func(all []string, label string) []string {
		return rapid.SliceOfNDistinct(rapid.SampledFrom(all), 1, len(all), rapid.ID[string]).Draw(rt, label)
	}
	var names []string
	for _, s := range m.Streams {
		names = append(names, s.Name)
	}
	var streams []map[string]any
	for _, name := range subset(names, "streams") {
		s := m.Stream(name)
		entry := map[string]any{"name": name, "connections": subset(connections, "connections")}
		if s.SelectFields && rapid.Bool().Draw(rt, "some fields") {
			var fields []string
			for _, f := range s.Fields {
				fields = append(fields, f.Name)
			}
			entry["fields"] = subset(fields, "fields")
		}
		if s.ConsentTimeField != "" && rapid.Bool().Draw(rt, "bounded in time") {
			entry["time_range"] = map[string]string{"since": "2026-01-01T00:00:00Z"}
		}
		streams = append(streams, entry)
	}
	spec, err := json.Marshal(map[string]any{"source": map[string]any{"connector_key": m.ConnectorKey}, "streams": streams})
	if err != nil {
		rt.Fatal(err)
	}
	return string(spec)
}

// TestAdvertisedCapabilities tests X-4 with random grants: the server accepts what the schema
// document advertises and refuses what it omits.
func TestAdvertisedCapabilities(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		world       *resttest.World
		path        string
		connections []string
	}{
		{filledCabinet(t), "testdata/cabinet.json", []string{"cin_c1", "cin_c2"}},
		{ledger(t), "../manifest/testdata/ledgerly.json", []string{"cin_a1", "cin_b2"}},
	} {
		m, err := manifest.Parse([]byte(testManifest(t, test.path)))
		if err != nil {
			t.Fatal(err)
		}
		t.Run(string(m.ConnectorKey), rapid.MakeCheck(func(rt *rapid.T) {
			token := ""
			if rapid.IntRange(0, 9).Draw(rt, "owner") == 0 {
				token = test.world.OwnerToken()
			} else {
				token, _ = test.world.Grant(drawGrant(rt, m, test.connections))
			}
			rows := advertisedRows(t, test.world, token)
			for _, s := range m.Streams {
				if _, listed := rows[s.Name]; !listed {
					if a := test.world.Get(token, "/v1/streams/"+s.Name+"/records"); a.Status != 403 {
						rt.Fatalf("X-4 stream %s is not advertised, status %d, want 403", s.Name, a.Status)
					}
				}
			}
			s := rapid.SampledFrom(m.Streams).Filter(func(s *pdpp.Stream) bool { return rows[s.Name].Name != "" }).Draw(rt, "stream")
			p := &probe{rt: rt, w: test.world, token: token, stream: s, row: rows[s.Name]}
			p.fields()
			p.capabilities()
			p.aggregates()
			p.connections(slices.Clone(test.connections))
			p.compact()
		}))
	}
}

func advertisedRows(t testing.TB, w *resttest.World, token string) map[string]advertised {
	t.Helper()
	var doc struct {
		Connectors []struct{ Streams []advertised }
	}
	if err := json.Unmarshal(w.Get(token, "/v1/schema").OK().Body, &doc); err != nil {
		t.Fatal(err)
	}
	out := map[string]advertised{}
	for _, c := range doc.Connectors {
		for _, row := range c.Streams {
			out[row.Name] = row
		}
	}
	return out
}
