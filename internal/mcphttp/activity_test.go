package mcphttp_test

import (
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/mcp"
	"pdpp/internal/rs/resttest"
	"pdpp/internal/store"
)

// H-196: a tool call is one read of the tool, for each grant that it reads with, whatever
// it reads at /v1.
func TestH196ToolCallsAreCounted(t *testing.T) {
	h := newFixture(t)
	uri := mcp.Handle{Connection: "cin_a1", Stream: "entries", Record: "cin_a1_1"}.URI()
	for _, c := range []rpc{
		callOf(modern, "query_records", `{"stream":"entries","limit":2}`),
		callOf(handshake, "query_records", `{"stream":"entries","limit":1,"expand":["receipts"]}`),
		callOf(modern, "search", `{"q":"rent","limit":3}`),
		callOf(modern, "schema", `{}`),
		callOf(modern, "invented", `{}`),
		{era: modern, method: "resources/read", params: fmt.Sprintf(`"uri":%q`, uri)},
		{era: modern, method: "tools/list"},
	} {
		h.send(h.client, c)
	}
	got := h.Reads()
	want := []string{
		"query_records entries: 2 reads, 3 records, 0 refused",
		"resources/read entries: 1 reads, 1 records, 0 refused",
		"schema : 1 reads, 0 records, 0 refused",
		"search : 1 reads, 0 records, 0 refused",
		"search entries: 0 reads, 3 records, 0 refused",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("calls of tools (-want +got):\n%s", diff)
	}
}

// H-196: each message of a batch is a call of its own.
func TestH196BatchesAreCounted(t *testing.T) {
	h := newFixture(t)
	a := h.post(h.client, "["+callOf(batches, "schema", `{}`).body()+","+callOf(batches, "schema", `{}`).body()+"]", "MCP-Protocol-Version: "+batches)
	if a.Status != 200 {
		t.Fatalf("the batch answers %d: %s", a.Status, a.Body)
	}
	if diff := cmp.Diff([]string{"schema : 2 reads, 0 records, 0 refused"}, h.Reads()); diff != "" {
		t.Errorf("calls in a batch (-want +got):\n%s", diff)
	}
}

// H-196: a call with a package counts for each member that it reads.
func TestH196PackagesAreCounted(t *testing.T) {
	h := newFixture(t)
	h.send(h.pkg, callOf(modern, "search", `{"q":"rent","limit":2}`))
	type row struct {
		grant   pdpp.GrantID
		reads   int64
		records int64
	}
	got := map[pdpp.GrantID]row{}
	for _, c := range h.counts() {
		if c.Via != "search" {
			t.Errorf("%+v is not counted as a search", c)
		}
		sum := got[c.Grant]
		got[c.Grant] = row{c.Grant, sum.reads + c.Reads, sum.records + c.Records}
	}
	for i, id := range h.grants {
		if want := (row{id, 1, 2}); got[id] != want { // each member is asked for as many hits as the call
			t.Errorf("member %d: %+v, want %+v", i, got[id], want)
		}
	}
	if len(got) != len(h.grants) {
		t.Errorf("counts of %d grants, want %d", len(got), len(h.grants))
	}
}

// counts returns what was read of the owner.
func (h *fixture) counts() []store.ReadCount {
	return resttest.Recorded(h.World, func(v store.View) ([]store.ReadCount, error) { return v.Reads(h.Subject, resttest.Start) })
}

// H-196, H-197: refused calls count as refusals of the tool; what is refused before a
// tool is called, as refusals of /mcp.
func TestH196RefusedCallsAreCounted(t *testing.T) {
	h := newFixture(t)
	h.send(h.client, callOf(modern, "query_records", `{"stream":"invented"}`))
	h.send(h.client, callOf(modern, "query_records", `{"stream":"entries","fields":["note"]}`))
	h.send(h.pkg, callOf(modern, "query_records", `{"stream":"invented"}`)) // which no member has
	h.Revoke(h.grant)
	expect(t, h.send(h.client, callOf(modern, "schema", `{}`)), 401, "invalid_token")
	h.Update(func(tx store.Tx) error {
		_, _, _, err := tx.RevokePackage(h.Subject, h.packageID, h.Now())
		return err
	})
	expect(t, h.send(h.pkg, callOf(modern, "schema", `{}`)), 401, "invalid_token")
	want := []string{
		"/mcp : 0 reads, 0 records, 1 refused", // the package
		"query_records : 0 reads, 0 records, 1 refused",
		"/mcp : 0 reads, 0 records, 1 refused", // the grant
		"query_records : 0 reads, 0 records, 1 refused",
		"query_records entries: 0 reads, 0 records, 1 refused",
	}
	if diff := cmp.Diff(want, h.Reads()); diff != "" {
		t.Errorf("refused calls (-want +got):\n%s", diff)
	}
	latest := resttest.Recorded(h.World, func(v store.View) ([]store.Refusal, error) { return v.Refusals(h.Subject) })
	for _, id := range []store.Refusal{{Grant: h.grant}, {Package: h.packageID}} {
		if !slices.ContainsFunc(latest, func(r store.Refusal) bool {
			return r.Grant == id.Grant && r.Package == id.Package && r.Code == pdpp.CodeGrantRevoked && r.Via == "/mcp"
		}) {
			t.Errorf("the latest refusal of %v is not in %+v", id, latest)
		}
	}
	audits := resttest.Recorded(h.World, func(v store.View) ([]store.Audit, error) { return v.Audits(h.Subject, 10) })
	if len(audits) != 2 || audits[0].Token == "" || audits[0].Client == "" || audits[0].Code != pdpp.CodeGrantRevoked {
		t.Errorf("audit rows %+v, want one of each refused token", audits)
	}
}

// H-196: a member that is revoked while a call reads counts as a refusal of that member.
func TestH196RevokedDuringCall(t *testing.T) {
	h := newFixture(t)
	h.client, h.grant = h.Grant(memberSpecs[0])
	s := h.connect(h.client, modern)
	h.spy.watched(func(*http.Request) { h.Revoke(h.grant) })
	if r := h.call(s, "query_records", `{"stream":"entries"}`); !r.failed {
		t.Fatalf("the call succeeded: %s", r.text)
	}
	h.spy.watched(nil)
	if diff := cmp.Diff([]string{"query_records : 0 reads, 0 records, 1 refused"}, h.Reads()); diff != "" {
		t.Errorf("a call that lost its grant (-want +got):\n%s", diff)
	}
}
