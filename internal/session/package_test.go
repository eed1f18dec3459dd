package session

import (
	"fmt"
	"strings"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
)

// Every read goes through /v1, under a grant or a package.

// throughTheServer reads with every tool and with a resource. Each read sends one request
// to /v1, and its result is what the same request returns to the client from outside.
// requestLog checks that all requests are reads of /v1.
func throughTheServer(v *visit) {
	s := v.as(noBCC)
	before := v.Get(v.OwnerToken(), "/v1/streams/messages/records?connection_id=cin_home&limit=100").OK()
	for _, c := range []struct{ tool, args, body string }{
		{"schema", `{}`, "data"},
		{"schema", `{"stream":"messages","connection_id":"cin_home","detail":"full"}`, "data"},
		{"query_records", `{"stream":"threads"}`, "data"},
		{"query_records", `{"stream":"messages","connection_id":"cin_home","count":"exact"}`, "data"},
		{"aggregate", `{"stream":"messages","metric":"count"}`, "data"},
		{"search", `{"q":"rent"}`, "data"},
		{"fetch", `{"id":"cin_home/messages:m1"}`, ""},
		{"read_record_field", `{"id":"cin_home/messages:long","field_path":"body"}`, ""},
	} {
		a := s.do(c.tool, c.args)
		if len(a.requests) != 1 {
			v.Errorf("%s sent %q, want one request", a.call, a.requests)
		}
		if outside := s.again(a).OK(); c.body != "" {
			a.isBody(c.body, outside)
		}
		a.hides("zeppelin", "cuckoo")
	}
	uri := mcp.Handle{Connection: "cin_home", Stream: "messages", Record: "m2"}.URI()
	res, err := s.ReadResource(v.Context(), &sdk.ReadResourceParams{URI: uri})
	if err != nil {
		v.Fatal(err)
	}
	sent := v.requests.take()
	if len(sent) != 1 {
		v.Fatalf("resources/read sent %q, want one request", sent)
	}
	if want := v.Get(s.token, sent[0].raw, "Prefer: "+sent[0].prefer).OK(); res.Contents[0].Text != strings.TrimSpace(string(want.Body)) {
		v.Errorf("the resource is %s, /v1 returns %s", res.Contents[0].Text, want.Body)
	}
	for tool, args := range map[string]string{
		"query_records": `{"stream":"notes"}`, "fetch": `{"id":"cin_home/notes:n1"}`, "read_record_field": `{"id":"cin_home/notes:n1","field_path":"body"}`,
	} {
		s.relayed(tool, args, "grant_stream_not_allowed").hides("cuckoo")
	}
	after := v.Get(v.OwnerToken(), "/v1/streams/messages/records?connection_id=cin_home&limit=100").OK()
	if string(before.Body) != string(after.Body) {
		v.Error("reading changed what is stored")
	}
}

// lettersOf returns a grant of the letters of one connection.
func lettersOf(connection string) string {
	return `{"source":{"connector_key":"post"},"streams":[{"name":"messages","connections":["` + connection + `"]}]}`
}

// packageRoutes reads, without a connection_id, a stream that one member of a package has
// and a stream that none has.
func packageRoutes(v *visit) {
	threads := `{"source":{"connector_key":"post"},"streams":[{"name":"threads","connections":["cin_work"]}]}`
	token, _, _ := v.Package(lettersOf("cin_home"), threads)
	s := v.with(token)
	for _, c := range []struct{ tool, args, none string }{
		{"query_records", `{"stream":"messages"}`, `{"stream":"notes"}`},
		{"aggregate", `{"stream":"messages","metric":"count"}`, `{"stream":"notes","metric":"count"}`},
		{"fetch", `{"id":"messages:m1"}`, `{"id":"notes:n1"}`},
		{"read_record_field", `{"id":"messages:m1","field_path":"body"}`, `{"id":"notes:n1","field_path":"body"}`},
	} {
		if a := s.do(c.tool, c.args); len(a.requests) != 1 {
			v.Errorf("%s sent %q, want one request", a.call, a.requests)
		}
		a := s.refusedEarly(c.tool, c.none, "grant_stream_not_allowed")
		a.wants(map[string]any{"http_status": 403, "error.available_connections": nil})
		a.says("notes", "next: schema {}")
		a.hides("cuckoo", "cin_home", "cin_work")
	}
}

// packageAmbiguous reads, without a connection_id, a stream that two members have.
func packageAmbiguous(v *visit) {
	token, _, grants := v.Package(lettersOf("cin_home"), lettersOf("cin_work"))
	s := v.with(token)
	for _, c := range []struct{ tool, args, retry string }{
		{"query_records", `{"stream":"messages"}`, `{"stream":"messages","connection_id":"cin_work"}`},
		{"aggregate", `{"stream":"messages","metric":"count"}`, `{"stream":"messages","metric":"count","connection_id":"cin_work"}`},
		{"fetch", `{"id":"messages:m1"}`, `{"id":"messages:m1","connection_id":"cin_work"}`},
		{"read_record_field", `{"id":"messages:m1","field_path":"body"}`, `{"stream":"messages","record_id":"m1","field_path":"body","connection_id":"cin_work"}`},
	} {
		a := s.refusedEarly(c.tool, c.args, "ambiguous_connection")
		a.wants(map[string]any{
			"http_status": 409, "error.retry_with": "connection_id", "error.available_connection_count": 2, "error.available_connections_truncated": nil,
			"error.available_connections.0.connection_id": "cin_home", "error.available_connections.0.connector_key": "post",
			"error.available_connections.0.grant_id": grants[0], "error.available_connections.0.display_name": "Home post",
			"error.available_connections.1.connection_id": "cin_work", "error.available_connections.1.grant_id": grants[1],
		})
		a.says("cin_home", "cin_work", "connection_id")
		a.hides("Rent", "rent")
		s.do(c.tool, c.retry).hides("Rent is due", "cin_home/")
	}
	v = v.other()
	var specs []string
	for i := range 15 {
		id := fmt.Sprintf("cin_box%02d", i)
		v.Connect("post", id, "")
		specs = append(specs, lettersOf(id))
	}
	token, _, _ = v.Package(specs...)
	a := v.with(token).refusedEarly("query_records", `{"stream":"messages"}`, "ambiguous_connection")
	a.wants(map[string]any{
		"error.available_connection_count": 15, "error.available_connections_truncated": true, "error.available_connections_omitted": 3,
		"error.available_connections.11.connection_id": "cin_box11", "error.available_connections.12": nil,
	})
	if hint := a.str("error.discovery_hint"); hint == "" {
		v.Error("the hint to call schema is missing")
	}
	a.says("cin_box11", "schema {}")
	a.hides("cin_box12")
}
