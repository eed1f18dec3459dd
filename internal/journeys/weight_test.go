package journeys

import (
	"bytes"
	"encoding/json"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestWeight bounds the size of results: every byte takes part of a context window
// (MS-20).
func TestWeight(t *testing.T) {
	w := newWorld(t)
	session := w.connect(t, "mail", "2025-11-25")
	for _, c := range []struct {
		name, tool string
		args       args
		maxBytes   int // bytes of the whole result
		results    int // of a search, each with its snippet
	}{
		{"DISC-7 the index", "schema", args{}, 2_400, 0},
		{"DISC-3 one stream", "schema", args{"stream": "messages"}, 5_200, 0},
		{"TEXT-2 25 records", "query_records", args{"stream": "messages", "limit": 25}, 24_000, 0},
		{"TEXT-2 25 hits in one account", "search", args{"q": "invoice", "limit": 25}, 30_000, 25},
		{"TEXT-2 25 hits in two accounts", "search", args{"q": "the", "limit": 25}, 30_000, 25},
		{"TEXT-2 25 hits with umlauts", "search", args{"q": "die", "limit": 25}, 30_000, 25},
		{"TEXT-2 25 hits in several fields", "search", args{"q": "mara", "limit": 25}, 30_000, 25},
		{"FANIN-1 a default search returns 25 hits", "search", args{"q": "the"}, 30_000, 25},
		{"PROJ-1 a long text, once in each half", "fetch", args{"id": "personal/messages:" + letterID}, 150_000, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			res, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: c.tool, Arguments: c.args})
			if err != nil || res.IsError {
				t.Fatalf("%v, %+v", err, res)
			}
			n := wireSize(t, res)
			t.Logf("%d bytes", n)
			if n > c.maxBytes {
				t.Errorf("%d bytes, at most %d", n, c.maxBytes)
			}
			if c.tool != "search" {
				return
			}
			sc := node{res.StructuredContent}
			hits, results := sc.at("data", "data").list(), sc.at("results").list()
			if len(results) != c.results || len(hits) != c.results {
				t.Fatalf("%d results of %d hits, want %d", len(results), len(hits), c.results)
			}
			for i, h := range hits {
				snippet := compact(t, h.at("snippet", "text").v)
				if n := bytes.Count(compact(t, h.v), snippet) + bytes.Count(compact(t, results[i].v), snippet); n != 1 {
					t.Errorf("the snippet of hit %d is %d times in the structure: %s", i, n, snippet)
				}
			}
		})
	}
}

// wireSize returns the size of a result as it is sent.
func wireSize(t *testing.T, res *sdk.CallToolResult) int {
	t.Helper()
	n := len(`{"content":[],"structuredContent":}`) + len(compact(t, res.StructuredContent))
	for _, block := range res.Content {
		switch b := block.(type) {
		case *sdk.TextContent:
			n += len(`{"type":"text","text":},`) + len(compact(t, b.Text))
		case *sdk.ResourceLink:
			n += len(compact(t, b))
		}
	}
	return n
}

// compact returns a value as JSON without HTML escapes.
func compact(t *testing.T, v any) []byte {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		t.Fatal(err)
	}
	return bytes.TrimSpace(b.Bytes())
}
