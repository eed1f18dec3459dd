package evidence

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/analyzer"
)

// search returns the excerpt for q in a record with one field.
func search(content, q string) Excerpt {
	m := NewFinder(analyzer.Query(q)).Find([]Text{{Field: "note", Content: content}})
	ex := Excerpts(entry(`{}`), m)
	if len(ex) == 0 {
		return Excerpt{}
	}
	return ex[0]
}

func TestExcerptJSON(t *testing.T) {
	r := entry(`{"memo":"April rent"}`)
	m := NewFinder([]string{"rent"}).Find([]Text{{Field: "memo", Content: "April rent"}})
	want := `x[{"object":"evidence_excerpt","field_path":"memo","provenance":"lexical_match",` +
		`"preview_text":"April <mark>rent</mark>","highlighted":true,` +
		`"start_chars":0,"end_chars":10,"total_chars":10,"truncated":false,` +
		`"read":{"object":"field_window_read","method":"GET","stream":"entries","record_id":"ent_31","field":"memo",` +
		`"connection_id":"cin_a1","offset_chars":0,"route":"/v1/streams/entries/records/ent_31/field-window",` +
		`"href":"/v1/streams/entries/records/ent_31/field-window?field=memo&offset_chars=0&connection_id=cin_a1"}}]`
	if diff := cmp.Diff(want, string(AppendExcerpts([]byte("x"), r, Excerpts(r, m)))); diff != "" {
		t.Errorf("EX-6 excerpts (-want +got):\n%s", diff)
	}
	if got := string(AppendExcerpts(nil, r, nil)); got != "[]" {
		t.Errorf("no excerpts = %s", got)
	}
}

// TestExcerptContinuation checks that the link of an excerpt starts where it starts.
func TestExcerptContinuation(t *testing.T) {
	r := entry(`{"text":"Hello"}`)
	r.ID = "a/b"
	note := strings.Repeat("lorem ipsum ", 100) + "rent"
	out := AppendExcerpts(nil, r, Excerpts(r, NewFinder([]string{"rent"}).Find([]Text{{Field: "note", Content: note}})))
	var list []struct {
		Field string `json:"field_path"`
		Start int    `json:"start_chars"`
		Cut   bool   `json:"truncated"`
		Read  struct {
			Offset int `json:"offset_chars"`
			Href   string
		}
	}
	if err := json.Unmarshal(out, &list); err != nil || len(list) != 2 {
		t.Fatalf("EX-6 %d excerpts, %v: %s", len(list), err, out)
	}
	first, second := list[0], list[1]
	const want = "/v1/streams/entries/records/a%2Fb/field-window?field=note&offset_chars=888&connection_id=cin_a1"
	if first.Start != 888 || first.Read.Offset != 888 || !first.Cut || first.Read.Href != want {
		t.Errorf("EX-6 first excerpt = %+v, want offset 888", first)
	}
	if second.Field != "text" || second.Read.Offset != 0 || second.Cut {
		t.Errorf("EX-6 second excerpt = %+v, want the whole text", second)
	}
}

func TestContinuationEscapes(t *testing.T) {
	r := entry(`{}`)
	r.ID, r.Stream, r.ConnectionID = `["a/b","c d?"]`, "a.b", "cin_ü&x"
	const path = "/v1/streams/a.b/records/%5B%22a%2Fb%22%2C%22c%20d%3F%22%5D"
	if got, want := string(AppendRecordURL(nil, r)), path+"?connection_id=cin_%C3%BC%26x"; got != want {
		t.Errorf("AppendRecordURL = %s, want %s", got, want)
	}
	window := fieldWindow{field: "größe & mehr", offset: 812}
	if got, want := string(window.appendURL(nil, r)), path+"/field-window?field=gr%C3%B6%C3%9Fe+%26+mehr&offset_chars=812&connection_id=cin_%C3%BC%26x"; got != want {
		t.Errorf("URL = %s, want %s", got, want)
	}
	r.ConnectionID = ""
	if got := string(window.appendURL(nil, r)); strings.Contains(got, "connection_id") {
		t.Errorf("URL without connection = %s", got)
	}
}

func TestExcerptMarks(t *testing.T) {
	for name, tt := range map[string]struct{ content, q, want string }{
		"EX-6 English":               {"April rent for the flat", "RENT flat", "April <mark>rent</mark> for the <mark>flat</mark>"},
		"EX-6 German":                {"Die Miete für Müller", "muller", "Die Miete für <mark>Müller</mark>"},
		"EX-6 German, decomposed":    {"Mu\u0308ller zahlt", "müller", "<mark>Mu\u0308ller</mark> zahlt"},
		"EX-6 Japanese":              {"四月の家賃を払う", "家賃", "四月の<mark>家賃</mark>を払う"},
		"EX-6 half width":            {"ﾊﾟﾝ屋", "パン", "<mark>ﾊﾟﾝ</mark>屋"},
		"EX-6 ligature":              {"the oﬃce", "office", "the <mark>oﬃce</mark>"},
		"Q-7 overlapping":            {"about ½ cup", "1 2", "about <mark>½</mark> cup"},
		"Q-7 not escaped":            {`<b>rent</b> & "co"`, "rent", `<b><mark>rent</mark></b> & "co"`},
		"Q-7 literal tags":           {"a <mark>rent</mark> b", "rent", "a <mark>rent</mark> b"},
		"Q-7 literal tags elsewhere": {"<mark>due</mark> rent </mark>", "rent", "due <mark>rent</mark> "},
		"Q-7 nested literal tag":     {"a <ma<mark>rk> rent", "rent", "a  <mark>rent</mark>"},
		"Q-7 hidden literal tag":     {"<ma\u202erk> rent", "rent", " <mark>rent</mark>"},
		"Q-7 the tag is the match":   {"a <mark> b mark", "mark", "a  b <mark>mark</mark>"},
		"Q-7 match before a bracket": {"<mark", "mark", "<<mark>mark</mark>"},
		"EX-7 removed":               {"re\u0007nt \u202etner\u202c rent\r\n\tx", "rent", "rent tner <mark>rent</mark>\n\tx"},
		"Q-4 whole terms only":       {"rental rent", "rent", "rental <mark>rent</mark>"},
	} {
		t.Run(name, func(t *testing.T) {
			got := search(tt.content, tt.q)
			if got.Preview != tt.want {
				t.Errorf("preview of %+q for %q = %q, want %q", tt.content, tt.q, got.Preview, tt.want)
			}
			if total := utf8.RuneCountInString(tt.content); got.isTruncated() || got.End != total || got.Total != total {
				t.Errorf("excerpt = %+v, want all %d characters", got, total)
			}
		})
	}
}

func TestExcerptOfTagOnly(t *testing.T) {
	got := search("<mark>", "mark")
	if got.Preview != "" || got.Highlighted || got.End != 6 || got.isTruncated() {
		t.Errorf("excerpt = %+v, want an empty preview of all 6 characters", got)
	}
}

func TestExcerptWindow(t *testing.T) {
	filler := strings.Repeat("lorem ipsum ", 100) // 1200 characters
	kanji := strings.Repeat("山", 1000)
	for name, tt := range map[string]struct {
		content, q string
		start, end int
		head, tail string // of the preview
	}{
		"EX-6 in the middle":    {filler + "rent " + filler, "rent", 1044, 1360, "…lorem ipsum", "ipsum…"},
		"EX-6 at the beginning": {"rent " + filler, "rent", 0, 316, "<mark>rent</mark> lorem", "ipsum…"},
		"EX-6 at the end":       {filler + "rent", "rent", 888, 1204, "…lorem", "<mark>rent</mark>"},
		"EX-6 Japanese":         {kanji + "家賃" + kanji, "家賃", 841, 1161, "…山", "山…"},
		"EX-6 densest":          {"april " + filler + "april rent " + filler + "rent rent rent", "april rent", 1056, 1366, "…ipsum", "lorem…"},
		"EX-6 closest":          {"april " + strings.Repeat("x ", 100) + "rent " + filler + "april rent", "april rent", 1105, 1421, "…", "<mark>rent</mark>"},
		"EX-6 first of equals":  {filler + "rent " + filler + "rent " + filler, "rent", 1044, 1360, "…lorem", "ipsum…"},
		"EX-6 one endless word": {strings.Repeat("x", 1000), strings.Repeat("x", 64), 0, 320, "<mark>xxx", "xxx</mark>…"},
		"EX-6 word of 320":      {strings.Repeat("x", 320), strings.Repeat("x", 64), 0, 320, "<mark>xxx", "xxx</mark>"},
	} {
		t.Run(name, func(t *testing.T) {
			got := search(tt.content, tt.q)
			if got.Start != tt.start || got.End != tt.end || got.Total != utf8.RuneCountInString(tt.content) {
				t.Errorf("excerpt is %d to %d of %d, want %d to %d", got.Start, got.End, got.Total, tt.start, tt.end)
			}
			if !strings.HasPrefix(got.Preview, tt.head) || !strings.HasSuffix(got.Preview, tt.tail) {
				t.Errorf("preview %q, want %q … %q", got.Preview, tt.head, tt.tail)
			}
			checkExcerpt(t, tt.content, got)
		})
	}
}

func TestWholeFieldBoundary(t *testing.T) {
	for n := 318; n <= 322; n++ {
		content := "rent " + strings.Repeat("漢", n-5)
		got := search(content, "rent")
		if got.isTruncated() != (n > 320) || strings.Contains(got.Preview, "…") != (n > 320) {
			t.Errorf("EX-6 of %d characters: %d to %d of %d, truncated %v", n, got.Start, got.End, got.Total, got.isTruncated())
		}
	}
}

func TestMatchedFields(t *testing.T) {
	texts := []Text{
		{Field: "none", Content: "nothing here"},
		{Field: "once", Content: "rent"},
		{Field: "often", Content: "rent rent rent"},
		{Field: "both", Content: "April, rent"},
		{Field: "again", Content: "the rent"},
		{Field: "scan", Content: "data:rent/png," + strings.Repeat("x", 300)},
	}
	m := NewFinder(analyzer.Query("april rent")).Find(texts)
	if diff := cmp.Diff([]string{"both", "often", "once", "again", "scan"}, m.Fields()); diff != "" {
		t.Errorf("Q-7 matched_fields (-want +got):\n%s", diff)
	}
	var fields []string
	for _, e := range Excerpts(entry(`{}`), m) {
		fields = append(fields, e.Field)
	}
	if diff := cmp.Diff([]string{"both", "often", "once"}, fields); diff != "" {
		t.Errorf("EX-6 excerpts (-want +got):\n%s", diff)
	}
	if got := NewFinder(nil).Find(texts).Fields(); len(got) != 0 {
		t.Errorf("no terms match %q", got)
	}
	if got := NewFinder([]string{"rent"}).Find(nil).Fields(); got == nil || len(got) != 0 {
		t.Errorf("no texts: %#v, want an empty list", got)
	}
}

func TestExcerptsOfTheText(t *testing.T) {
	memo := Text{Field: "memo", Content: "April rent"}
	long := strings.Repeat("word ", 100)
	for name, tt := range map[string]struct {
		data     string
		declared []string
		texts    []Text
		want     []string // field, provenance, start-end/total
	}{
		"EX-6 role":            {`{"note":"Hello","text":"no"}`, []string{"primary-text=note"}, []Text{memo}, []string{"memo lexical_match 0-10/10", "note declared_role 0-5/5"}},
		"EX-6 name":            {`{"note":"no","text":"Hello"}`, nil, []Text{memo}, []string{"memo lexical_match 0-10/10", "text declared_role 0-5/5"}},
		"EX-6 not twice":       {`{"memo":"April rent"}`, []string{"primary-text=memo"}, []Text{memo}, []string{"memo lexical_match 0-10/10"}},
		"EX-6 three":           {`{"text":"Hello"}`, nil, []Text{memo, {Field: "b", Content: "rent"}, {Field: "c", Content: "rent"}, {Field: "d", Content: "rent"}}, []string{"memo lexical_match 0-10/10", "b lexical_match 0-4/4", "c lexical_match 0-4/4"}},
		"EX-6 beginning":       {`{"text":"` + long + `"}`, nil, nil, []string{"text declared_role 0-319/500"}},
		"EX-6 empty text":      {`{"note":"","text":"Hello"}`, []string{"primary-text=note"}, nil, []string{"text declared_role 0-5/5"}},
		"EVID-1 no other name": {`{"body":"Hello","content":"Hello","message":"Hello"}`, nil, nil, nil},
		"EX-6 no string":       {`{"text":{"a":1}}`, nil, nil, nil},
	} {
		t.Run(name, func(t *testing.T) {
			r := entry(tt.data, tt.declared...)
			var got []string
			for _, e := range Excerpts(r, NewFinder([]string{"rent"}).Find(tt.texts)) {
				got = append(got, fmt.Sprintf("%s %s %d-%d/%d", e.Field, e.Provenance, e.Start, e.End, e.Total))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("excerpts (-want +got):\n%s", diff)
			}
		})
	}
}

// Only the beginning of a long text is searched.
func TestExcerptOfLongText(t *testing.T) {
	words := strings.Repeat("word ", 200)
	for name, tt := range map[string]struct {
		texts []Text
		want  []string // field, start-end/total, marked or not, searched
	}{
		"EX-6 found in it":             {[]Text{{Field: "a", Content: words + "rent " + words, Chars: 90_000, Matched: true}}, []string{"a 845-1159/90000 true 0"}},
		"EX-6 found after it":          {[]Text{{Field: "a", Content: words, Chars: 90_000, Matched: true}}, []string{"a 0-319/90000 false 1000"}},
		"Q-7 not found":                {[]Text{{Field: "a", Content: words, Chars: 90_000}}, nil},
		"Q-7 a word that may continue": {[]Text{{Field: "a", Content: words + "rent", Chars: 90_000}}, nil},
		"Q-7 the word that is shown":   {[]Text{{Field: "a", Content: words, Chars: 90_000, Matched: true}, {Field: "b", Content: "rent"}}, []string{"b 0-4/4 true 0", "a 0-319/90000 false 1000"}},
		"EX-6 a whole text's end":      {[]Text{{Field: "a", Content: "my rent"}}, []string{"a 0-7/7 true 0"}},
		"EX-8 binary beginning":        {[]Text{{Field: "a", Content: strings.Repeat("QUJDabc123+/xyzMNOP9\r\n", 50)[:1001], Chars: 90_000, Matched: true}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, e := range Excerpts(entry(`{}`), NewFinder([]string{"rent"}).Find(tt.texts)) {
				got = append(got, fmt.Sprintf("%s %d-%d/%d %t %d", e.Field, e.Start, e.End, e.Total, e.Highlighted, e.Searched))
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("excerpts (-want +got):\n%s", diff)
			}
		})
	}
}

func TestExcerptOfPreview(t *testing.T) {
	r := entry(`{"text":"Paid by standing order"}`)
	r.Truncated = map[string]*Truncation{"text": {TotalChars: 9120, ShownChars: 22}}
	want := []Excerpt{{Field: "text", Provenance: DeclaredRole, Preview: "Paid by standing order…", End: 22, Total: 9120}}
	if diff := cmp.Diff(want, Excerpts(r, Matches{})); diff != "" {
		t.Errorf("REC-39 excerpt of a preview (-want +got):\n%s", diff)
	}
	r.Truncated["text"].TotalChars = 200
	want[0].Total = 200
	if diff := cmp.Diff(want, Excerpts(r, Matches{})); diff != "" {
		t.Errorf("REC-39 excerpt of a short preview (-want +got):\n%s", diff)
	}
}

func TestSnippet(t *testing.T) {
	r := entry(`{"title":"Flat","note":"April rent"}`)
	field, preview, ok := Snippet(Excerpts(r, NewFinder([]string{"rent"}).Find([]Text{{Field: "note", Content: "April rent"}})))
	if !ok || field != "note" || preview != "April <mark>rent</mark>" {
		t.Errorf("Q-7 Snippet = %q, %q, %v", field, preview, ok)
	}
	if got := TitleOf(r).Text; got != "Flat" {
		t.Errorf("FANIN-1 title = %q, want Flat", got)
	}
	if _, _, ok := Snippet(nil); ok {
		t.Error("Snippet(nil) returns true")
	}
}

func TestTagsAtTheCut(t *testing.T) {
	for pad := 130; pad <= 190; pad++ {
		content := strings.Repeat("<mark>", 60) + strings.Repeat("a", pad) + " rent " + strings.Repeat("b", pad) + strings.Repeat("</mark>", 60)
		got := search(content, "rent")
		checkExcerpt(t, content, got)
		if strings.ContainsAny(strings.NewReplacer(openMark, "", closeMark, "").Replace(got.Preview), "<>") {
			t.Errorf("MS-63 half a tag in %q", got.Preview)
		}
	}
}
