package rsclient_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"pdpp/internal/rsclient"
)

// TestHits: hits are read together, and none takes anything from another.
func TestHits(t *testing.T) {
	const most = 40 // more than share a room
	var rows [][]byte
	var want []rsclient.Hit
	for n := range most {
		match := fmt.Sprintf("%d <mark>é</mark>\n%s", n, strings.Repeat("long ", n))
		quoted := strings.ReplaceAll(match, "\n", `\n`)
		rows = append(rows, fmt.Appendf(nil, `{"evidence_excerpts":[{"preview_text":"other %d","field_path":"f"},{"field_path":"body","preview_text":"%s","total_chars":%d,"truncated":false,"read":{"x":[{}],"offset_chars":5}}],`+
			`"stream":"s","record_key":"r%d","connection_id":%d,"connector_key":"k","record_url":"/r%d","score":{"value":%d},"snippet":{"field":"body","text":"%s"},`+
			`"evidence_card":{"read":{"fields":[1]},"fields":[{"field":"from","value":"a%d"},{"field":"none","value":null}],"title":{"text":"t%d"},"event_time":{"value":"2020","source":"envelope"}}}`,
			n, quoted, n, n, n, n, n, quoted, n, n))
		want = append(want, rsclient.Hit{
			Identity: rsclient.Identity{Connection: fmt.Sprint(n), Stream: "s", Record: fmt.Sprint("r", n)}, Source: rsclient.Source{ConnectorKey: "k"},
			Keyed: true, RecordURL: fmt.Sprint("/r", n), Snippet: rsclient.Snippet{Field: "body", Text: match, Total: -1, Offset: -1}, Score: fmt.Appendf(nil, `{"value":%d}`, n),
			Excerpts: []rsclient.Excerpt{{Field: "f", Text: fmt.Sprint("other ", n), Total: -1, Offset: -1}, {Field: "body", Text: match, Complete: true, Total: n, Offset: 5}},
			Card:     &rsclient.Card{Title: fmt.Sprint("t", n), EventTime: "2020", Emitted: true, Fields: []rsclient.CardField{{Field: "from", Value: fmt.Appendf(nil, `"a%d"`, n)}}},
		})
	}
	if diff := cmp.Diff(want, rsclient.HitsOf(rows), cmpopts.IgnoreFields(rsclient.Hit{}, "Raw")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestRepeatedMembers: of members with the same name the first counts, as everywhere.
func TestRepeatedMembers(t *testing.T) {
	hits := rsclient.HitsOf([][]byte{[]byte(`{"id":"a","id":"b","snippet":"one","snippet":"two","evidence_card":{"title":{"text":"t"},"title":{}},"evidence_card":{},` +
		`"evidence_excerpts":[{"preview_text":"one","preview_text":"x"}],"evidence_excerpts":[]}`)})
	want := []rsclient.Hit{{
		Identity: rsclient.Identity{Record: "a"}, OwnID: "a", Snippet: rsclient.Snippet{Text: "one", Total: -1, Offset: -1},
		Excerpts: []rsclient.Excerpt{{Text: "one", Total: -1, Offset: -1}}, Card: &rsclient.Card{Title: "t"},
	}}
	if diff := cmp.Diff(want, hits, cmpopts.IgnoreFields(rsclient.Hit{}, "Raw")); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// TestRepeatedMembersOfOtherKinds: the first counts also when it is not what it should be.
func TestRepeatedMembersOfOtherKinds(t *testing.T) {
	for _, raw := range []string{
		`{"id":"a","evidence_card":null,"evidence_card":{"title":{"text":"t"}}}`,
		`{"id":"a","snippet":{"field":"f"},"snippet":"two"}`,
	} {
		h := rsclient.HitsOf([][]byte{[]byte(raw)})[0]
		if h.Card != nil || h.Snippet.Text != "" {
			t.Errorf("%s: card %v, snippet %+v", raw, h.Card, h.Snippet)
		}
	}
}
