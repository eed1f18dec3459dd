package rs_test

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

// rentWorld returns a ledger with one entry about rent on each connection: ent_31, and
// the given line of cin_b2. The token reads all fields except scan.
func rentWorld(t *testing.T, line string) (w *resttest.World, token string) {
	t.Helper()
	w = resttest.New(t)
	w.ManifestFile("../manifest/testdata/ledgerly.json")
	w.Connect("ledgerly", "cin_a1", "Joint account")
	w.Connect("ledgerly", "cin_b2", "")
	w.Ingest("cin_a1", "entries", `{"key":"ent_31","data":{"id":"ent_31","memo":"April rent for the flat","amount_minor":125000,"posted_at":"2026-04-30T09:00:00Z"}}`)
	w.Ingest("cin_b2", "entries", line)
	return w, first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","amount_minor","note","posted_at"]}]}`))
}

// TestSearchHit compares the example of Q-6 byte by byte.
func TestSearchHit(t *testing.T) {
	w, tok := rentWorld(t, `{"key":"a/b ?","data":{"id":"a/b ?","note":"No rent"}}`)
	t.Run("Q-6 all members of a hit", func(t *testing.T) {
		const want = `{"object":"search_result","stream":"entries","record_key":"ent_31","connection_id":"cin_a1","connector_key":"ledgerly","connector_id":"ledgerly",` +
			`"display_name":"Joint account","emitted_at":"2026-05-01T08:00:00.000Z","authored_at":"2026-04-30T09:00:00Z","record_url":"/v1/streams/entries/records/ent_31?connection_id=cin_a1",` +
			`"matched_fields":["memo"],"snippet":{"field":"memo","text":"April <mark>rent</mark> for the flat"},"score":{"kind":"bm25","value":-1.647747,"order":"lower_is_better"},` +
			`"evidence_card":{"object":"evidence_card","title":{"text":"April rent for the flat","source":"role","field":"memo","truncated":false},` +
			`"event_time":{"value":"2026-04-30T09:00:00Z","source":"role","field":"posted_at"},"fields":[{"role":"amount","field":"amount_minor","value":125000}],` +
			`"binary":[],"binary_omitted_count":0,"read":{"object":"record_read","method":"GET","stream":"entries","record_id":"ent_31","connection_id":"cin_a1",` +
			`"href":"/v1/streams/entries/records/ent_31?connection_id=cin_a1"}},"evidence_excerpts":[{"object":"evidence_excerpt","field_path":"memo","provenance":"lexical_match",` +
			`"preview_text":"April <mark>rent</mark> for the flat","highlighted":true,"start_chars":0,"end_chars":23,"total_chars":23,"truncated":false,` +
			`"read":{"object":"field_window_read","method":"GET","stream":"entries","record_id":"ent_31","field":"memo","connection_id":"cin_a1","offset_chars":0,` +
			`"route":"/v1/streams/entries/records/ent_31/field-window","href":"/v1/streams/entries/records/ent_31/field-window?field=memo&offset_chars=0&connection_id=cin_a1"}}]}`
		sameRaw(t, w.Get(tok, "/v1/search?q=rent&connection_id=cin_a1"), want, "data", "0")
	})
	t.Run("Q-6 Q-8 optional members", func(t *testing.T) {
		hit, _ := w.Get(tok, "/v1/search?q=rent&connection_id=cin_b2").At("data.0").(map[string]any)
		for _, key := range []string{"display_name", "authored_at"} {
			if v, ok := hit[key]; ok {
				t.Errorf("%s = %v, want none", key, v)
			}
		}
		for _, key := range []string{"object", "stream", "record_key", "connection_id", "connector_key", "connector_id", "emitted_at", "record_url", "matched_fields", "score", "evidence_card", "evidence_excerpts"} {
			if _, ok := hit[key]; !ok {
				t.Errorf("%s is missing", key)
			}
		}
		if got := hit["record_url"]; got != "/v1/streams/entries/records/a%2Fb%20%3F?connection_id=cin_b2" {
			t.Errorf("record_url = %v, want an escaped id", got)
		}
	})
	t.Run("Q-6 links to the record and the field", func(t *testing.T) {
		a := w.Get(tok, "/v1/search?q=rent")
		for i, id := range []string{"a/b ?", "ent_31"} {
			hit := fmt.Sprintf("data.%d.", i)
			for _, link := range []string{"record_url", "evidence_card.read.href"} {
				sameValue(t, w.Get(tok, a.At(hit+link).(string)).OK(), "id", id)
			}
			text := w.Get(tok, a.At(hit+"evidence_excerpts.0.read.href").(string)).OK().At("window.text")
			if shown := plainText(a.At(hit + "snippet.text").(string)); text != shown {
				t.Errorf("window text %v, snippet %q", text, shown)
			}
		}
	})
}

// plainText returns a snippet without its marks.
func plainText(snippet string) string {
	return strings.NewReplacer("<mark>", "", "</mark>", "").Replace(snippet)
}

// checkMarks fails unless the marks of a snippet are balanced.
func checkMarks(t testing.TB, text string) {
	t.Helper()
	rest := text
	for strings.Contains(rest, "mark>") {
		before, inside, ok1 := strings.Cut(rest, "<mark>")
		inside, after, ok2 := strings.Cut(inside, "</mark>")
		if !ok1 || !ok2 || strings.Contains(before+inside, "mark>") || inside == "" {
			t.Errorf("Q-7 unbalanced marks in %q", text)
			return
		}
		rest = after
	}
}

// snippetOf returns matched fields and snippet of the only hit.
func snippetOf(t testing.TB, a resttest.Answer) (fields []any, text string) {
	t.Helper()
	if n := len(hitsOf(t, a)); n != 1 {
		t.Fatalf("%d hits, want 1: %s", n, a.Body)
	}
	fields, _ = a.At("data.0.matched_fields").([]any)
	text, _ = a.At("data.0.snippet.text").(string)
	if first := a.At("data.0.evidence_excerpts.0.preview_text"); text != first {
		t.Errorf("Q-7 snippet %q, first excerpt %q", text, first)
	}
	checkMarks(t, text)
	return fields, text
}

func TestSearchText(t *testing.T) {
	w := ledger(t)
	tok := first(w.Grant(searchGrant))
	long := strings.Repeat("filler ", 3000)
	w.Ingest("cin_a1", "entries",
		searchEntry("mark", "a <mark>literal</mark> lamp, <ma<mark>rk>unbalanced</mark>", ""),
		searchEntry("both", "kettle", "kettle and a second kettle"),
		searchEntry("spread", "toaster", "and a grill"),
		searchEntry("german", "Grüße aus der STRASSE, Müller & Söhne", ""),
		searchEntry("sharp", "die Straße nach Köln", ""),
		searchEntry("japan", "東京都で家賃を払う", ""),
		searchEntry("greek", "Ὀδυσσεύς και ΣΟΦΌΣ σοφός", ""),
		searchEntry("wide", "Ｆｕｌｌ ｗｉｄｔｈ ﬁsh", ""),
		searchEntry("deep", "x", long+"needle in it "+long),
		searchEntry("control", "be\u202efore lantern\u0007 after", ""),
		searchEntry("html", `<script>alert("orchid")</script> & more`, ""),
	)
	for _, c := range []struct{ rule, q, id, fields, snippet string }{
		{"Q-7 literal marks are removed", "lamp", "mark", "memo", "a literal <mark>lamp</mark>, unbalanced"},
		{"Q-7 a match within literal marks", "literal", "mark", "memo", "a <mark>literal</mark> lamp, unbalanced"},
		{"Q-7 best field first", "kettle", "both", "note memo", "<mark>kettle</mark> and a second <mark>kettle</mark>"},
		{"Q-4 terms in different fields", "toaster grill", "spread", "memo note", "<mark>toaster</mark>"},
		{"Q-7 other text is not escaped", "orchid", "html", "memo", `<script>alert("<mark>orchid</mark>")</script> & more`},
		{"EX-7 controls are removed", "lantern", "control", "memo", "before <mark>lantern</mark> after"},
		{"Q-4 umlauts", "muller", "german", "memo", "Grüße aus der STRASSE, <mark>Müller</mark> & Söhne"},
		{"Q-4 umlauts in the query", "SÖHNE gruße", "german", "memo", "<mark>Grüße</mark> aus der STRASSE, Müller & <mark>Söhne</mark>"},
		{"Q-4 ß matches ß", "straße", "sharp", "memo", "die <mark>Straße</mark> nach Köln"},
		{"Q-4 capital ß", "STRAẞE koln", "sharp", "memo", "die <mark>Straße</mark> nach <mark>Köln</mark>"},
		{"Q-4 ss does not match ß", "strasse", "german", "memo", "Grüße aus der <mark>STRASSE</mark>, Müller & Söhne"},
		{"Q-4 Japanese, character by character", "家賃", "japan", "memo", "東京都で<mark>家賃</mark>を払う"},
		{"Q-4 characters in any order", "払家", "japan", "memo", "東京都で<mark>家</mark>賃を<mark>払</mark>う"},
		{"Q-4 final sigma", "σοφοσ", "greek", "memo", "Ὀδυσσεύς και <mark>ΣΟΦΌΣ</mark> <mark>σοφός</mark>"},
		{"Q-4 breathings and accents", "οδυσσευσ", "greek", "memo", "<mark>Ὀδυσσεύς</mark> και ΣΟΦΌΣ σοφός"},
		{"Q-4 compatibility forms", "full fish", "wide", "memo", "<mark>Ｆｕｌｌ</mark> ｗｉｄｔｈ <mark>ﬁsh</mark>"},
	} {
		t.Run(c.rule, func(t *testing.T) {
			a := w.Get(tok, "/v1/search?q="+url.QueryEscape(c.q))
			expectHits(t, a, c.id)
			fields, snippet := snippetOf(t, a)
			if got := strings.Trim(fmt.Sprint(fields), "[]"); got != c.fields || snippet != c.snippet {
				t.Errorf("%q in %s, want %q in %s", snippet, got, c.snippet, c.fields)
			}
		})
	}
	t.Run("EX-6 a long field that is stored in pieces", func(t *testing.T) {
		a := w.Get(tok, "/v1/search?q=needle")
		_, snippet := snippetOf(t, a)
		if !strings.HasPrefix(snippet, "…filler") || !strings.Contains(snippet, "filler <mark>needle</mark> in it filler") || !strings.HasSuffix(snippet, "…") {
			t.Errorf("snippet %q, want the match with text on both sides", snippet)
		}
		e, _ := a.At("data.0.evidence_excerpts.0").(map[string]any)
		if e["truncated"] != true || fmt.Sprint(e["total_chars"]) != fmt.Sprint(2*len(long)+len("needle in it ")) {
			t.Errorf("excerpt %v, want truncated and total_chars of the field", e)
		}
		// The window starts with the first character of the excerpt.
		window := w.Get(tok, e["read"].(map[string]any)["href"].(string)).OK().At("window.text").(string)
		if shown := strings.Trim(plainText(snippet), "…"); !strings.HasPrefix(window, shown) {
			t.Errorf("window %.80q, snippet %q", window, shown)
		}
		if strings.Contains(string(a.Body), strings.Repeat("filler ", 60)) {
			t.Error("Q-6 the hit contains more than an excerpt")
		}
	})
	t.Run("Q-4 queries without a match", func(t *testing.T) {
		for _, q := range []string{"kettl", "賃料", "σοφ", "strasse+köln", "needle+kettle", "fillerneedle"} {
			expectHits(t, w.Get(tok, "/v1/search?q="+url.QueryEscape(q)))
		}
	})
	t.Run("Q-4 operators have no meaning", func(t *testing.T) {
		expectHits(t, w.Get(tok, "/v1/search?q="+url.QueryEscape(`"kettle" -second* (AND)`)), "both")
		expectHits(t, w.Get(tok, "/v1/search?q="+url.QueryEscape(`kettle OR toaster`)))
	})
}

// TestSearchAuthoredAt: authored_at is the event time of the evidence card. It is missing if
// that is the time of ingest (Q-8, EX-4).
func TestSearchAuthoredAt(t *testing.T) {
	w := resttest.New(t)
	w.Manifest(`{"protocol_version":"0.1.0","declaration_version":"1","source":{"kind":"connector","id":"https://reg.test/c/post"},
		"streams":[{"name":"letters","semantics":"append_only","primary_key":["id"],"cursor_field":"seen","selection":{"fields":true,"resources":true},
		"schema":{"type":"object","properties":{"id":{"type":"string"},"body":{"type":"string"},"seen":{"type":"string","format":"date-time"},
		"sent_at":{"type":"string"},"updated_at":{"type":"string"}}},"query":{"search":{"lexical_fields":["body"]}}}]}`)
	w.Connect("post", "cin_p", "")
	letter := func(id, members string) string {
		return fmt.Sprintf(`{"key":%q,"data":{"id":%q,"body":"word %s"%s}}`, id, id, id, members)
	}
	w.Ingest("cin_p", "letters",
		letter("stream", `,"seen":"2026-01-02","sent_at":"2026-01-03"`), letter("name", `,"sent_at":"2026-01-03T10:00:00+02:00","updated_at":"2026-01-04"`),
		letter("later", `,"sent_at":"soon","updated_at":"2026-01-04"`), letter("none", `,"seen":7`))
	all := first(w.Grant(`{"source":{"connector_key":"post"},"streams":[{"name":"letters"}]}`))
	some := first(w.Grant(`{"source":{"connector_key":"post"},"streams":[{"name":"letters","fields":["id","body","updated_at"]}]}`))
	for _, c := range []struct {
		token, id string
		want      any
		source    string
	}{
		{all, "stream", "2026-01-02", "stream"},
		{all, "name", "2026-01-03T10:00:00+02:00", "name"},
		{all, "later", "2026-01-04", "name"},
		{all, "none", nil, "envelope"},
		{some, "stream", nil, "envelope"},
		{some, "name", "2026-01-04", "name"},
		{some, "none", nil, "envelope"},
	} {
		a := w.Get(c.token, "/v1/search?q="+c.id)
		expectHits(t, a, "letters/"+c.id+"@cin_p")
		if got := a.At("data.0.authored_at"); got != c.want {
			t.Errorf("%s: authored_at %v, want %v", c.id, got, c.want)
		}
		card, _ := a.At("data.0.evidence_card.event_time").(map[string]any)
		if card["source"] != c.source || c.want != nil && card["value"] != c.want {
			t.Errorf("%s: event_time of the card = %v", c.id, card)
		}
	}
}

// base64Text is detected as a file in base64 (EX-8).
var base64Text = strings.Repeat("iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4", 20)

// TestSearchEvidence tests the requirements about evidence with hits of a search.
func TestSearchEvidence(t *testing.T) {
	w := resttest.Cabinet(t)
	raw := testManifest(t, "testdata/cabinet.json")
	w.Manifest(strings.Replace(raw, `"query": {"range_filters": {"at"`, `"query": {"search": {"lexical_fields": ["a.b", "body"]}, "range_filters": {"at"`, 1))
	w.Ingest("cin_c1", "items",
		item("plain", `"a.b":"lamp","author":"Ada","price":10.50,"qty":3,"meta":{"subject":"S"},"subject":"not declared","day":"2026-01-01"`),
		item("scan", `"a.b":"lamp post","title":"Scanned","scan":{"blob_id":"blob_1","mime_type":"image/png","size_bytes":48213,"fetch_url":"https://elsewhere.test/x"}`),
		item("text", `"a.b":"lamp oil","body":"`+base64Text+`"`))
	owner := w.OwnerToken()
	all := first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items"}]}`))
	few := first(w.Grant(`{"source":{"connector_key":"cabinet"},"streams":[{"name":"items","fields":["id","a.b","qty"]}]}`))
	card := func(t *testing.T, token, q string) map[string]any {
		t.Helper()
		a := w.Get(token, "/v1/search?q="+q)
		if n := len(hitsOf(t, a)); n != 1 {
			t.Fatalf("%d hits for %s, want 1", n, q)
		}
		c, _ := a.At("data.0.evidence_card").(map[string]any)
		return c
	}
	t.Run("EVID-1 only declared roles are promoted", func(t *testing.T) {
		for _, token := range []string{owner, all, few} {
			a := w.Get(token, "/v1/search?q=lamp&streams=items&filter[qty]=3")
			title, fields := a.At("data.0.evidence_card.title"), a.At("data.0.evidence_card.fields")
			if token == few {
				sameJSON(t, title, `{"text":"Left drawer / items / received 2026-05-01T08:00:00.000Z","source":"fallback","truncated":false}`)
				sameJSON(t, fields, `[]`)
				continue
			}
			sameJSON(t, title, `{"text":"Left drawer / items / 2026-01-01","source":"fallback","truncated":false}`)
			sameJSON(t, fields, `[{"role":"actor","field":"author","value":"Ada"},{"role":"amount","field":"price","value":10.50}]`)
		}
	})
	t.Run("EVID-2 a blob is described by facts and a link", func(t *testing.T) {
		c := card(t, all, "post")
		sameJSON(t, c["binary"], `[{"object":"binary_field","field_path":"scan","kind":"blob_reference","mime_type":"image/png","size_bytes":48213,"size_grade":"small",
			"read":{"object":"blob_read","method":"GET","blob_id":"blob_1","connection_id":"cin_c1","href":"/v1/blobs/blob_1?connection_id=cin_c1"}}]`)
		if a := w.Get(all, "/v1/search?q=post"); strings.Contains(string(a.Body), "elsewhere.test") {
			t.Errorf("EX-8 the answer contains an external URL: %s", a.Body)
		}
		if c := card(t, few, "post"); len(c["binary"].([]any)) != 0 {
			t.Errorf("an ungranted blob is described: %v", c)
		}
	})
	t.Run("EVID-2 base64 is never shown", func(t *testing.T) {
		a := w.Get(all, "/v1/search?q=oil")
		sameJSON(t, a.At("data.0.evidence_card.binary.0.kind"), `"base64_text"`)
		sameJSON(t, a.At("data.0.evidence_card.binary.0.read.object"), `"field_window_read"`)
		sameJSON(t, a.At("data.0.matched_fields"), `["a.b"]`)
		if n := len(a.At("data.0.evidence_excerpts").([]any)); n != 1 || strings.Contains(string(a.Body), base64Text[:40]) {
			t.Errorf("%d excerpts, want 1, without base64: %s", n, a.Body)
		}
		// A match within the base64 text has no excerpt.
		a = w.Get(all, "/v1/search?q="+url.QueryEscape(strings.ToLower(base64Text[:64])))
		expectHits(t, a, "items/text@cin_c1")
		sameJSON(t, a.At("data.0.matched_fields"), `["body"]`)
		if a.At("data.0.snippet") != nil || len(a.At("data.0.evidence_excerpts").([]any)) != 0 {
			t.Errorf("Q-6 a snippet of binary text: %s", a.Body)
		}
	})
	t.Run("EVID-3 facts agree with the record and the window", func(t *testing.T) {
		a := w.Get(all, "/v1/search?q=lamp")
		data, _ := a.At("data").([]any)
		for i := range data {
			hit := fmt.Sprintf("data.%d.", i)
			record := w.Get(all, a.At(hit+"record_url").(string), "Prefer: pdpp-field-preview=64").OK()
			if binary, _ := a.At(hit + "evidence_card.binary").([]any); len(binary) > 0 {
				b := binary[0].(map[string]any)
				if cut, ok := record.At("truncated_fields." + b["field_path"].(string) + ".binary").(map[string]any); ok {
					for fact, v := range cut {
						if b[fact] != v {
							t.Errorf("%s is %v in the hit, %v in the record", fact, b[fact], v)
						}
					}
				}
			}
			excerpts, _ := a.At(hit + "evidence_excerpts").([]any)
			for _, e := range excerpts {
				e := e.(map[string]any)
				window := w.Get(all, e["read"].(map[string]any)["href"].(string)).OK()
				if fmt.Sprint(window.At("window.total_chars")) != fmt.Sprint(e["total_chars"]) {
					t.Errorf("total_chars %v, of the window %v", e["total_chars"], window.At("window.total_chars"))
				}
			}
		}
		if !slices.Contains(hitsOf(t, a), "items/text@cin_c1") {
			t.Error("the record with base64 is not among the hits")
		}
	})
}

// TestCardOfManyBlobReferences: the card of a long list of references links to a field window
// instead of each blob.
func TestCardOfManyBlobReferences(t *testing.T) {
	w, _ := album(t)
	var refs []string
	for i := range 400 {
		refs = append(refs, fmt.Sprintf(`{"blob_id":"blob_%d","mime_type":"image/png"}`, i))
	}
	raw := testManifest(t, "testdata/cabinet.json")
	w.Manifest(strings.Replace(raw, `"query": {"range_filters": {"at"`, `"query": {"search": {"lexical_fields": ["title"]}, "range_filters": {"at"`, 1))
	w.Ingest("cin_c1", "items", item("many", `"title":"giraffe","pages":[`+strings.Join(refs, ",")+`]`))
	a := w.Get(first(w.Grant(cabinetGrant)), "/v1/search?q=giraffe").OK()
	if a.At("data.0.evidence_card.binary.0.kind") != "blob_reference" || a.At("data.0.evidence_card.binary.0.read.object") != "field_window_read" {
		t.Errorf("card %v, want a link to a field window", a.At("data.0.evidence_card"))
	}
}

// searchHits returns the hits of a page as the server sent them, and the next cursor.
func searchHits(t *testing.T, a resttest.Answer) (hits []string, cursor string) {
	t.Helper()
	var page struct {
		Data []json.RawMessage `json:"data"`
		Next string            `json:"next_cursor"`
	}
	if err := json.Unmarshal([]byte(a.OK().Body), &page); err != nil {
		t.Fatal(err)
	}
	for _, raw := range page.Data {
		hits = append(hits, string(raw))
	}
	return hits, page.Next
}

// TestHitsDoNotAffectEachOther: a hit has the same bytes on a page of its own and among others
// although hits of a page share buffers.
func TestHitsDoNotAffectEachOther(t *testing.T) {
	w := ledger(t)
	long := strings.Repeat("Zeile mit ä und \"Zitat\". ", 60)
	for i, members := range []string{
		`"memo":"Rent with a note","note":"` + strings.ReplaceAll(long, `"`, `\"`) + `rent","posted_at":"2026-02-01"`,
		`"memo":"Rent","note":"short"`,
		`"note":"rent\nin the \u006eote alone","amount_minor":7`,
		`"memo":"rent rent","scan":{"blob_id":"blob_1","mime_type":"image/png","size_bytes":3}`,
		`"memo":"` + strings.Repeat("rent ", 300) + `","note":"Miete"`,
		`"memo":"the last rent"`,
	} {
		for _, connection := range []string{"cin_a1", "cin_b2"} {
			id := fmt.Sprintf("%s-%d", connection, i)
			w.Ingest(connection, "entries", fmt.Sprintf(`{"key":%q,"data":{"id":%q,%s}}`, id, id, members))
		}
	}
	for name, token := range map[string]string{
		"owner":              w.OwnerToken(),
		"grant without note": first(w.Grant(ledgerGrant)),
		"grant without memo": first(w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","note","scan"]}]}`)),
	} {
		t.Run(name, func(t *testing.T) {
			together, _ := searchHits(t, w.Get(token, "/v1/search?q=rent&limit=50"))
			var alone []string
			for cursor, more := "", true; more; more = cursor != "" {
				target := "/v1/search?q=rent&limit=1"
				if cursor != "" {
					target += "&cursor=" + url.QueryEscape(cursor)
				}
				var hits []string
				hits, cursor = searchHits(t, w.Get(token, target))
				alone = append(alone, hits...)
			}
			if len(together) < 4 || len(together) != len(alone) {
				t.Fatalf("Q-6 %d hits on one page, %d on single pages", len(together), len(alone))
			}
			for i := range alone {
				if alone[i] != together[i] {
					t.Errorf("Q-6 hit %d among others:\n%s\non its own page:\n%s", i, together[i], alone[i])
				}
			}
		})
	}
}
