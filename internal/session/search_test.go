package session

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/rs/resttest"
)

// Results of search, and the use of their ids.

// crowd returns a visit to a world with more letters about rent than fit into a text, in
// both accounts.
func (v *visit) crowd() *visit {
	v.Helper()
	v = v.other()
	var lines []string
	for i := range 90 {
		lines = append(lines, message(fmt.Sprintf("c%02d", i), fmt.Sprintf(`"user_id":"U1","subject":"Letter %d","body":%s`,
			i, quoted(strings.Repeat("Some words before it. ", 8)+"Then the rent. "+strings.Repeat("Some words after it. ", 8))), 1+i%28))
	}
	v.Ingest("cin_home", "messages", lines[:70]...)
	v.Ingest("cin_work", "messages", lines[70:]...)
	return v
}

func stableResults(v *visit) {
	s := v.as(everything)
	a, again := s.do("search", `{"q":"rent"}`), s.do("search", `{"q":"rent"}`)
	want := map[string]string{
		"cin_work/messages:m1": "Office rent", "cin_home/messages:m1": "Rent is due", "cin_home/messages:m2": "Re: the flat",
	}
	if n := len(a.list("results")); n != len(want) {
		v.Fatalf("%d results, want %d: %s", n, len(want), a.text)
	}
	for i := range a.list("results") {
		at := fmt.Sprintf("results.%d.", i)
		id := a.str(at + "id")
		connection, key, _ := strings.Cut(id, "/messages:")
		a.wants(map[string]any{
			at + "title": want[id], at + "url": v.URL + "/v1/streams/messages/records/" + key + "?connection_id=" + connection,
		})
		again.wants(map[string]any{at + "id": id})
		v.Get(s.token, strings.TrimPrefix(a.str(at+"url"), v.URL)).OK()
	}
}

// passIDs is the line about ids on every page of hits.
const passIDs = "Pass an id unchanged to fetch or read_record_field; add connection_id only where it is shown beside the id."

func hitsInText(v *visit) {
	s := v.as(everything)
	a := s.do("search", `{"q":"rent"}`)
	a.says(`"cin_work/messages:m1" "Office rent" at="2026-01-07T10:00:00Z" | subject="Office <mark>rent</mark>"`,
		`"cin_home/messages:m2" "Re: the flat" at="2026-01-03T10:00:00Z" | body="The <mark>rent</mark> was paid on Monday."`,
		`"cin_work" connector_key="post" "Work post" hits=1`, `"cin_home" connector_key="post" "Home post" hits=2`, passIDs)
	if strings.Contains(a.text, "connection_id=") {
		v.Errorf("a connection that the id has is shown again: %s", a.text)
	}
	if strings.Contains(a.text, "{") {
		v.Errorf("the text is a dump: %s", a.text)
	}
}

func boundedHits(v *visit) {
	v = v.crowd()
	s := v.as(everything)
	a := s.do("search", `{"q":"rent","limit":50}`)
	if n := len(a.text); n > limits.SearchTextMax+1024 { // a cursor is at most that long
		v.Errorf("the text has %d bytes", n)
	}
	a.isBody("data", s.again(a))
	hits := a.list("data.data")
	if n := len(a.list("results")); n != len(hits) || n < 10 {
		v.Errorf("%d results of %d hits", n, len(hits))
	}
	shown := a.ids()
	if len(shown) < 5 || len(shown) > len(hits) {
		v.Errorf("%d hits are shown of %d", len(shown), len(hits))
	}
	for i, id := range shown {
		a.wants(map[string]any{fmt.Sprintf("results.%d.id", i): id})
	}
	if len(shown) < len(hits) {
		a.says(fmt.Sprintf("not shown: %d hits of this page", len(hits)-len(shown)), fmt.Sprintf(`next: search {"q":"rent","limit":%d}`, len(shown)))
	}
}

func wholeIDs(v *visit) {
	a := v.as(everything).do("search", `{"q":"rent"}`)
	var ids []string
	for i := range a.list("results") {
		at, hit := fmt.Sprintf("results.%d.", i), fmt.Sprintf("data.data.%d.", i)
		ids = append(ids, a.str(at+"id"))
		if want := a.str(at+"connection_id") + "/" + a.str(hit+"stream") + ":" + a.str(hit+"record_key"); a.str(at+"id") != want {
			v.Errorf("the id is %s, want %s", a.str(at+"id"), want)
		}
	}
	if !slices.Equal(ids, a.ids()) {
		v.Errorf("ids of the text %q, of the results %q", a.ids(), ids)
	}
	slices.Sort(ids)
	if !slices.Equal(ids, []string{"cin_home/messages:m1", "cin_home/messages:m2", "cin_work/messages:m1"}) {
		v.Errorf("ids %q", ids)
	}
}

func idIsEnough(v *visit) {
	s := v.as(everything)
	s.refused("fetch", `{"id":"messages:m1"}`, "ambiguous_connection")
	id := s.do("search", `{"q":"office"}`).ids()[0]
	a := s.do("fetch", `{"id":`+quoted(id)+`}`)
	a.wantRequests("/v1/streams/messages/records/m1?connection_id=cin_work")
	a.wants(map[string]any{"id": "cin_work/messages:m1", "title": "Office rent"})
}

func legacyID(v *visit) {
	s := v.as(everything)
	a := s.do("fetch", `{"id":"messages:m1","connection_id":"cin_work"}`)
	a.wantRequests("/v1/streams/messages/records/m1?connection_id=cin_work")
	a.wants(map[string]any{"id": "messages:m1", "title": "Office rent", "metadata.connection_id": "cin_work"})
	s.do("fetch", `{"id":"messages:m3"}`).wants(map[string]any{"id": "messages:m3", "title": "Keys"}) // not ambiguous
	a = s.relayed("fetch", `{"id":"messages:m1"}`, "ambiguous_connection")
	a.wantRequests("/v1/streams/messages/records/m1")
	a.says("(HTTP 409)", `retry_with "connection_id"`, `connection "cin_home"`, `connection "cin_work"`)
	a.wants(map[string]any{"error.retry_with": "connection_id", "http_status": 409, "error.available_connections.1.connection_id": "cin_work"})
}

func conflictingID(v *visit) {
	s := v.as(everything)
	a := s.refusedEarly("fetch", `{"id":"cin_home/messages:m1","connection_id":"cin_work"}`, "conflicting_connection_id")
	a.says("cin_home", "cin_work")
	a.wants(map[string]any{"error.type": "adapter_error", "error.param": "connection_id"})
	s.do("fetch", `{"id":"cin_home/messages:m1","connection_id":"cin_home"}`).wants(map[string]any{"title": "Rent is due"})
}

func malformedID(v *visit) {
	s := v.as(everything)
	for _, id := range []string{
		"noseparator", "messages:", ":m1", "cin_home/", "/messages:m1", "cin_home/messages", "cin_home/messages:", "cin_home/:m1",
		"cin_home/x/messages:m1", "cin_home/messages:a/b", "../cin_home/messages:m1", "cin_home/messages:../../etc", "cin_home/..:m1",
		`cin_home\\messages:m1`, "cin_home/messages:a\\u0000b", "pdpp://record/", "pdpp://elsewhere/x", "https://elsewhere.example/x:y",
	} {
		a := s.refusedEarly("fetch", `{"id":"`+id+`"}`, "invalid_id")
		a.wants(map[string]any{"error.type": "adapter_error", "error.param": "id"})
		s.refusedEarly("read_record_field", `{"id":"`+id+`","field_path":"body"}`, "invalid_id")
	}
	s.refusedEarly("fetch", `{"id":""}`, "invalid_argument")

	// A record key that the grammar of ids excludes is offered as a URI.
	v = v.other()
	v.Ingest("cin_home", "messages", message("a/b", `"subject":"Awkward","body":"An awkward zither."`, 9))
	s = v.as(everything)
	a := s.do("search", `{"q":"zither"}`)
	if id := a.ids()[0]; !strings.HasPrefix(id, "pdpp://record/") || id != a.str("results.0.id") {
		v.Errorf("the id is %s", id)
	}
	s.do("fetch", `{"id":`+quoted(a.ids()[0])+`}`).wants(map[string]any{"title": "Awkward", "metadata.record_id": "a/b"})
}

// otherServer opens a session on a server that is not ours and answers every read with
// one body. Only stdio can be connected to one.
func (v *visit) otherServer(body string) *session {
	v.Helper()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, body)
	}))
	v.Cleanup(srv.Close)
	other := &visit{T: v.T, world: &world{World: &resttest.World{T: v.T, URL: srv.URL}}, transport: v.transport, era: v.era}
	return other.with("pdpp_at_other")
}

// unwrapped checks hits whose connection or stream no id can contain.
func unwrapped(v *visit) {
	s := v.otherServer(`{"object":"list","data":[{"stream":"messages","record_key":"m1","connection_id":"cin/odd","title":"Odd rent"},` +
		`{"id":"page 7","url":"https://pages.example/7","title":"A page","connection_id":"cin_home"},` +
		`{"stream":"messages","record_key":"m2","connection_id":"cin_home","title":"Plain rent"}],"has_more":false,"meta":{}}`)
	a := s.do("search", `{"q":"rent"}`)
	a.wants(map[string]any{
		"results.0.id": "messages:m1", "results.0.connection_id": "cin/odd", "results.1.id": "page 7", "results.1.url": "https://pages.example/7",
		"results.2.id": "cin_home/messages:m2",
	})
	a.says(`1. "messages:m1" connection_id="cin/odd" "Odd rent"`, `2. "page 7" `, `3. "cin_home/messages:m2" "Plain rent"`, passIDs)
	s.do("fetch", `{"id":"messages:m1","connection_id":"cin/odd"}`).wantRequests("/v1/streams/messages/records/m1?connection_id=cin/odd")
}

var marks = regexp.MustCompile(`</?mark>`)

// balanced checks that a text has highlights and that each ends before the next.
func (v *visit) balanced(text string) {
	v.Helper()
	tags := marks.FindAllString(text, -1)
	for i, tag := range tags {
		if tag != [...]string{"<mark>", "</mark>"}[i%2] {
			tags = nil
			break
		}
	}
	if len(tags) == 0 || len(tags)%2 != 0 {
		v.Errorf("the tags are not balanced: %q", text)
	}
}

func fanIn(v *visit) {
	s := v.crowd().as(everything)
	for _, limit := range []int{1, 2, 7} {
		a := s.do("search", fmt.Sprintf(`{"q":"rent","limit":%d}`, limit))
		if n, shown := len(a.list("results")), len(a.ids()); n != limit || shown != limit {
			v.Errorf("%d results, %d in the text, want %d", n, shown, limit)
		}
	}

	s = v.as(everything)
	a := s.do("search", `{"q":"rent","limit":3}`)
	a.says(`sources: "cin_work" connector_key="post" "Work post" hits=1; "cin_home" connector_key="post" "Home post" hits=2`)
	for i := range a.list("results") {
		result, hit := fmt.Sprintf("results.%d.", i), fmt.Sprintf("data.data.%d.", i)
		for _, member := range []string{"connection_id", "connector_key", "stream", "record_key", "display_name", "snippet.text"} {
			if a.str(hit+member) == "" {
				v.Errorf("%s has no %s", a.str(result+"id"), member)
			}
		}
		if got, want := a.str(result+"connection_id"), a.str(hit+"connection_id"); got != want {
			v.Errorf("the result is of %q, its hit of %q", got, want)
		}
		v.balanced(a.str(hit + "snippet.text"))
	}
	for line := range strings.Lines(a.text) {
		if item.MatchString(line) {
			v.balanced(line)
		}
	}

	// Without a declared title the title is connection, stream and event time.
	a = s.do("search", `{"q":"cuckoo","limit":3}`)
	a.wants(map[string]any{"results.0.title": "Home post / notes / 2026-02-03T04:05:06Z", "data.data.0.authored_at": "2026-02-03T04:05:06Z"})
	a.says(`"cin_home/notes:n1" "Home post / notes / 2026-02-03T04:05:06Z"`)
	if strings.Contains(a.text, "sources:") {
		v.Errorf("a mix of one source: %s", a.text)
	}
}

func namedSources(v *visit) {
	s := v.as(everything)
	for _, c := range []struct {
		args  string
		wants []string
	}{
		{`{"stream":"messages"}`, []string{"\nsources: ", `"cin_work" connector_key="post" "Work post" records=`, `"cin_home" connector_key="post" "Home post" records=`}},
		{`{"stream":"messages","connection_id":"cin_work"}`, []string{` connection_id="cin_work" connector_key="post" display_name="Work post"`}},
		{`{"stream":"messages","fields":["folder"],"connection_id":"cin_work"}`, []string{` connection_id="cin_work" connector_key="post" display_name="Work post"`}},
	} {
		a := s.do("query_records", c.args)
		a.says(c.wants...)
		if n := strings.Count(a.text, `"Work post"`); n != 1 {
			v.Errorf("%s names the source %d times: %s", c.args, n, a.text)
		}
	}
}

func oneSource(v *visit) {
	s := v.as(everything)
	a := s.do("search", `{"q":"rent","connection_id":"cin_home","limit":1}`)
	a.wantRequests("/v1/search?q=rent&limit=1&connection_id=cin_home")
	a.wants(map[string]any{"results.0.connection_id": "cin_home", "results.1": nil, "data.meta.count.value": 2, "data.has_more": true})
	a = s.do("search", `{"q":"rent","connection_id":"cin_home","limit":5}`)
	if !slices.Equal(a.ids(), []string{"cin_home/messages:m1", "cin_home/messages:m2"}) {
		v.Errorf("hits %q", a.ids())
	}
	a.hides("cin_work", "Work post")
}

// allPages reads pages and changes with the calls that texts offer.
func allPages(v *visit) {
	v = v.other()
	s := v.as(everything)
	for tool, args := range map[string]string{
		"query_records": `{"stream":"messages","connection_id":"cin_home","limit":2,"count":"exact"`, "search": `{"q":"rent","limit":2`,
	} {
		total := map[string]int{"query_records": 5, "search": 3}[tool]
		a := s.do(tool, args+"}")
		a.says(fmt.Sprintf("count=exact:%d", total), "has_more=true", "\nnext: "+tool+" {")
		ids := a.ids()
		for len(a.offers("next")) > 0 && len(ids) < 20 {
			a = s.follow(a.offer("next"))
			ids = append(ids, a.ids()...)
		}
		slices.Sort(ids)
		if len(ids) != total || len(slices.Compact(ids)) != total {
			v.Errorf("%s returned %q, want %d", tool, ids, total)
		}
	}
	a := s.do("query_records", `{"stream":"messages","changes_since":"beginning","limit":100}`)
	bookmark := a.handle("later", "changes_since")
	a.wants(map[string]any{"data.next_changes_since": bookmark})
	v.Ingest("cin_home", "messages", message("m9", `"subject":"News"`, 20))
	a = s.follow(a.offer("later"))
	if !slices.Equal(a.ids(), []string{"cin_home/messages:m9"}) {
		v.Errorf("changes %q", a.ids())
	}
	if a.handle("later", "changes_since") == bookmark {
		v.Error("the bookmark did not move")
	}
}
