package rs_test

import (
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp"
	"pdpp/internal/rs/resttest"
)

// hitsOf returns the hits of an answer as "stream/id@connection", in order.
func hitsOf(t testing.TB, a resttest.Answer) []string {
	t.Helper()
	var out []string
	data, _ := a.OK().At("data").([]any)
	for _, item := range data {
		h, _ := item.(map[string]any)
		out = append(out, fmt.Sprintf("%v/%v@%v", h["stream"], h["record_key"], h["connection_id"]))
	}
	return out
}

// expectHits compares the hits of a search. An id alone means an entry of cin_a1.
func expectHits(t testing.TB, a resttest.Answer, want ...string) {
	t.Helper()
	for i, id := range want {
		if !strings.Contains(id, "/") {
			want[i] = "entries/" + id + "@cin_a1"
		}
	}
	if diff := cmp.Diff(want, hitsOf(t, a), cmpopts.EquateEmpty()); diff != "" {
		t.Errorf("hits differ (-want +got):\n%s\n%s", diff, a.Body)
	}
}

// searchEntry returns an ingest line for entries, without a note if it is "".
func searchEntry(id, memo, note string) string {
	if note != "" {
		note = fmt.Sprintf(`,"note":%s`, jsonOf(note))
	}
	return fmt.Sprintf(`{"key":%q,"data":{"id":%q,"memo":%s%s,"posted_at":"2026-04-30T09:00:00Z"}}`, id, id, jsonOf(memo), note)
}

// searchGrant covers entries with their texts, and receipts.
const searchGrant = `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","note","posted_at"]},{"name":"receipts"}]}`

func TestSearchRefusals(t *testing.T) {
	w := ledger(t)
	client, owner := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","posted_at"],"instance_ids":["cin_a1"]}]}`)), w.OwnerToken()
	both := []string{client, owner}
	many := func(n int, separator string) string {
		var out []string
		for i := range n {
			out = append(out, fmt.Sprint("w", i))
		}
		return strings.Join(out, separator)
	}
	bad := func(param string) refusal { return refusal{status: 400, code: "invalid_request", param: param} }
	for _, tc := range []struct {
		rule   string
		tokens []string
		query  string
		want   refusal
	}{
		{"Q-1 missing q", both, "", bad("q")},
		{"Q-1 empty q", both, "q=", bad("q")},
		{"Q-1 q is too long", both, "q=" + strings.Repeat("x", 513), bad("q")},
		{"Q-1 too many terms", both, "q=" + many(33, "+"), bad("q")},
		{"Q-4 q without a term", both, "q=%3F%21+-", bad("q")},
		{"C-8 q given twice", both, "q=a&q=b", bad("q")},
		{"Q-1 too many streams", both, "q=a&streams=" + many(65, ","), bad("streams")},
		{"C-8 empty stream", both, "q=a&streams=", bad("streams")},
		{"Q-1 filter without streams", both, "q=a&filter[memo]=x", bad("streams")},
		{"Q-1 filter with two streams", []string{owner}, "q=a&streams=entries,receipts&filter[id]=x", bad("streams")},
		{"REC-21 unknown field", both, "q=a&streams=entries&filter[nope]=x", refusal{400, "unknown_field", "filter", "nope", ""}},
		{"REC-21 ungranted field", []string{client}, "q=a&streams=entries&filter[note]=x", refusal{403, "field_not_granted", "filter", "note", ""}},
		{"REC-20 undeclared operator", both, "q=a&streams=entries&filter[posted_at][lte]=2026-01-01", refusal{400, "invalid_request", "filter", "posted_at", ""}},
		{"REC-19 invalid operand", both, "q=a&streams=entries&filter[posted_at]=soon", refusal{400, "invalid_request", "filter", "posted_at", ""}},
		{"C-8 filter without a field", both, "q=a&streams=entries&filter=x", bad("filter")},
		{"C-9 limit", both, "q=a&limit=0", bad("limit")},
		{"C-9 limit", both, "q=a&limit=ten", bad("limit")},
		{"C-5 unknown parameter", both, "q=a&sort=memo", bad("sort")},
		{"C-5 unknown parameter", both, "q=a&fields=memo", bad("fields")},
		{"C-5 unknown parameter before stream", both, "streams=nope&nope=1", bad("nope")},
		{"C-39 invalid cursor", both, "q=a&cursor=x", refusal{status: 400, code: "invalid_cursor", param: "cursor"}},
		{"C-39 empty cursor", both, "q=a&cursor=", bad("cursor")},
		{"C-23 stream outside the grant", []string{client}, "q=a&streams=entries,receipts", refusal{status: 403, code: "grant_stream_not_allowed", stream: "receipts"}},
		{"C-23 unknown stream", []string{client}, "q=a&streams=nope", refusal{status: 403, code: "grant_stream_not_allowed", stream: "nope"}},
		{"C-23 unknown stream", []string{owner}, "q=a&streams=entries,nope", refusal{status: 404, code: "not_found", stream: "nope"}},
		{"C-23 unknown connection", both, "q=a&connection_id=cin_none", refusal{status: 404, code: "connection_not_found", param: "connection_id"}},
		{"C-23 connection outside the grant", []string{client}, "q=a&connection_id=cin_b2", refusal{status: 404, code: "connection_not_found", param: "connection_id"}},
		{"C-23 unknown connector", both, "q=a&connector_id=none", refusal{status: 404, code: "not_found", param: "connector_id"}},
		{"C-7 contradicting connections", both, "q=a&connection_id=cin_a1&connector_instance_id=cin_b2", refusal{status: 400, code: "invalid_argument", param: "connector_instance_id"}},
		// The order of C-20: stream, connection, meaning of parameters, cursor.
		{"C-20 stream before q", []string{owner}, "streams=nope&limit=0&connection_id=cin_none", refusal{status: 404, code: "not_found", stream: "nope"}},
		{"C-20 connection before q", both, "limit=0&connection_id=cin_none", refusal{status: 404, code: "connection_not_found", param: "connection_id"}},
		{"C-20 connection before q", both, "streams=entries&q=&connection_id=cin_none", refusal{status: 404, code: "connection_not_found", param: "connection_id"}},
		{"C-20 filter before cursor", both, "q=a&streams=entries&filter[nope]=x&cursor=x", refusal{400, "unknown_field", "filter", "nope", ""}},
	} {
		t.Run(tc.rule, func(t *testing.T) {
			for _, token := range tc.tokens {
				refused(t, w.Get(token, "/v1/search?"+tc.query), tc.want)
			}
		})
	}
	t.Run("C-2 other methods and paths", func(t *testing.T) {
		refused(t, w.Do("POST", client, "/v1/search?q=a", ""), refusal{status: 405, code: "method_not_allowed"})
		refused(t, w.Get(client, "/v1/search/"), refusal{status: 404, code: "not_found"})
		refused(t, w.Get(client, "/v1/search/semantic?q=a"), refusal{status: 404, code: "not_found"})
		refused(t, w.Get(client, "/v1/search/hybrid?q=a"), refusal{status: 404, code: "not_found"})
		refused(t, w.Get("", "/v1/search?q=a"), refusal{status: 401, code: "authentication_error"})
	})
	t.Run("Q-1 the longest valid queries", func(t *testing.T) {
		for _, q := range []string{"q=" + many(32, "+"), "q=" + strings.Repeat("x", 512), "q=" + strings.Repeat("%C3%BC", 512), "q=rent&streams=entries,entries&filter[id]=ent_31"} {
			w.Get(client, "/v1/search?"+q).OK()
		}
		expectHits(t, w.Get(client, "/v1/search?q=rent&streams[]=entries&filter[posted_at][gte]=2026-04-01"), "ent_31")
	})
}

// TestSearchEnvelope compares whole answers except the hits.
func TestSearchEnvelope(t *testing.T) {
	w := ledger(t)
	w.Ingest("cin_b2", "entries", searchEntry("ent_28", "rent", ""))
	tok := first(w.Grant(ledgerGrant))
	entriesOnly := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries"}]}`))
	const skipped = `{"code":"source_skipped_not_applicable","message":"This stream has no field to search, so it was left out.","detail":{"connector_key":"ledgerly","stream":"receipts"}}`
	whole := func(t *testing.T, a resttest.Answer, want string) {
		t.Helper()
		body := string(a.OK().Body)
		hits := rawMember(t, a, "data")
		body = strings.Replace(body, hits, "[HITS]", 1)
		if c, ok := a.At("next_cursor").(string); ok {
			body = strings.ReplaceAll(body, c, "CURSOR")
		}
		if diff := cmp.Diff(want+"\n", body); diff != "" {
			t.Errorf("answer differs (-want +got):\n%s", diff)
		}
	}
	t.Run("Q-9 all hits on one page", func(t *testing.T) {
		a := w.Get(entriesOnly, "/v1/search?q=rent")
		whole(t, a, `{"object":"list","data":[HITS],"has_more":false,"url":"/v1/search","links":{"self":"/v1/search?q=rent","next":null},`+
			`"meta":{"count":{"kind":"exact","value":3},"count_accuracy":"exact","recall":{"complete":true,"ranking_scope":"all_matches","truncated":false,`+
			`"ranked_candidate_count":3,"sources_searched_count":2},"warnings":[]}}`)
		expectHits(t, a, "entries/ent_28@cin_b2", "ent_30", "ent_31")
	})
	t.Run("C-29 C-9 Q-3 pages, a clamped limit and a skipped stream", func(t *testing.T) {
		a := w.Get(tok, "/v1/search?q=rent&limit=1")
		whole(t, a, `{"object":"list","data":[HITS],"has_more":true,"next_cursor":"CURSOR","url":"/v1/search","links":{"self":"/v1/search?q=rent&limit=1",`+
			`"next":"/v1/search?q=rent&limit=1&cursor=CURSOR"},"meta":{"count":{"kind":"exact","value":3},"count_accuracy":"exact","recall":{"complete":true,`+
			`"ranking_scope":"all_matches","truncated":false,"ranked_candidate_count":3,"sources_searched_count":2},"warnings":[`+skipped+`]}}`)
		a = w.Get(tok, "/v1/search?q=rent&limit=500&streams=entries")
		whole(t, a, `{"object":"list","data":[HITS],"has_more":false,"url":"/v1/search","links":{"self":"/v1/search?q=rent&limit=500&streams=entries","next":null},`+
			`"meta":{"count":{"kind":"exact","value":3},"count_accuracy":"exact","recall":{"complete":true,"ranking_scope":"all_matches","truncated":false,`+
			`"ranked_candidate_count":3,"sources_searched_count":2},"warnings":[{"code":"limit_clamped","param":"limit","message":"limit reduced to 100","detail":{"requested_limit":500,"max_limit":100}}]}}`)
	})
	t.Run("Q-9 no match", func(t *testing.T) {
		a := w.Get(entriesOnly, "/v1/search?q=nothing&connection_id=cin_a1")
		sameJSON(t, a.At("meta"), `{"count":{"kind":"exact","value":0},"count_accuracy":"exact","recall":{"complete":true,"ranking_scope":"all_matches",
			"truncated":false,"ranked_candidate_count":0,"sources_searched_count":1},"warnings":[]}`)
		expectHits(t, a)
	})
	t.Run("Q-3 no searchable field", func(t *testing.T) {
		blind := first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","posted_at"]},{"name":"receipts"}]}`))
		for _, c := range []struct{ token, query, warnings string }{
			{tok, "&streams=receipts", skipped},
			{blind, "", strings.Replace(skipped, "receipts", "entries", 1) + "," + skipped},
		} {
			a := w.Get(c.token, "/v1/search?q=rent"+c.query)
			whole(t, a, `{"object":"list","data":[HITS],"has_more":false,"url":"/v1/search","links":{"self":"/v1/search?q=rent`+c.query+`","next":null},`+
				`"meta":{"count":{"kind":"none"},"count_accuracy":"not_counted","recall":{"complete":true,"ranking_scope":"unknown","truncated":false,`+
				`"ranked_candidate_count":0,"sources_searched_count":0},"warnings":[`+c.warnings+`]}}`)
			expectHits(t, a)
		}
	})
	t.Run("C-1 HEAD", func(t *testing.T) {
		for _, target := range []string{"/v1/search?q=rent", "/v1/search?q="} {
			got, head := w.Get(tok, target, fixedID), w.Do("HEAD", tok, target, "", fixedID)
			got.Body = nil
			sameAnswer(t, "HEAD "+target, head, got)
		}
	})
}

// TestSearchSources: which sources are searched, and the warnings about the others.
func TestSearchSources(t *testing.T) {
	t.Run("C-28 a stream that is no longer declared", func(t *testing.T) {
		w := ledger(t)
		tok := first(w.Grant(searchGrant))
		raw := testManifest(t, "../manifest/testdata/ledgerly.json")
		// Keep only the stream entries, without its relation.
		raw = raw[:strings.Index(raw, `,
  {"name": "receipts"`)] + "]}"
		raw = strings.Replace(raw, `"relationships": [{"name": "receipts", "stream": "receipts", "foreign_key": "entry_id", "cardinality": "has_many"}],`, "", 1)
		raw = strings.Replace(raw, `"expand": [{"name": "receipts", "default_limit": 10, "max_limit": 50}],`, "", 1)
		w.Manifest(raw)
		a := w.Get(tok, "/v1/search?q=rent")
		expectHits(t, a, "ent_30", "ent_31")
		sameJSON(t, a.At("meta.warnings"), `[{"code":"source_skipped_not_applicable","message":"The source no longer declares this granted stream.","detail":{"stream":"receipts"}}]`)
		refused(t, w.Get(tok, "/v1/search?q=rent&streams=receipts"), refusal{status: 404, code: "stream_not_declared", stream: "receipts"})
	})
	t.Run("C-25 C-24 an owner over two connectors", func(t *testing.T) {
		w := twoSources(t)
		for _, name := range []string{"alpha", "beta"} {
			raw := testManifest(t, "testdata/"+name+".json")
			w.Manifest(strings.Replace(raw, `"range_filters"`, `"search": {"lexical_fields": ["title"]}, "range_filters"`, 1))
		}
		w.Ingest("cin_b1", "events", `{"key":"ev_9","data":{"id":"ev_9","title":"Review","happened_at":"2026-04-04T06:00:00Z","score":9}}`)
		tok := w.OwnerToken()
		a := w.Get(tok, "/v1/search?q=review")
		expectHits(t, a, "events/ev_9@cin_b1", "events/ev_2@cin_z9")
		sameJSON(t, a.At("meta.warnings"), `[{"code":"source_skipped_not_applicable","message":"This stream has no field to search, so it was left out.","detail":{"connector_key":"alpha","stream":"guests"}}]`)
		sameJSON(t, a.At("meta.recall.sources_searched_count"), `2`)
		expectHits(t, w.Get(tok, "/v1/search?q=review&connector_id=alpha"), "events/ev_2@cin_z9")
		expectHits(t, w.Get(tok, "/v1/search?q=review&connection_id=cin_b1"), "events/ev_9@cin_b1")
		a = w.Get(tok, "/v1/search?q=review&streams=events&filter[room]=Red")
		expectHits(t, a, "events/ev_2@cin_z9")
		sameJSON(t, a.At("meta.warnings"), `[{"code":"source_skipped_not_applicable","message":"This source does not support what the request uses, so it was left out.","detail":{"connector_key":"beta","connection_id":"cin_b1"}}]`)
		refused(t, w.Get(tok, "/v1/search?q=review&streams=events&filter[nope]=1"), refusal{400, "unknown_field", "filter", "nope", ""})
	})
	t.Run("Q-2 G-5 only granted fields are searched", func(t *testing.T) {
		w := ledger(t)
		w.Ingest("cin_a1", "entries", searchEntry("ent_a", "tea", "rent in the note"))
		expectHits(t, w.Get(w.OwnerToken(), "/v1/search?q=rent"), "ent_30", "ent_31", "ent_a")
		expectHits(t, w.Get(first(w.Grant(ledgerGrant)), "/v1/search?q=rent"), "ent_30", "ent_31")
		expectHits(t, w.Get(w.OwnerToken(), "/v1/search?q=tea+rent"), "ent_a")
		expectHits(t, w.Get(first(w.Grant(ledgerGrant)), "/v1/search?q=tea+rent"))
	})
	t.Run("Q-12 a record is found right after its ingest", func(t *testing.T) {
		w := ledger(t)
		tok, owner := first(w.Grant(searchGrant)), w.OwnerToken()
		post(w, owner, searchEntry("ent_new", "umbrella", "")).OK()
		expectHits(t, w.Get(tok, "/v1/search?q=umbrella"), "ent_new")
		deleteRecords(w, owner, entriesPath+"/ent_new?connection_id=cin_a1")
		expectHits(t, w.Get(tok, "/v1/search?q=umbrella"))
	})
	t.Run("C-46 discovery", func(t *testing.T) {
		w := ledger(t)
		sameJSON(t, w.Get("", "/.well-known/oauth-protected-resource").OK().At("capabilities"), `{"lexical_retrieval": {"supported": true, "endpoint": "/v1/search",
			"cross_stream": true, "snippets": true, "default_limit": 25, "max_limit": 100, "cursor_supported": true, "count_supported": true,
			"evidence_supported": true, "index_state": "built", "score": {"supported": true, "kind": "bm25", "order": "lower_is_better",
			"value_semantics": "implementation_relative"}}}`)
	})
}

func TestSearchCursors(t *testing.T) { // C-37 to C-39, Q-11
	w, tok := longLedger(t)
	w.Ingest("cin_a1", "entries", searchEntry("ent_y1", "Tea", ""), searchEntry("ent_y2", "Tea", ""))
	other, owner := first(w.Grant(ledgerGrant)), w.OwnerToken()
	next := func(t *testing.T, token, target string) string {
		t.Helper()
		c, _ := w.Get(token, target).OK().At("next_cursor").(string)
		if !strings.HasPrefix(c, "sl1.") || len(c) > 2048 {
			t.Fatalf("next_cursor = %q, want sl1.… of at most 2048 bytes", c)
		}
		return c
	}
	const target = "/v1/search?q=tea&streams=entries&filter[memo]=Tea&limit=5"
	good := next(t, tok, target)
	list := nextCursor(t, w.Get(tok, entriesPath+"?limit=2"))
	invalid := refusal{status: 400, code: "invalid_cursor", param: "cursor"}
	for name, c := range map[string]struct{ token, target string }{
		"cursor of a record list":             {tok, target + "&cursor=" + list},
		"cursor of a record list, renamed":    {tok, target + "&cursor=" + strings.Replace(list, "pc1.", "sl1.", 1)},
		"cursor of another grant":             {other, target + "&cursor=" + good},
		"cursor of a client":                  {owner, target + "&cursor=" + good},
		"another query":                       {tok, strings.Replace(target, "q=tea", "q=rent", 1) + "&cursor=" + good},
		"the same terms, spelled differently": {tok, strings.Replace(target, "q=tea", "q=Tea", 1) + "&cursor=" + good},
		"without the filter":                  {tok, "/v1/search?q=tea&streams=entries&cursor=" + good},
		"without the streams":                 {tok, "/v1/search?q=tea&cursor=" + good},
		"limited to a connection":             {tok, target + "&connection_id=cin_a1&cursor=" + good},
		"truncated":                           {tok, target + "&cursor=" + good[:len(good)-1]},
		"extended":                            {tok, target + "&cursor=" + good + "A"},
		"too long":                            {tok, target + "&cursor=sl1." + strings.Repeat("A", 2045)},
	} {
		t.Run("C-39 "+name, func(t *testing.T) { refused(t, w.Get(c.token, c.target), invalid) })
	}
	t.Run("C-39 a search cursor in a record list", func(t *testing.T) {
		refused(t, w.Get(tok, entriesPath+"?limit=2&cursor="+good), invalid)
	})
	t.Run("C-38 limit and preferences may differ", func(t *testing.T) {
		a := w.Get(tok, strings.Replace(target, "limit=5", "limit=100", 1)+"&cursor="+good, "Prefer: pdpp-page-bytes=4096")
		expectHits(t, a, "ent_x5", "ent_x6")
	})
	t.Run("C-37 changed characters", func(t *testing.T) {
		for i := 4; i < len(good); i += 11 {
			flipped := []byte(good)
			if flipped[i] = 'A'; good[i] == 'A' {
				flipped[i] = 'B'
			}
			refused(t, w.Get(tok, target+"&cursor="+url.QueryEscape(string(flipped))), invalid)
		}
	})
	t.Run("C-39 a cursor expires after an hour", func(t *testing.T) {
		w.Advance(time.Hour)
		w.Get(tok, target+"&cursor="+good).OK()
		w.Advance(time.Millisecond)
		a := w.Get(tok, target+"&cursor="+good)
		refused(t, a, refusal{status: 410, code: string(pdpp.CodeCursorExpired), param: "cursor"})
	})
}
