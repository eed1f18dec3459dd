package query

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
)

// searchRequest reads all parameters of a search in the order of C-20.
func searchRequest(raw string) ([]string, SearchRequest, error) {
	p, err := Parse(raw, SearchParams...)
	if err != nil {
		return nil, SearchRequest{}, err
	}
	streams, err := p.SearchStreams()
	if err != nil {
		return nil, SearchRequest{}, err
	}
	w, err := p.Search(streams)
	return streams, w, err
}

// words returns n different words.
func words(n int) string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprint("w", i))
	}
	return strings.Join(out, "+")
}

func TestSearchParams(t *testing.T) {
	for _, tc := range []struct {
		raw     string
		streams []string
		want    SearchRequest
	}{
		{"q=rent", nil, SearchRequest{Terms: []string{"rent"}, Limit: Limit{N: 25}}},
		{"q=Rent%2C+RENT+M%C3%BCller!", nil, SearchRequest{Terms: []string{"rent", "muller"}, Limit: Limit{N: 25}}},
		{"q=%22a%22+OR+NOT+b*", nil, SearchRequest{Terms: []string{"a", "or", "not", "b"}, Limit: Limit{N: 25}}},
		{"q=" + strings.Repeat("x", MaxSearchChars), nil, SearchRequest{Terms: []string{strings.Repeat("x", 64)}, Limit: Limit{N: 25}}},
		{"q=" + strings.Repeat("%C3%A9", MaxSearchChars), nil, SearchRequest{Terms: []string{strings.Repeat("e", 64)}, Limit: Limit{N: 25}}},
		{"q=a&streams=x,y&streams[]=x&limit=500&cursor=sl1.c", []string{"x", "y"}, SearchRequest{Terms: []string{"a"}, Limit: Limit{N: 100, Requested: 500}, Cursor: "sl1.c"}},
		{
			"q=a&streams=x,x&filter[f]=1",
			[]string{"x"},
			SearchRequest{Terms: []string{"a"}, Limit: Limit{N: 25}, Filters: []Filter{{"f", pdpp.OpEq, "1"}}},
		},
	} {
		streams, got, err := searchRequest(tc.raw)
		if err != nil {
			t.Errorf("%.60q: %v", tc.raw, err)
		}
		if diff := cmp.Diff(tc.streams, streams) + cmp.Diff(tc.want, got); diff != "" {
			t.Errorf("%.60q (-want +got):\n%s", tc.raw, diff)
		}
	}
	if _, w, err := searchRequest("q=" + words(MaxSearchTerms) + "+w0"); err != nil || len(w.Terms) != MaxSearchTerms {
		t.Errorf("%d words, one of them twice: %d terms, %v", MaxSearchTerms, len(w.Terms), err)
	}
	if s, _, err := searchRequest("q=a&streams=" + strings.ReplaceAll(words(MaxSearchStreams), "+", ",")); err != nil || len(s) != MaxSearchStreams {
		t.Errorf("%d streams: %d, %v", MaxSearchStreams, len(s), err)
	}
}

func TestSearchRefuses(t *testing.T) { // C-8, C-9, REC-18
	for raw, want := range map[string]fault{
		"":                   {pdpp.CodeInvalidRequest, "q", ""},
		"q=":                 {pdpp.CodeInvalidRequest, "q", ""},
		"q=a&q=b":            {pdpp.CodeInvalidRequest, "q", ""},
		"q[a]=b":             {pdpp.CodeInvalidRequest, "q", ""},
		"q=%20+...%E2%80%A6": {pdpp.CodeInvalidRequest, "q", ""},
		"q=%CC%81":           {pdpp.CodeInvalidRequest, "q", ""}, // a mark on nothing
		"q=" + strings.Repeat("x", MaxSearchChars+1):     {pdpp.CodeInvalidRequest, "q", ""},
		"q=" + words(MaxSearchTerms+1):                   {pdpp.CodeInvalidRequest, "q", ""},
		"q=%E3%81%82%E3%81%84" + words(MaxSearchTerms-1): {pdpp.CodeInvalidRequest, "q", ""},
		"q=a&streams=":     {pdpp.CodeInvalidRequest, "streams", ""},
		"q=a&streams=a,,b": {pdpp.CodeInvalidRequest, "streams", ""},
		"q=a&streams[x]=y": {pdpp.CodeInvalidRequest, "streams", ""},
		"streams=" + strings.ReplaceAll(words(MaxSearchStreams+1), "+", ","): {pdpp.CodeInvalidRequest, "streams", ""},
		"q=a&filter[f]=1":                 {pdpp.CodeInvalidRequest, "streams", ""},
		"q=a&filter[f]=1&streams=x,y":     {pdpp.CodeInvalidRequest, "streams", ""},
		"q=a&filter=1&streams=x":          {pdpp.CodeInvalidRequest, "filter", ""},
		"q=a&filter[f][near]=1&streams=x": {pdpp.CodeInvalidRequest, "filter", "f"},
		"q=a&filter[f][a][b]=1&streams=x": {pdpp.CodeInvalidRequest, "filter", "f"},
		"q=a&limit=0":                     {pdpp.CodeInvalidRequest, "limit", ""},
		"q=a&limit=x":                     {pdpp.CodeInvalidRequest, "limit", ""},
		"q=a&limit=":                      {pdpp.CodeInvalidRequest, "limit", ""},
		"q=a&cursor=":                     {pdpp.CodeInvalidRequest, "cursor", ""},
		"q=a&cursor=x&cursor=x":           {pdpp.CodeInvalidRequest, "cursor", ""},
		"q=a&sort=x":                      {pdpp.CodeInvalidRequest, "sort", ""},
		"q=a&count=exact":                 {pdpp.CodeInvalidRequest, "count", ""},
		"q=a&fields=x":                    {pdpp.CodeInvalidRequest, "fields", ""},
	} {
		if _, w, err := searchRequest(raw); faultOf(err) != want {
			t.Errorf("%.60q: %+v, %v, want %+v", raw, w, err, want)
		}
	}
}

// FuzzSearch: whatever is asked is refused with a typed error or within the bounds.
func FuzzSearch(f *testing.F) {
	for _, seed := range []string{
		"", "q=rent", "q=a&streams=x&filter[f][gte]=1", "q=%E3%81%82&limit=7&cursor=sl1.x", "q=" + words(40), "q[]=a", "streams=a,b&q=%00", "q=%CC%81",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, raw string) {
		streams, w, err := searchRequest(raw)
		if err != nil {
			if pdpp.CodeOf(err) != pdpp.CodeInvalidRequest {
				t.Fatalf("%q: %v", raw, err)
			}
			return
		}
		if len(w.Terms) < 1 || len(w.Terms) > MaxSearchTerms || len(streams) > MaxSearchStreams || w.Limit.N < 1 || w.Limit.N > pdpp.MaxPage {
			t.Fatalf("%q: %+v, streams %q", raw, w, streams)
		}
		for _, term := range w.Terms {
			if strings.ContainsAny(term, "\"'().* \x00") { // it becomes part of an index query
				t.Fatalf("%q has the term %q", raw, term)
			}
		}
	})
}

func TestHide(t *testing.T) { // C-37
	s, other := sealer(t, "key"), sealer(t, "other")
	rapid.Check(t, func(rt *rapid.T) {
		n := rapid.Int64().Draw(rt, "number")
		hidden := s.Hide([]byte("before"), n)
		if !bytes.HasPrefix(hidden, []byte("before")) || len(hidden) != len("before")+HiddenSize {
			rt.Fatalf("Hide(%d) = %q", n, hidden)
		}
		hidden = hidden[len("before"):]
		if got, ok := s.Reveal(hidden); !ok || got != n {
			rt.Fatalf("Reveal(Hide(%d)) = %d, %t", n, got, ok)
		}
		if again := s.Hide(nil, n); bytes.Equal(again, hidden) {
			rt.Fatal("equal numbers look alike")
		}
		if got, ok := other.Reveal(hidden); ok && got == n {
			rt.Fatal("another key reveals it")
		}
		// Neither half is the number, or the same for neighbours.
		next := s.Hide(nil, n+1)
		for _, half := range [][2]int{{0, 8}, {8, 16}} {
			if bytes.Equal(next[half[0]:half[1]], hidden[half[0]:half[1]]) {
				rt.Fatalf("%d and the next share bytes %v: %x, %x", n, half, hidden, next)
			}
		}
	})
	for _, wrong := range [][]byte{nil, make([]byte, HiddenSize-1), make([]byte, HiddenSize+1)} {
		if n, ok := s.Reveal(wrong); ok || n != 0 {
			t.Errorf("Reveal of %d bytes = %d, %t", len(wrong), n, ok)
		}
	}
}

func TestSpaces(t *testing.T) { // C-37, C-39
	s := sealer(t, "key")
	spaces := []Space{RecordPages, ChangePages, Bookmarks, LexicalPages}
	for i, made := range spaces {
		c := s.Seal(made, Scope{1}, []byte("payload"), cursorTime)
		for j, asked := range spaces {
			payload, err := s.Open(asked, Scope{1}, c, cursorTime)
			if i == j && (err != nil || string(payload) != "payload" || !asked.Has(c)) {
				t.Errorf("%s: %q, %v", c, payload, err)
			}
			if i != j && (faultOf(err) != fault{pdpp.CodeInvalidCursor, asked.param, ""} || asked.Has(c)) {
				t.Errorf("%s as %s: %v", c, asked.prefix, err)
			}
		}
		if _, err := s.Open(made, Scope{1}, c, cursorTime.Add(made.age)); err != nil {
			t.Errorf("%s at its age: %v", made.prefix, err)
		}
		if _, err := s.Open(made, Scope{1}, c, cursorTime.Add(made.age+time.Millisecond)); faultOf(err) != (fault{pdpp.CodeCursorExpired, made.param, ""}) {
			t.Errorf("%s beyond its age: %v", made.prefix, err)
		}
	}
	if LexicalPages.age != time.Hour || LexicalPages.prefix != "sl1." {
		t.Errorf("pages of a search are %+v", LexicalPages)
	}
}
