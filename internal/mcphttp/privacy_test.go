package mcphttp_test

import (
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/mcp"
	"pdpp/internal/store"
)

// No answer to any request contains data outside the grants of the token, and a revoked
// member is missing from the next request on (HOSTED-5, H-53, H-83).
func TestNothingOutsideTheGrants(t *testing.T) {
	t.Parallel()
	u := newUniverse(t)
	all := u.harvest()
	rapid.Check(t, func(rt *rapid.T) {
		bearer, pool := u.drawBearer(rt), all.clone()
		for range rapid.IntRange(4, 14).Draw(rt, "calls") {
			if len(bearer.grants) > 1 && rapid.IntRange(0, 7).Draw(rt, "revoke") == 7 {
				bearer.revoke(u, rapid.IntRange(0, len(bearer.grants)-1).Draw(rt, "whose"))
			}
			c := u.drawCall(rt, bearer, pool)
			a := u.send(bearer.token, c)
			if leaks := u.leaks(bearer.grants, c.params, string(a.Body)); len(leaks) > 0 {
				rt.Fatalf("%s {%s}\nshows %v, which is of %+v\nunder %s\n%.3000s", c.method, c.params, leaks, u.of[leaks[0]], bearer, a.Body)
			}
			if a.Status >= 500 || a.Status == 200 && strings.Contains(string(a.Body), `"internal_error"`) {
				rt.Fatalf("%s {%s}: %d %s", c.method, c.params, a.Status, a.Body)
			}
			bearer.check(rt, u, c, a.Body)
			pool.take(string(a.Body))
		}
	})
}

// holder is a token with its grants.
type holder struct {
	token  string
	grants []*modelGrant
}

func (h *holder) String() string {
	var b strings.Builder
	for _, g := range h.grants {
		fmt.Fprintf(&b, "(revoked %t) %s\n", g.revoked, g.spec())
	}
	return b.String()
}

func (h *holder) revoke(u *universe, i int) {
	u.Revoke(h.grants[i].id)
	h.grants[i].revoked = true
}

// drawBearer draws a client token, or the token of a package of up to four members.
func (u *universe) drawBearer(t *rapid.T) *holder {
	h := &holder{}
	conns := rapid.Permutation(u.conns).Draw(t, "connections")[:rapid.IntRange(1, 4).Draw(t, "members")]
	var specs []string
	for _, c := range conns {
		g := u.drawGrant(t, c)
		h.grants = append(h.grants, g)
		specs = append(specs, g.spec())
	}
	if len(conns) == 1 && rapid.Bool().Draw(t, "client token") {
		h.token, h.grants[0].id = u.Grant(specs[0])
		return h
	}
	token, _, ids := u.Package(specs...)
	h.token = token
	for i, id := range ids {
		h.grants[i].id = id
	}
	return h
}

// handles are the handles and cursors of answers, which any client may try.
type handles struct {
	cursors []string
	uris    []string
}

var (
	cursorForm = regexp.MustCompile(`(?:pc|ps|cs|fw)1\.[A-Za-z0-9_.-]+`)
	idForm     = regexp.MustCompile(`[A-Za-z0-9_-]+/[A-Za-z0-9_]+:[A-Za-z0-9_-]+`)
	uriForm    = regexp.MustCompile(`pdpp://[a-z-]+/[A-Za-z0-9_-]+`)
)

func (p *handles) take(text string) {
	p.cursors = append(p.cursors, cursorForm.FindAllString(text, 3)...)
	p.uris = append(p.uris, uriForm.FindAllString(text, 5)...)
}

func (p *handles) clone() *handles {
	return &handles{cursors: slices.Clone(p.cursors), uris: slices.Clone(p.uris)}
}

// harvest returns the handles of a client that may read everything.
func (u *universe) harvest() *handles {
	u.T.Helper()
	pool := &handles{}
	for _, connector := range u.connectors {
		token, _ := u.Grant(`{"source":{"connector_key":"` + connector + `"},"streams":[{"name":"*"}]}`)
		seen := false
		for _, s := range u.streams {
			if s.connector != connector {
				continue
			}
			for _, args := range []string{`{"stream":"` + s.name + `","limit":2}`, `{"stream":"` + s.name + `","changes_since":"beginning","limit":2}`} {
				a := u.send(token, callOf(modern, "query_records", args)).OK()
				pool.take(string(a.Body))
				seen = seen || markers.Match(a.Body)
				if id := idForm.FindString(string(a.Body)); id != "" {
					window := `{"id":"` + id + `","field_path":"` + s.fields[2] + `","limit_chars":64}`
					pool.take(string(u.send(token, callOf(modern, "read_record_field", window)).OK().Body))
				}
			}
		}
		pool.take(string(u.send(token, callOf(modern, "search", `{"q":"`+common+`","limit":2}`)).OK().Body))
		if !seen {
			u.T.Fatal("one who may see everything sees no marker")
		}
	}
	if len(pool.cursors) == 0 || len(pool.uris) == 0 {
		u.T.Fatalf("%d cursors and %d URIs were given out", len(pool.cursors), len(pool.uris))
	}
	return pool
}

// drawCall draws a tool call or a resource read, mostly of granted data.
func (u *universe) drawCall(t *rapid.T, h *holder, pool *handles) rpc {
	d := &drawer{T: t, u: u, h: h, pool: pool, args: map[string]any{}}
	d.near = rapid.SampledFrom(h.grants).Draw(t, "near")
	d.pick()
	era := rapid.SampledFrom([]string{modern, handshake, batches}).Draw(t, "era")
	tool := rapid.SampledFrom([]string{"schema", "query_records", "aggregate", "search", "fetch", "read_record_field", "resource"}).Draw(t, "tool")
	switch tool {
	case "resource":
		uri := rapid.SampledFrom(pool.uris).Draw(t, "uri")
		if rapid.Bool().Draw(t, "record") {
			uri = mcp.Handle{Connection: d.connection(), Stream: d.stream(), Record: d.record()}.URI()
		}
		return rpc{era: era, method: "resources/read", params: `"uri":` + quote(uri)}
	case "schema":
		d.maybe("stream", d.stream)
		d.source()
		if rapid.Bool().Draw(t, "full") {
			d.args["detail"] = "full"
		}
	case "query_records":
		d.args["stream"] = d.stream()
		d.source()
		d.page()
		if d.seldom("changes") {
			d.args["changes_since"] = rapid.SampledFrom(append([]string{"beginning"}, pool.cursors...)).Draw(t, "since")
		}
		d.narrow()
		if d.seldom("sorted") {
			d.args["sort"] = rapid.SampledFrom([]string{"", "-"}).Draw(t, "order") + d.at.fields[0]
		}
	case "aggregate":
		d.args["stream"] = d.stream()
		d.source()
		d.args["metric"] = rapid.SampledFrom([]string{"count", "sum", "min", "max", "count_distinct"}).Draw(t, "metric")
		if d.args["metric"] != "count" {
			d.args["field"] = d.at.fields[3+rapid.IntRange(0, 1).Draw(t, "of which")]
		}
		if d.seldom("grouped") {
			d.args["group_by"] = d.at.fields[4]
		}
		d.filter()
	case "search":
		d.args["q"] = rapid.SampledFrom([]string{common, "padding", d.word()}).Draw(t, "q")
		d.source()
		if rapid.Bool().Draw(t, "streams") {
			d.args["streams"] = []string{d.stream(), rapid.SampledFrom(d.u.streams).Draw(t, "another stream").name}
		}
		d.page()
	case "fetch", "read_record_field":
		d.args["id"] = d.connection() + "/" + d.stream() + ":" + d.record()
		if d.seldom("by URI") {
			d.args["id"] = rapid.SampledFrom(pool.uris).Draw(t, "uri")
		}
		if tool == "fetch" {
			d.narrow()
			break
		}
		d.args["field_path"] = d.field()
		if rapid.Bool().Draw(t, "offset") {
			d.args["offset_chars"] = rapid.IntRange(0, 9000).Draw(t, "at")
		}
	}
	raw, err := json.Marshal(d.args)
	if err != nil {
		t.Fatal(err)
	}
	return callOf(era, tool, string(raw))
}

// drawer draws arguments.
type drawer struct {
	*rapid.T
	u    *universe
	h    *holder
	pool *handles
	near *modelGrant  // most draws are about this grant
	at   *modelStream // of the call
	args map[string]any
}

// seldom returns true in one of five draws. A range would not do: rapid prefers its
// ends.
func (d *drawer) seldom(label string) bool {
	return rapid.SampledFrom([]bool{false, false, false, false, true}).Draw(d.T, label)
}

// far reports whether a drawn value need not be in the grant.
func (d *drawer) far() bool { return d.seldom("far") }

// source adds the connection in most draws.
func (d *drawer) source() {
	if !d.seldom("without connection_id") {
		d.args["connection_id"] = d.connection()
	}
}

func (d *drawer) maybe(name string, value func() string) {
	if rapid.Bool().Draw(d.T, "with "+name) {
		d.args[name] = value()
	}
}

func (d *drawer) connection() string {
	if !d.far() {
		return d.near.conn.id
	}
	return rapid.SampledFrom(d.u.conns).Draw(d.T, "connection").id
}

// pick chooses the stream of the call.
func (d *drawer) pick() {
	granted := slices.DeleteFunc(slices.Clone(d.u.streams), func(s *modelStream) bool { return d.near.fields[s] == nil })
	d.at = rapid.SampledFrom(granted).Draw(d.T, "granted stream")
	if d.far() {
		d.at = rapid.SampledFrom(d.u.streams).Draw(d.T, "any stream")
	}
}

func (d *drawer) stream() string { return d.at.name }

func (d *drawer) record() string {
	near := slices.DeleteFunc(slices.Clone(d.u.records), func(r *modelRecord) bool { return r.conn != d.near.conn || r.stream != d.at })
	if len(near) == 0 || d.far() {
		near = d.u.records
	}
	return rapid.SampledFrom(near).Draw(d.T, "record").id
}

// field returns a field of the stream, in most draws a granted one.
func (d *drawer) field() string {
	if granted := d.near.fields[d.at]; len(granted) > 0 && !d.far() {
		return rapid.SampledFrom(granted).Draw(d.T, "granted field")
	}
	return rapid.SampledFrom(d.at.fields).Draw(d.T, "field")
}

// word returns a word of some value, granted or not.
func (d *drawer) word() string {
	return fmt.Sprintf("zq%05dz", rapid.IntRange(1, d.u.serial).Draw(d.T, "word"))
}

func (d *drawer) page() {
	if rapid.Bool().Draw(d.T, "limited") {
		d.args["limit"] = rapid.IntRange(1, 5).Draw(d.T, "limit")
	}
	if d.seldom("cursor") {
		d.args["cursor"] = rapid.SampledFrom(d.pool.cursors).Draw(d.T, "which cursor")
	}
	if d.args["q"] == nil && rapid.Bool().Draw(d.T, "counted") {
		d.args["count"] = "exact"
	}
}

func (d *drawer) narrow() {
	if rapid.Bool().Draw(d.T, "fields") {
		d.args["fields"] = []string{d.field(), d.field()}
	}
	if d.args["stream"] != nil {
		d.filter()
	}
}

func (d *drawer) filter() {
	if d.seldom("filtered") {
		d.args["filter"] = map[string]any{d.field(): d.word()}
	}
}

func quote(s string) string {
	raw, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(raw)
}

// check compares counts with the model: they must not include hidden records.
func (h *holder) check(t *rapid.T, u *universe, c rpc, body []byte) {
	var call struct {
		Name      string
		Arguments map[string]any
	}
	if err := json.Unmarshal([]byte("{"+c.params+"}"), &call); err != nil || call.Name != "aggregate" || call.Arguments["metric"] != "count" ||
		call.Arguments["group_by"] != nil || call.Arguments["filter"] != nil {
		return
	}
	var answer struct {
		Result struct {
			IsError           bool
			StructuredContent struct{ Data struct{ Value json.Number } }
		}
	}
	if err := json.Unmarshal(body, &answer); err != nil || answer.Result.IsError || c.method != "tools/call" || answer.Result.StructuredContent.Data.Value == "" {
		return
	}
	want := 0
	for _, r := range u.records {
		connection, chosen := call.Arguments["connection_id"]
		if r.stream.name == call.Arguments["stream"] && (!chosen || r.conn.id == connection) &&
			slices.ContainsFunc(h.grants, func(g *modelGrant) bool { return g.shows(r) }) {
			want++
		}
	}
	if got := answer.Result.StructuredContent.Data.Value.String(); got != fmt.Sprint(want) {
		t.Fatalf("{%s}: counted %s, want %d\nunder %s\n%s", c.params, got, want, h, body)
	}
}

// Members are revoked during many requests. A request that begins after a revocation has
// returned does not contain that member, or is refused.
func TestRevocationUnderLoad(t *testing.T) {
	t.Parallel()
	u := newUniverse(t)
	for round := range 4 {
		h := &holder{}
		var specs []string
		for _, c := range u.conns[:4] {
			g := &modelGrant{conn: c, fields: map[*modelStream][]string{}}
			for _, s := range u.streams {
				if s.connector == c.connector {
					g.fields[s] = s.fields
				}
			}
			h.grants = append(h.grants, g)
			specs = append(specs, g.spec())
		}
		token, pkg, ids := u.Package(specs...)
		h.token = token
		for i, id := range ids {
			h.grants[i].id = id
		}
		u.revokeUnderLoad(t, h, pkg, round%2 == 1)
	}
}

func (u *universe) revokeUnderLoad(t *testing.T, h *holder, pkg pdpp.PackageID, whole bool) {
	t.Helper()
	var revokedCount, asked atomic.Int32 // members revoked so far, in their order
	stop := make(chan struct{})
	var workers sync.WaitGroup
	calls := []rpc{
		callOf(modern, "search", `{"q":"`+common+`","limit":20}`), callOf(handshake, "schema", `{}`),
		callOf(modern, "query_records", `{"stream":"`+u.streams[0].name+`","connection_id":"`+u.conns[0].id+`"}`),
		callOf(modern, "query_records", `{"stream":"`+u.streams[0].name+`"}`),
		{era: modern, method: "resources/read", params: `"uri":` + quote(mcp.Handle{Connection: u.conns[1].id, Stream: u.streams[0].name, Record: u.records[18].id}.URI())},
	}
	for n := range 4 {
		workers.Go(func() {
			for i := n; ; i++ {
				select {
				case <-stop:
					return
				default:
				}
				revoked := int(revokedCount.Load()) // before the request begins
				c := calls[i%len(calls)]
				a := u.send(h.token, c)
				asked.Add(1)
				left := make([]*modelGrant, len(h.grants))
				for j, g := range h.grants {
					copied := *g
					copied.revoked = j < revoked
					left[j] = &copied
				}
				if leaks := u.leaks(left, c.params, string(a.Body)); len(leaks) > 0 {
					t.Errorf("after %d members were revoked, %s {%s} shows %v: %.600s", revoked, c.method, c.params, leaks, a.Body)
					return
				}
				if revoked == len(h.grants) && a.Status != 401 {
					t.Errorf("after all were revoked: %d %.300s", a.Status, a.Body)
					return
				}
			}
		})
	}
	await := func(more int32) {
		for from := asked.Load(); asked.Load() < from+more && !t.Failed(); {
			u.send("", rpc{era: modern, method: "nothing"})
		}
	}
	await(20)
	if whole {
		u.Update(func(tx store.Tx) error {
			_, _, _, err := tx.RevokePackage(u.Subject, pkg, u.Now())
			return err
		})
		revokedCount.Store(int32(len(h.grants)))
	} else {
		for i := range h.grants {
			u.Revoke(h.grants[i].id)
			revokedCount.Store(int32(i + 1))
			await(20)
		}
	}
	await(20)
	close(stop)
	workers.Wait()
}
