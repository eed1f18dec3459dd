package mcphttp_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/auth"
	"pdpp/internal/mcp"
	"pdpp/internal/rs/resttest"
)

// Packages through the endpoint, with the official client (hosted-auth §3).
func TestPackages(t *testing.T) {
	for _, era := range eras {
		h := newFixture(t)
		s := h.connect(h.pkg, era)
		for _, row := range []struct {
			name  string
			check func(*testing.T, *fixture, *sdk.ClientSession)
		}{
			{name: "PKG-1 a search merges what the members find and says whose it is", check: mergedSearch},
			{name: "PKG-2 each member is asked for its own streams", check: ownStreams},
			{name: "PKG-3 a member without the streams is not asked", check: notAsked},
			{name: "PKG-4 connection_id asks one member", check: onlyMember},
			{name: "FANIN-1 at most limit hits in all, each attributed", check: limitedHits},
			{name: "FANIN-1 the pages of a search have every hit once", check: everyHitOnce},
			{name: "FANIN-2 connection_id searches one connection", check: oneConnection},
			{name: "AMBIG-1 a read of one source needs connection_id", check: ambiguous},
			{name: "AMBIG-1 many sources are counted, and not all listed", check: manySources},
			{name: "HOSTED-5 each read has the rights of its member", check: memberRights},
			{name: "ERR-2 a member that lost its grant is no choice", check: lostMember},
		} {
			t.Run(row.name+", "+era, func(t *testing.T) { row.check(t, h, s) })
		}
	}
}

func mergedSearch(t *testing.T, h *fixture, s *sdk.ClientSession) {
	r := h.do(s, "search", `{"q":"rent","limit":6}`)
	if want := []string{"/v1/search?q=rent&limit=6", "/v1/search?q=rent&limit=6", "/v1/search?q=rent&limit=6"}; !slices.Equal(r.reads, want) {
		t.Errorf("reads %q, want %q", r.reads, want)
	}
	for i, connection := range []string{"cin_a1", "cin_b2", "cin_m3", "cin_a1", "cin_b2", "cin_m3"} { // by rank, in the order of members
		member := i % 3
		at := fmt.Sprintf("data.data.%d.", i)
		wants(t, r.sc, map[string]any{
			at + "connection_id": connection, at + "grant_id": string(h.grants[member]),
			at + "connector_key": []string{"ledgerly", "ledgerly", "post"}[member],
			at + "display_name":  []any{"Joint account", nil, "Work mail"}[member],
		})
	}
	wants(t, r.sc, map[string]any{
		"data.meta.package.member_count": 3, "data.meta.package.queried_count": 3, "data.meta.package.partial": false,
		"data.meta.package.source_mix.2.connection_id": "cin_m3", "data.meta.package.source_mix.2.count": 2, "data.meta.count.kind": "exact", "data.meta.count.value": 17,
	})
	for _, part := range []string{"sources: ", `"cin_a1" connector_key="ledgerly" "Joint account" hits=2`, `"cin_m3" connector_key="post" "Work mail" hits=2`} {
		if !strings.Contains(r.text, part) {
			t.Errorf("%q is not in %s", part, r.text)
		}
	}
	h.hides(t, r)
}

// hides checks that a result contains nothing outside the grants of the members.
func (h *fixture) hides(t *testing.T, r result) {
	t.Helper()
	for _, part := range []string{outside, "cin_x9"} {
		if strings.Contains(r.text+string(r.sc.Body), part) {
			t.Errorf("%q is in %s", part, r.text)
		}
	}
}

func ownStreams(t *testing.T, h *fixture, s *sdk.ClientSession) {
	r := h.do(s, "search", `{"q":"rent","streams":["messages","entries","receipts"]}`)
	want := []string{
		"/v1/search?q=rent&streams=entries&limit=25", "/v1/search?q=rent&streams=entries&streams=receipts&limit=25", "/v1/search?q=rent&streams=messages&limit=25",
	}
	got := slices.Clone(r.reads)
	for i, target := range got {
		got[i] = strings.ReplaceAll(target, "streams%5B%5D", "streams")
	}
	if !slices.Equal(got, want) {
		t.Errorf("reads %q, want %q", got, want)
	}
	h.hides(t, r)
}

func notAsked(t *testing.T, h *fixture, s *sdk.ClientSession) {
	r := h.do(s, "search", `{"q":"rent","streams":["messages"]}`)
	if len(r.reads) != 1 {
		t.Errorf("reads %q", r.reads)
	}
	wants(t, r.sc, map[string]any{"data.meta.package.queried_count": 1, "data.data.0.connection_id": "cin_m3", "data.meta.count.value": 3})
	if r := h.refused(s, "search", `{"q":"rent","streams":["threads"]}`, "grant_stream_not_allowed"); len(r.reads) != 0 {
		t.Errorf("a stream that nobody grants was asked for: %q", r.reads)
	}
}

func onlyMember(t *testing.T, h *fixture, s *sdk.ClientSession) {
	uri := mcp.Handle{Connection: "cin_b2", Stream: "entries", Record: "cin_b2_1"}.URI()
	for _, c := range []struct{ tool, args string }{
		{"schema", `{"connection_id":"cin_b2"}`},
		{"schema", `{"stream":"entries","connection_id":"cin_b2","detail":"full"}`},
		{"query_records", `{"stream":"entries","connection_id":"cin_b2"}`},
		{"aggregate", `{"stream":"entries","metric":"count","connection_id":"cin_b2"}`},
		{"search", `{"q":"rent","connection_id":"cin_b2"}`},
		{"fetch", `{"id":"cin_b2/entries:cin_b2_1"}`},
		{"fetch", `{"id":"entries:cin_b2_1","connection_id":"cin_b2"}`},
		{"fetch", `{"id":"` + uri + `"}`},
		{"read_record_field", `{"id":"cin_b2/entries:cin_b2_1","field_path":"memo"}`},
	} {
		r := h.do(s, c.tool, c.args)
		if len(r.reads) != 1 || !strings.Contains(r.reads[0], "connection_id=cin_b2") {
			t.Errorf("%s %s reads %q", c.tool, c.args, r.reads)
		}
		if strings.Contains(r.text, "cin_a1") || strings.Contains(string(r.sc.Body), "cin_m3") {
			t.Errorf("%s %s shows another member: %s", c.tool, c.args, r.text)
		}
		h.hides(t, r)
	}
	if _, err := s.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri}); err != nil {
		t.Error(err)
	}
	if reads := h.spy.targets(); len(reads) != 1 {
		t.Errorf("the resource reads %q", reads)
	}
	for _, connection := range []string{"cin_x9", "cin_nobody"} { // an existing and an unknown connection get the same answer
		r := h.refused(s, "query_records", `{"stream":"entries","connection_id":"`+connection+`"}`, "connection_not_found")
		wants(t, r.sc, map[string]any{"http_status": 404, "error.available_connection_count": 2, "error.retry_with": "connection_id"})
		if len(r.reads) != 0 {
			t.Errorf("%s was asked for: %q", connection, r.reads)
		}
	}
}

func limitedHits(t *testing.T, h *fixture, s *sdk.ClientSession) {
	for _, limit := range []int{1, 2, 4, 100} {
		r := h.do(s, "search", fmt.Sprintf(`{"q":"rent","limit":%d}`, limit))
		hits, _ := r.sc.At("results").([]any)
		if len(hits) != min(limit, 17) {
			t.Errorf("%d hits, asked for %d", len(hits), limit)
		}
		for i := range hits {
			result, hit := fmt.Sprintf("results.%d.", i), fmt.Sprintf("data.data.%d.", i)
			connection, _ := r.sc.At(hit + "connection_id").(string)
			stream, _ := r.sc.At(hit + "stream").(string)
			key, _ := r.sc.At(hit + "record_key").(string)
			if want := connection + "/" + stream + ":" + key; r.sc.At(result+"id") != want || r.sc.At(hit+"connector_key") == nil {
				t.Errorf("hit %v, want %s", r.sc.At("results."+fmt.Sprint(i)), want)
			}
			if (connection == "cin_b2") != (r.sc.At(hit+"display_name") == nil) {
				t.Errorf("the label of %s is %v", connection, r.sc.At(hit+"display_name"))
			}
			if title, snippet := r.sc.At(result+"title"), r.sc.At(hit+"snippet.text"); title == nil || title == snippet {
				t.Errorf("title %v, snippet %v", title, snippet)
			}
		}
		if mixed := strings.Contains(r.text, "sources: "); mixed != (limit > 1) {
			t.Errorf("limit %d: a mix is told %t: %s", limit, mixed, r.text)
		}
	}
}

func everyHitOnce(t *testing.T, h *fixture, s *sdk.ClientSession) {
	seen := map[string]int{}
	args := `{"q":"rent","limit":2}`
	for page := 0; args != "" && page < 20; page++ {
		r := h.do(s, "search", args)
		hits, _ := r.sc.At("results").([]any)
		for _, hit := range hits {
			seen[hit.(map[string]any)["id"].(string)]++
		}
		args = ""
		if cursor, _ := r.sc.At("data.next_cursor").(string); cursor != "" {
			args = `{"q":"rent","limit":2,"cursor":"` + cursor + `"}`
		}
	}
	if len(seen) != 17 {
		t.Errorf("%d hits, want 17: %v", len(seen), seen)
	}
	for id, n := range seen {
		if n != 1 {
			t.Errorf("%s came %d times", id, n)
		}
	}
	// A cursor is bound to its package: another package and a client cannot use it.
	r := h.do(s, "search", `{"q":"rent","limit":2}`)
	args = `{"q":"rent","limit":2,"cursor":"` + r.sc.At("data.next_cursor").(string) + `"}`
	other, _, _ := h.Package(memberSpecs...)
	for _, token := range []string{other, h.client} {
		a := h.send(token, callOf(modern, "search", args)).OK()
		wants(t, a, map[string]any{"result.structuredContent.error.code": "invalid_cursor"})
	}
	h.refused(s, "search", strings.Replace(args, "rent", "month", 1), "invalid_cursor")
}

func oneConnection(t *testing.T, h *fixture, s *sdk.ClientSession) {
	r := h.do(s, "search", `{"q":"rent","connection_id":"cin_m3","limit":2}`)
	wants(t, r.sc, map[string]any{"results.0.connection_id": "cin_m3", "results.1.connection_id": "cin_m3", "results.2": nil, "data.has_more": true, "data.meta.count.value": 3})
	if len(r.reads) != 1 || strings.Contains(r.text, "sources:") {
		t.Errorf("reads %q: %s", r.reads, r.text)
	}
	h.refused(s, "search", `{"q":"rent","connection_id":"cin_x9"}`, "connection_not_found")
}

// sourceReads are the reads that need one source.
var sourceReads = []struct{ tool, args string }{
	{"query_records", `{"stream":"entries"}`},
	{"aggregate", `{"stream":"entries","metric":"count"}`},
	{"fetch", `{"id":"entries:cin_a1_1"}`},
	{"read_record_field", `{"id":"entries:cin_a1_1","field_path":"memo"}`},
}

func ambiguous(t *testing.T, h *fixture, s *sdk.ClientSession) {
	for _, c := range sourceReads {
		r := h.refused(s, c.tool, c.args, "ambiguous_connection")
		if len(r.reads) != 0 {
			t.Errorf("%s %s asked %q", c.tool, c.args, r.reads)
		}
		wants(t, r.sc, map[string]any{
			"http_status": 409, "error.type": "api_error", "error.retry_with": "connection_id", "error.param": "connection_id", "error.available_connection_count": 2,
			"error.available_connections.2": nil, "error.available_connections_truncated": nil, "error.unavailable_connections": nil,
		})
		entries, _ := r.sc.At("error.available_connections").([]any)
		for _, e := range entries {
			e := e.(map[string]any)
			i := slices.Index([]string{"cin_a1", "cin_b2", "cin_m3"}, e["connection_id"].(string))
			if e["grant_id"] != string(h.grants[i]) || e["connector_key"] != []string{"ledgerly", "ledgerly", "post"}[i] || e["connector_id"] != nil || e["connector_instance_id"] != nil {
				t.Errorf("entry %v", e)
			}
			if _, labelled := e["display_name"]; labelled != (i != 1) {
				t.Errorf("the label of %v", e)
			}
			if !strings.Contains(r.text, e["connection_id"].(string)) {
				t.Errorf("%s is not in the text: %s", e["connection_id"], r.text)
			}
		}
		h.hides(t, r)
	}
	r := h.do(s, "query_records", `{"stream":"messages"}`) // only one has it
	if len(r.reads) != 1 || !strings.Contains(r.text, "cin_m3/messages:") {
		t.Errorf("reads %q: %s", r.reads, r.text)
	}
	r = h.refused(s, "query_records", `{"stream":"nothing"}`, "grant_stream_not_allowed")
	if len(r.reads) != 0 || r.sc.At("error.available_connections") != nil {
		t.Errorf("reads %q: %s", r.reads, r.sc.Body)
	}
	r = h.refused(s, "schema", `{"stream":"entries","detail":"full"}`, "ambiguous_schema_detail")
	wants(t, r.sc, map[string]any{"error.available_connection_count": 2, "error.retry_with": "connection_id"})
	h.do(s, "schema", `{"stream":"messages","detail":"full"}`) // only one has it
	r = h.do(s, "schema", `{}`)
	wants(t, r.sc, map[string]any{"data.bearer.token_kind": "mcp_package", "data.package.member_count": 3, "data.stream_count": 4, "data.connector_count": 2})
	h.hides(t, r)
}

func manySources(t *testing.T, h *fixture, _ *sdk.ClientSession) {
	var specs []string
	for i := range 30 {
		id := fmt.Sprintf("cin_many%02d", i)
		h.Connect("post", id, "Box "+id)
		specs = append(specs, `{"source":{"connector_key":"post"},"streams":[{"name":"messages","connections":["`+id+`"]}]}`)
	}
	token, _, _ := h.Package(specs...)
	s := h.connect(token, modern)
	r := h.refused(s, "query_records", `{"stream":"messages"}`, "ambiguous_connection")
	wants(t, r.sc, map[string]any{
		"error.available_connection_count": 30, "error.available_connections_truncated": true, "error.available_connections_omitted": 18,
		"error.available_connections.11.connection_id": "cin_many11", "error.available_connections.12": nil,
	})
	hint, _ := r.sc.At("error.discovery_hint").(string)
	if !strings.Contains(hint, "schema") || !strings.Contains(r.text, "schema") || len(r.reads) != 0 {
		t.Errorf("hint %q, reads %q: %s", hint, r.reads, r.text)
	}
}

// memberRights compares the reads of a member with those of a client with its grant.
func memberRights(t *testing.T, h *fixture, s *sdk.ClientSession) {
	for i, connection := range []string{"cin_a1", "cin_b2", "cin_m3"} {
		stream := []string{"entries", "entries", "messages"}[i]
		token := h.tokenOf(h.grants[i], "rest")
		for _, c := range []struct{ tool, args string }{
			{"query_records", `{"stream":"` + stream + `","connection_id":"` + connection + `"}`},
			{"search", `{"q":"rent","connection_id":"` + connection + `"}`},
			{"schema", `{"connection_id":"` + connection + `","stream":"` + stream + `"}`},
			{"query_records", `{"stream":"` + stream + `","connection_id":"` + connection + `","fields":["note"]}`},
		} {
			h.spy.take()
			if _, err := s.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: jsonText(c.args)}); err != nil {
				t.Fatal(err)
			}
			reads := h.spy.take()
			if len(reads) != 1 || reads[0].authorization != "" || reads[0].method != "GET" || !strings.HasPrefix(reads[0].target, "/v1/") {
				t.Fatalf("%s %s reads %+v", c.tool, c.args, reads)
			}
			out := h.Get(token, reads[0].target, "Prefer: "+reads[0].prefer)
			want := strings.ReplaceAll(string(out.Body), `"token_kind":"client"`, `"token_kind":"mcp_package"`)
			got := strings.ReplaceAll(reads[0].body, `"token_kind":"client"`, `"token_kind":"mcp_package"`)
			if changing.ReplaceAllString(got, "") != changing.ReplaceAllString(want, "") {
				t.Errorf("%s: inside %.500s\noutside %.500s", reads[0].target, got, want)
			}
		}
	}
}

// lostMember revokes members one after another: before a request, and during one.
func lostMember(t *testing.T, h *fixture, _ *sdk.ClientSession) {
	token, _, grants := h.Package(memberSpecs...)
	s := h.connect(token, modern)
	// A member is revoked during a search.
	var once sync.Once
	h.spy.watched(func(*http.Request) { once.Do(func() { h.Revoke(grants[1]) }) })
	r := h.do(s, "search", `{"q":"rent"}`)
	h.spy.watched(nil)
	wants(t, r.sc, map[string]any{"data.meta.package.partial": true, "data.meta.warnings.0.connection_id": "cin_b2", "data.meta.warnings.0.detail.error.code": "grant_revoked"})
	if strings.Contains(r.text, "cin_b2/") {
		t.Errorf("a member answered after its grant was revoked: %s", r.text)
	}
	if r = h.do(s, "query_records", `{"stream":"entries"}`); strings.Contains(r.text, "cin_b2/") || !strings.Contains(r.text, "cin_a1/") {
		t.Errorf("the only member that is left was not read: %s", r.text)
	}
	r = h.refused(s, "query_records", `{"stream":"entries","connection_id":"cin_nobody"}`, "connection_not_found")
	wants(t, r.sc, map[string]any{
		"error.available_connection_count": 1, "error.available_connections.0.connection_id": "cin_a1", "error.available_connections.1": nil,
		"error.unavailable_connections.0.connection_id": "cin_b2", "error.unavailable_connections.0.grant_id": string(grants[1]), "error.unavailable_connections.0.connector_key": "ledgerly",
		"error.unavailable_connections.0.status": "unusable", "error.unavailable_connections.0.error.code": "grant_revoked",
	})
	if len(r.reads) != 0 || !strings.Contains(r.text, "unavailable") {
		t.Errorf("reads %q: %s", r.reads, r.text)
	}
	r = h.refused(s, "query_records", `{"stream":"entries","connection_id":"cin_b2"}`, "grant_revoked")
	next, _ := r.sc.At("error.next_step").(string)
	if !strings.Contains(next, "approve") || !strings.Contains(next, "another connection") || !strings.Contains(r.text, "approve") {
		t.Errorf("the way on is %q: %s", next, r.text)
	}
	for _, c := range []struct{ tool, args string }{{"search", `{"q":"rent"}`}, {"schema", `{}`}} {
		r = h.do(s, c.tool, c.args)
		if strings.Contains(r.text, "cin_b2/") || !strings.Contains(string(r.sc.Body), `"unavailable_connections":[{"connection_id":"cin_b2"`) || len(r.reads) != 2 {
			t.Errorf("%s: %q %s", c.tool, r.reads, r.sc.Body)
		}
	}
	// A refusal for scope does not mark the member as lost.
	h.refused(s, "query_records", `{"stream":"entries","connection_id":"cin_m3"}`, "grant_stream_not_allowed")
	h.refused(s, "query_records", `{"stream":"messages","connection_id":"cin_m3","fields":["bcc"]}`, "field_not_granted")
	h.do(s, "query_records", `{"stream":"messages"}`)
	// With one usable member no connection has to be named.
	h.Revoke(grants[2])
	h.do(s, "query_records", `{"stream":"entries"}`)
	h.Revoke(grants[0])
	expect(t, h.send(token, callOf(modern, "schema", `{}`)), 401, "invalid_token")
}

// A package of one member answers like a client token with that grant, except for the
// facts about the package.
func TestPackageOfOne(t *testing.T) {
	h := newFixture(t)
	pkg, _, grants := h.Package(memberSpecs[0])
	client := h.tokenOf(grants[0], "mcp")
	uri := mcp.Handle{Connection: "cin_a1", Stream: "entries", Record: "cin_a1_1"}.URI()
	for _, era := range eras {
		for _, c := range []rpc{
			callOf(era, "query_records", `{"stream":"entries"}`), callOf(era, "query_records", `{"stream":"entries","limit":2,"count":"exact"}`),
			callOf(era, "query_records", `{"stream":"entries","connection_id":"cin_a1","filter":{"memo":"x"}}`), callOf(era, "query_records", `{"stream":"entries","fields":["note"]}`),
			callOf(era, "query_records", `{"stream":"entries","expand":["receipts"]}`), callOf(era, "query_records", `{"stream":"messages"}`), callOf(era, "query_records", `{"stream":"entries","sort":"note"}`),
			callOf(era, "query_records", `{"stream":"entries","changes_since":"beginning"}`), callOf(era, "query_records", `{"stream":"entries","cursor":"pc1.x"}`),
			callOf(era, "aggregate", `{"stream":"entries","metric":"count"}`), callOf(era, "aggregate", `{"stream":"entries","metric":"sum","field":"amount_minor"}`),
			callOf(era, "fetch", `{"id":"cin_a1/entries:cin_a1_1"}`), callOf(era, "fetch", `{"id":"entries:cin_a1_1"}`), callOf(era, "fetch", `{"id":"entries:nobody"}`), callOf(era, "fetch", `{"id":"?"}`),
			callOf(era, "read_record_field", `{"id":"cin_a1/entries:cin_a1_1","field_path":"memo"}`), callOf(era, "read_record_field", `{"id":"cin_a1/entries:cin_a1_1","field_path":"note"}`),
			callOf(era, "schema", `{"stream":"entries","detail":"full"}`), callOf(era, "schema", `{"stream":"entries","connection_id":"cin_a1"}`),
			callOf(era, "search", `{"q":"rent","connection_id":"cin_a1"}`), callOf(era, "search", `{"q":"month","connection_id":"cin_a1","limit":2}`),
			{era: era, method: "resources/read", params: `"uri":"` + uri + `"`},
			{era: era, method: "tools/list"},
		} {
			one, all := h.send(client, c), h.send(pkg, c)
			got, want := ofPackage(all), ofPackage(one)
			if one.Status != all.Status || got != want {
				t.Errorf("%s:\nclient  %.700s\npackage %.700s", c.params, want, got)
			}
		}
		// Merged answers have facts of the package; the hits are the same.
		for _, args := range []string{`{"q":"rent"}`, `{"q":"rent","limit":2}`, `{"q":"nothing at all"}`, `{"q":"rent","streams":["entries"]}`} {
			one, all := h.send(client, callOf(era, "search", args)).OK(), h.send(pkg, callOf(era, "search", args)).OK()
			for _, path := range []string{"result.isError", "result.structuredContent.data.has_more", "result.structuredContent.data.meta.count", "result.structuredContent.results"} {
				if got, want := fmt.Sprint(all.At(path)), fmt.Sprint(one.At(path)); got != want {
					t.Errorf("search %s: %s is %.500s, want %.500s", args, path, got, want)
				}
			}
		}
		one, all := h.send(client, callOf(era, "schema", `{}`)).OK(), h.send(pkg, callOf(era, "schema", `{}`)).OK()
		for _, member := range []string{"stream_count", "connector_count", "connectors.0.streams", "connectors.0.connector_key"} {
			path := "result.structuredContent.data." + member
			if got, want := fmt.Sprint(all.At(path)), fmt.Sprint(one.At(path)); got != want {
				t.Errorf("schema: %s is %.500s, want %.500s", member, got, want)
			}
		}
	}
}

// ofPackage returns an answer without what differs between a client and a package of one
// member: ids, and the kind of the token.
func ofPackage(a resttest.Answer) string {
	return strings.ReplaceAll(changing.ReplaceAllString(string(a.Body), "(id)"), `"token_kind":"mcp_package"`, `"token_kind":"client"`)
}

// Members that do not answer in time are skipped; the answers of the others are returned.
func TestSlowMember(t *testing.T) {
	if testing.Short() {
		t.Skip("waits for the deadline of a member")
	}
	t.Parallel()
	h := newFixture(t)
	h.open(nil, func(c *configuration) {
		n, next := 0, c.Transport
		c.Transport = func(caller *auth.Caller) http.RoundTripper {
			n++
			if n%3 != 2 {
				return next(caller)
			}
			return roundTrip(func(r *http.Request) (*http.Response, error) { // the second member hangs
				<-r.Context().Done()
				if err := r.Context().Err(); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("the read of the member ended with %v", err)
				}
				return nil, r.Context().Err()
			})
		}
	})
	a := h.send(h.pkg, callOf(modern, "search", `{"q":"rent"}`)).OK()
	wants(t, a, map[string]any{
		"result.isError": nil, "result.structuredContent.data.meta.package.partial": true, "result.structuredContent.data.meta.warnings.0.connection_id": "cin_b2",
		"result.structuredContent.data.meta.warnings.0.detail.error.code": "timeout",
	})
}
