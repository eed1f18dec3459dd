package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/mcp/limits"
)

const searchPath = "/v1/search"

// twoHits returns the page of the example of MS-126.
func twoHits() string {
	return `{"object":"list","data":[` +
		`{"object":"search_result","stream":"entries","record_key":"ent_31","connection_id":"cin_a1","connector_key":"ledgerly","connector_id":"ledgerly","display_name":"Joint account",` +
		`"emitted_at":"2026-05-01T08:00:00.000Z","authored_at":"2026-04-30T09:00:00Z","record_url":"/v1/streams/entries/records/ent_31?connection_id=cin_a1","matched_fields":["memo"],` +
		`"snippet":{"field":"memo","text":"…April <mark>rent</mark> for the flat…"},"score":{"kind":"bm25","value":-1.647747,"order":"lower_is_better"},` +
		`"evidence_card":{"object":"evidence_card","title":{"text":"Joint account / entries / 2026-04-30T09:00:00Z","source":"fallback","truncated":false},"event_time":{"value":"2026-04-30T09:00:00Z","source":"role","field":"posted_at"},` +
		`"fields":[{"role":"amount","field":"amount_minor","value":125000}],"binary":[{"object":"binary_field","field_path":"scan","kind":"blob_reference","mime_type":"image/png","size_bytes":48213,"size_grade":"small","read":{"object":"blob_read","blob_id":"b7"}}],"binary_omitted_count":0},` +
		`"evidence_excerpts":[{"object":"evidence_excerpt","field_path":"memo","provenance":"lexical_match","preview_text":"…April <mark>rent</mark> for the flat…","highlighted":true,"start_chars":812,"end_chars":838,"total_chars":9120,"truncated":true,"read":{"object":"field_window_read","offset_chars":812}},` +
		`{"object":"evidence_excerpt","field_path":"note","provenance":"declared_role","preview_text":"No match here","start_chars":0,"end_chars":13,"total_chars":13,"truncated":false,"read":{"offset_chars":0}}]},` +
		`{"object":"search_result","stream":"messages","record_key":"m9","connection_id":"cin_c3","connector_key":"https://registry.example/slack","title":"Landlord","sent_at":"2026-04-01T10:00:00Z","emitted_at":"2026-05-01T08:00:00.000Z",` +
		`"matched_fields":["body"],"evidence_excerpts":[{"field_path":"body","preview_text":"Is the <mark>rent</mark> due?","total_chars":16,"truncated":false,"read":{"offset_chars":0}}]}` +
		`],"has_more":true,"next_cursor":"sl1.k3Vx","meta":{"count":{"kind":"exact","value":57},"recall":{"complete":true,"ranking_scope":"all_matches"},"warnings":[]}}`
}

func TestSearchTypical(t *testing.T) {
	t.Run("TEXT-1 search typical", func(t *testing.T) {
		body := twoHits()
		s := newScript(t, searchPath, body)
		res := mustDo(t, s.Surface, "search", `{"q":"rent"}`)
		golden(t, "search_typical.txt", s.show(t, res))
		conforms(t, "search", res.Structured)
		if !strings.HasPrefix(string(res.Structured), `{"data":`+body+`,"results":[`) {
			t.Errorf("MS-123 data is not the received body: %.300s", res.Structured)
		}
		if sent := s.sent.take(); !cmp.Equal(sent, []string{"/v1/search?q=rent Prefer: pdpp-hit-preview=120, pdpp-page-bytes=49152"}) {
			t.Errorf("MS-122 sent %q", sent)
		}
	})
}

func TestSearchForwarding(t *testing.T) {
	s := newScript(t, searchPath, twoHits(), "/v1/search/semantic", twoHits(), "/v1/search/hybrid", twoHits())
	for _, c := range []struct{ name, args, want string }{
		{"FANIN-2 connection_id narrows", `{"q":"a b","connection_id":"cin_a1","limit":2}`, "/v1/search?q=a+b&limit=2&connection_id=cin_a1"},
		{"FILTER-6 a filter is the same", `{"q":"x","filter":{"at":{"gte":"2026-01-01"}},"mode":"lexical"}`, "/v1/search?q=x&filter%5Bat%5D%5Bgte%5D=2026-01-01"},
		{"MS-122 mode chooses the route", `{"q":"x","mode":"semantic","streams":["a","b"]}`, "/v1/search/semantic?q=x&streams=a&streams=b"},
		{"MS-122 hybrid", `{"q":"x","mode":"hybrid","cursor":"c"}`, "/v1/search/hybrid?q=x&cursor=c"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.sent.take()
			mustDo(t, s.Surface, "search", c.args)
			if sent := s.sent.take(); !cmp.Equal(sent, []string{c.want + " Prefer: pdpp-hit-preview=120, pdpp-page-bytes=49152"}) {
				t.Errorf("sent %q, want %q", sent, c.want)
			}
		})
	}
}

// hitsOf returns a page with these hits.
func hitsOf(hits ...string) string {
	return `{"object":"list","data":[` + strings.Join(hits, ",") + `],"has_more":false,"meta":{}}`
}

func TestSearchHits(t *testing.T) {
	s := newScript(t)
	for _, c := range []struct {
		name, hit string
		want      map[string]any // by path in the result
		line      string         // of the text
	}{
		{
			"ID-1 the id names connection, stream and record", `{"stream":"s","record_key":"r:1","connection_id":"c1","id":"elsewhere"}`,
			map[string]any{"id": "c1/s:r:1", "connection_id": "c1"},
			`1. "c1/s:r:1" "c1 / s"`,
		},
		{
			"MS-124 an own id that is a handle", `{"id":"c1/s:r1"}`,
			map[string]any{"id": "c1/s:r1", "connection_id": "c1"},
			`1. "c1/s:r1" "c1 / s"`,
		},
		{
			"MS-124 an own id beside a stream", `{"id":"r1","stream":"s","connection_id":"c1"}`,
			map[string]any{"id": "c1/s:r1"},
			`1. "c1/s:r1" "c1 / s"`,
		},
		{
			"MS-124 parts decide against an id that only looks like a handle", `{"id":"a:b","record_key":"a:b","stream":"s","connection_id":"c1"}`,
			map[string]any{"id": "c1/s:a:b"},
			`1. "c1/s:a:b" "c1 / s"`,
		},
		{
			"ID-5 what is no record is never wrapped", `{"id":"page 7","url":"https://w.example/7","title":"A page","snippet":"text"}`,
			map[string]any{"id": "page 7", "url": "https://w.example/7", "reads": nil},
			`1. "page 7" "A page" url="https://w.example/7" | snippet="text"(cut)`,
		},
		{
			"ID-5 nor what has nothing at all", `{"snippet":"text"}`,
			map[string]any{"id": "result:1", "title": "result:1", "url": s.URL},
			`1. "result:1" url=` + jsonText(s.URL) + ` | snippet="text"(cut)`,
		},
		{
			"ID-5 nor a connection that the grammar cannot hold", `{"stream":"s","record_key":"r1","connection_id":"c/1"}`,
			map[string]any{"id": "s:r1", "connection_id": "c/1"},
			`1. "s:r1" connection_id="c/1" "c/1 / s"`,
		},
		{
			"FANIN-1 an authored time comes before the time of arrival", `{"stream":"s","record_key":"r1","display_name":"Mail","sent_at":"2026-01-02T00:00:00Z","emitted_at":"2026-05-01T00:00:00Z"}`,
			map[string]any{"title": "Mail / s / 2026-01-02T00:00:00Z"},
			`1. "s:r1" "Mail / s / 2026-01-02T00:00:00Z" display_name="Mail"`,
		},
		{
			"FANIN-1 the snippet is never the title, and its tags are balanced", `{"stream":"s","record_key":"r1","snippet":{"field":"body","text":"a </mark>b <mark>c <ma"}}`,
			map[string]any{"title": "s", "reads.0.field_path": "body", "reads.0.q": "c"},
			`1. "s:r1" "s" | body="a b <mark>c </mark>"(cut)`,
		},
		{
			"GPT-1 the url is absolute", `{"stream":"s t","record_key":"r/1","connection_id":"c1","url":"javascript:x"}`,
			map[string]any{"url": s.URL + "/v1/streams/s%20t/records/r%2F1?connection_id=c1"},
			``,
		},
		{
			"LADDER-1 an incomplete text is shown with its way on", `{"stream":"s","record_key":"r1","matched_fields":["body"],"evidence_excerpts":[{"field_path":"body","preview_text":"…a <mark>b</mark>…","total_chars":900,"truncated":true,"read":{"offset_chars":33}}]}`,
			map[string]any{"id": "s:r1", "reads.0.field_path": "body", "reads.0.offset_chars": json.Number("33")},
			"1. \"s:r1\" \"s\" | body=\"…a <mark>b</mark>…\"(cut:900)\n   more: read_record_field {\"id\":\"s:r1\",\"field_path\":\"body\",\"offset_chars\":33}",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.says(searchPath, hitsOf(c.hit), true)
			res := mustDo(t, s.Surface, "search", `{"q":"x"}`)
			conforms(t, "search", res.Structured)
			for path, want := range c.want {
				if got := find(t, res.Structured, "results.0."+path); got != want {
					t.Errorf("%s = %v, want %v", path, got, want)
				}
			}
			if !strings.Contains(text(res), "\n"+c.line) {
				t.Errorf("no line %s in\n%s", c.line, text(res))
			}
		})
	}
}

func TestSearchSources(t *testing.T) {
	s := newScript(t, searchPath, twoHits())
	t.Run("FANIN-1 a mix of sources is told", func(t *testing.T) {
		got := text(mustDo(t, s.Surface, "search", `{"q":"rent"}`))
		if want := "\nsources: \"cin_a1\" connector_key=\"ledgerly\" \"Joint account\" hits=1; \"cin_c3\" connector_key=\"slack\" hits=1\n"; !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	})
	t.Run("FANIN-1 one source is not", func(t *testing.T) {
		s.says(searchPath, hitsOf(`{"stream":"s","record_key":"a","connection_id":"c1"}`, `{"stream":"s","record_key":"b","connection_id":"c1"}`), true)
		if got := text(mustDo(t, s.Surface, "search", `{"q":"rent"}`)); strings.Contains(got, "sources:") {
			t.Errorf("%s", got)
		}
	})
	t.Run("FANIN-1 many sources are counted", func(t *testing.T) {
		var hits []string
		for i := range 11 {
			hits = append(hits, fmt.Sprintf(`{"stream":"s","record_key":"a","connection_id":"c%d"}`, i))
		}
		s.says(searchPath, hitsOf(hits...), true)
		if got := text(mustDo(t, s.Surface, "search", `{"q":"rent"}`)); !strings.Contains(got, `"c7" hits=1; more_sources=3`+"\n") {
			t.Errorf("%s", got)
		}
	})
}

func TestSearchLimit(t *testing.T) {
	s := newScript(t, searchPath, twoHits())
	res := mustDo(t, s.Surface, "search", `{"q":"rent","limit":1}`)
	if got := find(t, res.Structured, "results.1"); got != nil {
		t.Errorf("FANIN-1 more results than asked for: %v", got)
	}
	if got := find(t, res.Structured, "next.args.limit"); fmt.Sprint(got) != "2" {
		t.Errorf("MS-125 next limit %v", got)
	}
	if got := text(res); !strings.Contains(got, `hits=1 shown=1 has_more=true count=exact:57`) || !strings.Contains(got, "\nnext: search {\"q\":\"rent\",\"limit\":2} shows all rows of this answer\n") {
		t.Errorf("MS-125 %s", got)
	}
}

func TestSearchFacts(t *testing.T) {
	s := newScript(t)
	for _, c := range []struct{ name, body, args, want string }{
		{
			"MS-128 no hits", `{"data":[],"has_more":false}`, `{"q":"x"}`,
			"search \"x\" mode=lexical hits=0 shown=0 has_more=false\nno hits; all words must match; try fewer words, the language of the data, other streams, or schema {} to see what is searchable",
		},
		{"PAGE-1 a bare count with its accuracy", `{"data":[],"meta":{"count":12,"count_accuracy":"lower_bound"}}`, `{"q":"x"}`, "count=at_least:12"},
		{
			"MS-127 bounded recall", `{"data":[],"meta":{"recall":{"complete":false,"ranking_scope":"candidate_window","ranked_candidate_count":10000,"candidate_window_limit":10000}}}`, `{"q":"x"}`,
			"\nrecall: only a part of the matches was ranked (ranked=10000 limit=10000); more matches may exist, do not treat this page as exhaustive\n",
		},
		{
			"MS-226 a source that failed", `{"data":[],"meta":{"warnings":[{"code":"source_unavailable","message":"m","connection_id":"cin_9","detail":{"connector_key":"bank","error":{"code":"timeout","status":503}}}]}}`, `{"q":"x"}`,
			"\nwarning code=\"source_unavailable\" connection_id=\"cin_9\" connector_key=\"bank\" error=\"timeout\"\n",
		},
		{
			"MS-225 no cursor over all sources", `{"data":[{"stream":"s","record_key":"a","connection_id":"c1"},{"stream":"s","record_key":"a","connection_id":"c2"},{"stream":"s","record_key":"b","connection_id":"c2"}],"has_more":true,"meta":{"warnings":[{"code":"cursor_unavailable","message":"m"}]}}`, `{"q":"x","cursor":"old"}`,
			"\nnext: search {\"q\":\"x\",\"connection_id\":\"c2\"}\n",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			s.says(searchPath, c.body, true)
			if got := text(mustDo(t, s.Surface, "search", c.args)); !strings.Contains(got+"\n", c.want) {
				t.Errorf("no %q in\n%s", c.want, got)
			}
		})
	}
	t.Run("MS-127 recall is never inferred", func(t *testing.T) {
		s.says(searchPath, `{"data":[],"has_more":true,"meta":{"recall":{"complete":true}}}`, true)
		if got := text(mustDo(t, s.Surface, "search", `{"q":"x"}`)); strings.Contains(got, "recall") {
			t.Errorf("%s", got)
		}
	})
}

// manyHits returns a page of n hits with a long match each.
func manyHits(n int) string {
	var hits []string
	for i := range n {
		before := strings.Repeat("word ", 20+i)
		hits = append(hits, fmt.Sprintf(`{"stream":"messages","record_key":"m%d","connection_id":"cin_a1","connector_key":"mail","display_name":"Mail","matched_fields":["body"],"authored_at":"2026-01-02T00:00:00Z",`+
			`"evidence_excerpts":[{"field_path":"body","preview_text":%s,"total_chars":4000,"truncated":true,"read":{"offset_chars":%d}}]}`, i, jsonText("…"+before+"<mark>rent</mark> "+before+"…"), 100+i))
	}
	return `{"object":"list","data":[` + strings.Join(hits, ",") + `],"has_more":true,"next_cursor":"sl1.x","meta":{}}`
}

func TestSearchMany(t *testing.T) {
	body := manyHits(25)
	s := newScript(t, searchPath, body)
	res := mustDo(t, s.Surface, "search", `{"q":"rent"}`)
	got := text(res)
	golden(t, "search_many.txt", got+"\n")
	if len(got) > limits.SearchTextMax {
		t.Errorf("TEXT-2 the text has %d bytes", len(got))
	}
	if !strings.Contains(string(res.Structured), body) {
		t.Error("TEXT-2 the envelope is not whole in structured output")
	}
	checkMatches(t, got, 25)
}

// checkMatches checks that want hits are shown, each with its match, and none with more of it
// than the one before.
func checkMatches(t *testing.T, got string, want int) {
	t.Helper()
	shown, most := 0, 0
	for line := range strings.SplitSeq(got, "\n") {
		_, match, ok := strings.Cut(line, ` | body="`)
		if !ok {
			continue
		}
		shown++
		if !strings.Contains(match, "<mark>rent</mark>") {
			t.Errorf("TEXT-1 a hit without its match: %s", line)
		}
		match, _, _ = strings.Cut(match, `"(cut`)
		n := len(match)
		if most > 0 && n > most+len("word") { // cut at the same size, the excerpts differ by what stands before them
			t.Errorf("TEXT-1 hit %d shows %d bytes of its match, one before it %d", shown, n, most)
		}
		most = max(1, n)
	}
	if shown != want {
		t.Errorf("CONT-2 %d matches are shown, want %d:\n%s", shown, want, got)
	}
}

func TestSearchMatchesComeFirst(t *testing.T) {
	t.Run("TEXT-1 a match comes before labels and fields, also of the best hits", func(t *testing.T) {
		var hits []string
		for i := range 25 {
			fields := `{"field":"who","value":"` + strings.Repeat("Ada ", 10) + `"}`
			if i > 5 { // what these leave is not for those behind them alone
				fields = ""
			}
			hits = append(hits, fmt.Sprintf(`{"stream":"a/b","record_key":"m%d","connection_id":"cin_a1","connector_key":"mail","display_name":"Mail","matched_fields":["body"],`+
				`"evidence_card":{"title":{"text":%s},"fields":[%s]},`+
				`"evidence_excerpts":[{"field_path":"body","preview_text":%s,"total_chars":4000,"truncated":true,"read":{"offset_chars":9}}]}`,
				i, jsonText(strings.Repeat("Überschrift ", 9)), fields, jsonText("…"+strings.Repeat("word ", 40)+"<mark>rent</mark>"+strings.Repeat(" word", 40)+"…")))
		}
		s := newScript(t, searchPath, hitsOf(hits...))
		got := text(mustDo(t, s.Surface, "search", `{"q":"rent"}`))
		checkMatches(t, got, strings.Count(got, `. "pdpp://record/`))
		if len(got) > limits.SearchTextMax {
			t.Errorf("TEXT-2 the text has %d bytes", len(got))
		}
	})
	t.Run("CONT-2 a short match is shown, also where a file of its record takes a line", func(t *testing.T) {
		var hits []string
		for i := range 100 {
			hits = append(hits, fmt.Sprintf(`{"stream":"messages","record_key":"m%d","connection_id":"cin_l55yfetei5rgdno73bc2zlugam","connector_key":"mail","display_name":"Mail","matched_fields":["body"],`+
				`"authored_at":"2026-01-02T00:00:00Z","snippet":{"field":"body","text":"<mark>rent</mark> paid","truncated":false},`+
				`"binary":[{"field_path":"raw","kind":"base64_text","size_bytes":20000,"size_grade":"small"}]}`, i))
		}
		s := newScript(t, searchPath, hitsOf(hits...))
		got := text(mustDo(t, s.Surface, "search", `{"q":"rent","limit":100}`))
		checkMatches(t, got, strings.Count(got, `. "cin_l55yfetei5rgdno73bc2zlugam/messages:`))
		if len(got) > limits.SearchTextMax {
			t.Errorf("TEXT-2 the text has %d bytes", len(got))
		}
	})
}
