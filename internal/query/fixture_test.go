package query

import (
	"errors"
	"testing"

	"pdpp"
	"pdpp/internal/grant"
	"pdpp/internal/manifest"
)

const shopManifest = `{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.test/c/shop"},
 "streams":[{"name":"orders","semantics":"mutable_state","primary_key":["id"],"cursor_field":"at","consent_time_field":"at",
   "schema":{"type":"object","properties":{"id":{"type":"string"},"title":{"type":["string","null"]},"total":{"type":"number"},
     "qty":{"type":"integer"},"paid":{"type":"boolean"},"day":{"type":"string","format":"date"},"at":{"type":"string","format":"date-time"},
     "mixed":{"type":["string","integer"]},"meta":{"type":"object"},"a.b":{"type":"string"}}},
   "selection":{"fields":true,"resources":true},
   "views":[{"id":"brief","label":"Brief","fields":["title","id","total"]},{"id":"money","label":"Money","fields":["total","qty"]}],
   "relationships":[{"name":"lines","stream":"lines","foreign_key":"order_id","cardinality":"has_many"},
     {"name":"invoice","stream":"invoices","foreign_key":"order_id","cardinality":"has_one"},
     {"name":"silent","stream":"lines","foreign_key":"order_id","cardinality":"has_many"}],
   "query":{"range_filters":{"total":["gte","lt"],"at":["gte","gt","lte","lt"]},
     "expand":[{"name":"lines","default_limit":3,"max_limit":20},{"name":"invoice"}]}},
  {"name":"lines","semantics":"mutable_state","primary_key":["id"],"selection":{"fields":true,"resources":false},
   "schema":{"type":"object","properties":{"id":{"type":"string"},"order_id":{"type":"string"},"text":{"type":"string"}}}},
  {"name":"invoices","semantics":"mutable_state","primary_key":["id"],"selection":{"fields":true,"resources":false},
   "schema":{"type":"object","properties":{"id":{"type":"string"},"order_id":{"type":"string"}}}}]}`

// shop returns the reach of a grant over streams of the manifest; without streams, the
// reach of the owner.
func shop(t testing.TB, streams ...pdpp.GrantStream) *grant.Reach {
	t.Helper()
	m, err := manifest.Parse([]byte(shopManifest))
	if err != nil {
		t.Fatal(err)
	}
	c := &pdpp.Catalog{Manifests: []*pdpp.Manifest{m}, Connections: []pdpp.Connection{{ID: "cin_1", Connector: "shop"}}}
	if streams == nil {
		return grant.ForOwner("own_1", c)
	}
	return grant.ForClient(&pdpp.Grant{ID: "grt_1", SubjectID: "own_1", ConnectorKey: "shop", Streams: streams}, c)
}

// orders returns the access to the orders of a client that was granted these fields.
func orders(t testing.TB, fields ...string) *grant.Access {
	t.Helper()
	if fields == nil {
		return shop(t).Rows[0].Access
	}
	return shop(t, pdpp.GrantStream{Name: "orders", Connections: []pdpp.ConnectionID{"cin_1"}, Fields: fields}).Rows[0].Access
}

func parse(t testing.TB, raw string) *Params {
	t.Helper()
	p, err := Parse(raw, "limit", "cursor", "order", "sort", "count", "fields", "view", "filter", "expand", "expand_limit", "streams")
	if err != nil {
		t.Fatalf("Parse(%q): %v", raw, err)
	}
	return p
}

// fault is the part of an error that tests look at.
type fault struct {
	Code  pdpp.Code
	Param string
	Field string
}

func faultOf(err error) fault {
	var e *pdpp.Error
	if !errors.As(err, &e) {
		if err == nil {
			return fault{}
		}
		return fault{Code: pdpp.CodeInternal}
	}
	return fault{e.Code, e.Param, e.Field}
}
