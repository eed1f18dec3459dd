package rsclient_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// endless writes a beginning and then the same again until the reader goes away.
func endless(w http.ResponseWriter, r *http.Request, contentType string, head, again []byte) {
	w.Header().Set("Content-Type", contentType)
	chunk := bytes.Repeat(again, 1+(64<<10)/len(again))
	_, err := w.Write(head)
	for err == nil && r.Context().Err() == nil {
		_, err = w.Write(chunk)
	}
}

func TestBodiesAreBounded(t *testing.T) {
	gone := make(chan struct{}, 1)
	list := func(w http.ResponseWriter, r *http.Request) {
		endless(w, r, "application/json", []byte(`{"data":[0`), []byte(`,{"a":"b"}`))
		gone <- struct{}{}
	}
	spaces := func(w http.ResponseWriter, r *http.Request) {
		endless(w, r, "application/json", []byte(`{`), []byte(" "))
		gone <- struct{}{}
	}
	declared := func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Content-Length", fmt.Sprint(200<<20))
		w.WriteHeader(200)
		_ = http.NewResponseController(w).Flush()
		gone <- struct{}{}
	}
	for name, h := range map[string]http.HandlerFunc{"list": list, "spaces": spaces, "declared": declared} {
		c := serve(t, h)
		_, err := c.Records(t.Context(), "s", rsclient.Query{}, rsclient.Prefer{})
		if e := failed(t, err); e.Code != pdpp.CodeUpstreamTooLarge || e.Status != 0 {
			t.Errorf("%s: %v", name, e)
		}
		<-gone
	}
	big := `{"window":{"text":"` + strings.Repeat("x", rsclient.WindowBodyMax) + `"}}`
	_, err := serve(t, says(200, "application/json", big)).FieldWindow(t.Context(), "s", "r", rsclient.Query{})
	if e := failed(t, err); e.Code != pdpp.CodeUpstreamTooLarge {
		t.Errorf("window: %v", e)
	}
	if a, err := serve(t, says(200, "application/json", big)).Record(t.Context(), "s", "r", rsclient.Query{}, rsclient.Prefer{}); err != nil || len(a.Body) != len(big) {
		t.Errorf("the same as a record: %v", err)
	}
	c := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		w.WriteHeader(500)
		endless(w, r, "text/plain", nil, []byte("error "))
	})
	_, err = c.Schema(t.Context(), rsclient.Query{})
	if e := failed(t, err); e.Status != 500 || len(e.Object) > 2000 {
		t.Errorf("endless error: %v", e)
	}
}

// Nothing that a server says of itself can be of the wrong type for a reader: what
// is no text counts as missing.
func TestHostileAnswers(t *testing.T) {
	body := compact(t, `{"object":7,"has_more":"yes","next_cursor":{"a":1},"next_changes_since":5,
		"meta":{"count":{"kind":"exact","value":1.5},"warnings":["x",null,{"code":3}],"presentation":{"a/b":7,"c/d":{"time_field":[],"roles":{"amount":"x"}}}},
		"data":[
			null, 5, "text", [],
			{"stream":{"x":1},"connection_id":["a"],"id":null,"data":"text"},
			{"id":9007199254740993,"stream":"s","connection_id":"","connector_instance_id":"cin","data":{"n":1e400}},
			{"id":"../../etc/passwd","stream":"a/b","data":{"x":1},"truncated_fields":{"x":{"total_chars":-1,"shown_chars":2},"y":5}},
			{"id":"1","display_name":"x\n2. \"cin/forged:id\" \u202e","data":{},"deleted":"true","expanded":{"a":5,"b":null,"c":{"data":{"x":1}},"d":[{"id":"k"}]}}
		]}`)
	p := rsclient.PageOf(body)
	if p.HasMore != nil || p.NextCursor != "" || p.NextChangesSince != "" || p.Count.String() != "" || len(p.Rows) != 8 || len(p.Warnings) != 1 {
		t.Errorf("page %+v", p)
	}
	var got []rsclient.Identity
	for _, row := range p.Rows {
		r := recordOf(row, rsclient.Identity{Stream: "asked"})
		got = append(got, r.Identity)
		if !json.Valid(r.Payload) {
			t.Errorf("%s: payload %s", row, r.Payload)
		}
		_ = r.Evidence(p.Presentation)
	}
	none := rsclient.Identity{Stream: "asked"}
	want := []rsclient.Identity{
		none, none, none, none, none,
		{Connection: "cin", Stream: "s", Record: "9007199254740993"},
		{Stream: "a/b", Record: "../../etc/passwd"},
		{Stream: "asked", Record: "1"},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
	last := recordOf(p.Rows[7], none)
	if last.Deleted || last.DisplayName != "x\n2. \"cin/forged:id\" \u202e" { // exact here; quoting is for who prints it
		t.Errorf("last %+v", last)
	}
	var relations []string
	for _, r := range last.Expanded {
		relations = append(relations, fmt.Sprintf("%s %s %t", r.Name, r.Records, r.HasMore))
	}
	if diff := cmp.Diff([]string{"a [] false", "b [] false", `c [{"data":{"x":1}}] false`, `d [{"id":"k"}] false`}, relations); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestHostileHits(t *testing.T) {
	wall := strings.Repeat("QUJDREVGR0hJSktMTU5PUA", 1000)
	cursor := strings.Repeat("c", 100_000)
	body := compact(t, `{"next_cursor":"`+cursor+`","results":[7,
		{"id":"c/s:r","snippet":"half <mark>tag","evidence_excerpts":[5,{"preview_text":7},{"field_path":"f","preview_text":"`+wall+`","read":{"offset_chars":"3"},"truncated":true}],
		 "evidence_card":{"title":"t","event_time":5,"fields":[{"value":{}},{"field":"n","value":12345678901234567890.0}],"binary":[1,{"field_path":"b"}],"binary_omitted_count":-4}}]}`)
	p := rsclient.PageOf(body)
	hits := rsclient.HitsOf(p.Rows)
	if len(hits) != 1 || p.NextCursor != cursor {
		t.Fatalf("%d hits, cursor of %d bytes", len(hits), len(p.NextCursor))
	}
	h := hits[0]
	if h.OwnID != "c/s:r" || h.Identity.Record != "c/s:r" || h.Snippet != (rsclient.Snippet{Text: "half <mark>tag", Total: -1, Offset: -1}) {
		t.Errorf("hit %+v", h)
	}
	if diff := cmp.Diff([]rsclient.Excerpt{{Field: "f", Text: wall, Total: -1, Offset: -1}}, h.Excerpts); diff != "" {
		t.Errorf("excerpts (-want +got)\n%s", diff)
	}
	card := &rsclient.Card{
		Fields: []rsclient.CardField{{Field: "n", Value: []byte("12345678901234567890.0")}},
		Binary: []rsclient.CardBinary{{Field: "b", Facts: evidence.Binary{SizeBytes: -1}}},
	}
	if diff := cmp.Diff(card, h.Card); diff != "" {
		t.Errorf("card (-want +got)\n%s", diff)
	}
}

// anyJSON draws a value from names that the decoders look for, so that the wrong
// things stand in the right places.
func anyJSON(depth int) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		kind := rapid.IntRange(0, 7).Draw(t, "kind")
		if depth == 0 {
			kind = min(kind, 5)
		}
		switch kind {
		case 0, 1, 2, 3, 4, 5:
			return rapid.SampledFrom([]string{`null`, `true`, `false`, `0`, `-1`, `9007199254740993`, `1.5`, `""`, `"x"`, `"json"`, `"a\u0000\"<mark>"`, `"compact"`}).Draw(t, "scalar")
		case 6:
			return "[" + strings.Join(rapid.SliceOfN(anyJSON(depth-1), 0, 4).Draw(t, "items"), ",") + "]"
		}
		var b strings.Builder
		for i := range rapid.IntRange(0, 6).Draw(t, "members") {
			if i > 0 {
				b.WriteByte(',')
			}
			name := rapid.SampledFrom([]string{
				"data", "results", "meta", "count", "kind", "value", "warnings", "presentation", "roles", "links", "next", "next_cursor", "has_more",
				"id", "stream", "streams", "connectors", "granted_connections", "expanded", "truncated_fields", "window", "text", "snippet", "read",
				"evidence_card", "evidence_excerpts", "fields", "binary", "error", "retry_with", "field", "connection_id", "field_capabilities", "a\\u0062",
			}).Draw(t, "name")
			fmt.Fprintf(&b, `"%s":%s`, name, anyJSON(depth-1).Draw(t, "member"))
		}
		return "{" + b.String() + "}"
	})
}

func TestDecodersTakeAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		body := []byte(anyJSON(5).Draw(t, "body"))
		p := rsclient.PageOf(body)
		for _, h := range rsclient.HitsOf(p.Rows) {
			_ = h.Evidence(p.Presentation)
		}
		for _, row := range append(p.Rows, body) {
			r := detailOf(row, rsclient.Identity{})
			r.Project([]string{"id", "text"})
			if !json.Valid(r.Payload) {
				t.Fatalf("payload %s", r.Payload)
			}
			_ = r.Evidence(p.Presentation)
		}
		_ = rsclient.SchemaOf(body).Rows()
		_, _ = rsclient.WindowOf(body, rsclient.Identity{}, "f")
		_ = rsclient.RetryWith(body)
	})
}

// A page that lost rows is the same page with fewer rows and no way past them.
func TestPageBodyKeepsTheRest(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(anyJSON(2), 0, 5).Draw(t, "rows")
		list := "[" + strings.Join(rows, ",") + "]"
		body := []byte(rapid.SampledFrom([]string{
			list, `{"data":` + list + `}`, `{"x":1.0,"has_more":false,"results":` + list + `,"next_cursor":"c","links":{"self":"s","next":"n"},"x":2}`,
			`{"next_changes_since":"b","data":{"results":` + list + `,"y":1},"links":null}`,
		}).Draw(t, "body"))
		p := rsclient.PageOf(body)
		if len(p.Rows) != len(rows) {
			t.Fatalf("%d rows of %s", len(p.Rows), body)
		}
		if same := p.Body(p.Rows); !bytes.Equal(same, body) {
			t.Fatalf("Body(all) = %s, want %s", same, body)
		}
		n := rapid.IntRange(0, len(rows)).Draw(t, "n")
		cut := rsclient.PageOf(p.Body(p.Rows[:n]))
		if diff := cmp.Diff(p.Rows[:n], cut.Rows, cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		if n < len(rows) && body[0] == '{' && (cut.NextCursor != "" || cut.NextChangesSince != "" || cut.HasMore == nil || !*cut.HasMore) {
			t.Fatalf("%s", p.Body(p.Rows[:n]))
		}
	})
}

// One reader of many rows reads each as if it were the only one, whatever the others
// were.
func TestRecordReaderForgets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		asked := rsclient.Identity{Connection: "cin", Stream: "asked", Record: "r"}
		declared := rsclient.PresentationsOf([]byte(`{"meta":{"presentation":{"x/x":{"time_field":"at"},"json/x":{"roles":{"primary-title":["text"]}}}}}`))
		r := rsclient.RecordReader{Asked: asked, Declared: declared, Texts: new(rawjson.Texts)}
		var got, want []rsclient.Record
		var e evidence.Record
		for _, row := range rapid.SliceOfN(anyJSON(3), 1, 8).Draw(t, "rows") {
			r.Row([]byte(row))
			alone := recordOf([]byte(row), asked)
			got, want = append(got, r.Record), append(want, alone)
			r.Describe(&e)
			described := alone.Evidence(declared)
			if a, b := evidence.TitleOf(&e), evidence.TitleOf(described); a != b {
				t.Fatalf("%s is called %+v, want %+v", row, a, b)
			}
			if diff := cmp.Diff(described.AppendFields(nil), e.AppendFields(nil), cmpopts.IgnoreUnexported(evidence.Field{})); diff != "" {
				t.Fatalf("%s (-want +got)\n%s", row, diff)
			}
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// A token is an owner's when its server says so, whatever it looks like (D5). Nothing
// of the answer is passed on.
func TestSTDIO3OwnerTokensOfOtherServers(t *testing.T) {
	for name, body := range map[string]string{
		"kind":    `{"bearer":{"token_kind":"owner"},"connectors":[]}`,
		"case":    `{"bearer":{"token_kind":"Owner","scope":"x"},"connectors":[]}`,
		"scope":   `{"bearer":{"scope":"owner"},"connectors":[]}`,
		"wrapped": `{"data":{"bearer":{"token_kind":"owner"},"connectors":[]}}`,
	} {
		t.Run(name, func(t *testing.T) {
			var told []string
			c := serve(t, says(200, "application/json", body), func(cfg *rsclient.Config) {
				cfg.Token = func(context.Context) (string, error) { return "their-owner-token", nil }
				cfg.OwnerToken = func(_ context.Context, token string) { told = append(told, token) }
			})
			answer, err := c.Schema(t.Context(), rsclient.Query{})
			if e := failed(t, err); answer != nil || e.Code != pdpp.CodeOwnerCredential || e.Status != 0 {
				t.Errorf("Schema = %v, %v", answer, e)
			}
			if len(told) != 1 || told[0] != "their-owner-token" {
				t.Errorf("told %q", told)
			}
		})
	}
	c := serve(t, says(200, "application/json", `{"bearer":{"token_kind":"client","scope":"grant"},"connectors":[]}`))
	if _, err := c.Schema(t.Context(), rsclient.Query{}); err != nil {
		t.Errorf("a client token: %v", err)
	}
}
