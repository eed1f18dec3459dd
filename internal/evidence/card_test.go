package evidence

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
	"pdpp/internal/rawjson"
)

// member returns a member of the card of r as JSON text.
func member(t *testing.T, r *Record, name string) string {
	t.Helper()
	card := AppendCard(nil, r, EventTimeOf(r))
	if !json.Valid(card) {
		t.Fatalf("card is not JSON: %s", card)
	}
	value, _ := rawjson.Get(card, name)
	return string(value)
}

func TestCard(t *testing.T) {
	r := entry(`{"id":"ent_31","memo":"April rent","posted_at":"2026-04-30T09:00:00Z","amount_minor":125000}`,
		"primary-title=memo", "event-time=posted_at", "amount=amount_minor")
	want := `prefix{"object":"evidence_card",` +
		`"title":{"text":"April rent","source":"role","field":"memo","truncated":false},` +
		`"event_time":{"value":"2026-04-30T09:00:00Z","source":"role","field":"posted_at"},` +
		`"fields":[{"role":"amount","field":"amount_minor","value":125000}],` +
		`"binary":[],"binary_omitted_count":0,` +
		`"read":{"object":"record_read","method":"GET","stream":"entries","record_id":"ent_31","connection_id":"cin_a1",` +
		`"href":"/v1/streams/entries/records/ent_31?connection_id=cin_a1"}}`
	if diff := cmp.Diff(want, string(AppendCard([]byte("prefix"), r, EventTimeOf(r)))); diff != "" {
		t.Errorf("EX-2 card (-want +got):\n%s", diff)
	}
	want = `{"object":"evidence_card","title":{"text":"","source":"fallback","truncated":false},"fields":[],` +
		`"binary":[],"binary_omitted_count":0,"read":{"object":"record_read","method":"GET","stream":"","record_id":"","href":"/v1/streams//records/"}}`
	if diff := cmp.Diff(want, string(AppendCard(nil, &Record{}, EventTime{}))); diff != "" {
		t.Errorf("card of an empty record (-want +got):\n%s", diff)
	}
}

func TestCardFields(t *testing.T) {
	for name, tt := range map[string]struct {
		data     string
		declared []string
		want     string
	}{
		"EX-5 scalars": {
			`{"a":"Ada","b":1.50,"c":true}`,
			[]string{"secondary=c", "actor=a", "amount=b"},
			`[{"role":"actor","field":"a","value":"Ada"},{"role":"amount","field":"b","value":1.50},{"role":"secondary","field":"c","value":true}]`,
		},
		"D15 exact numbers": {
			`{"n":9007199254740993123.100e-2}`,
			[]string{"amount=n"},
			`[{"role":"amount","field":"n","value":9007199254740993123.100e-2}]`,
		},
		"EX-5 no other types": {
			`{"o":{},"l":[1],"z":null,"e":"","w":"\u0007"}`,
			[]string{"secondary=o", "secondary=l", "secondary=z", "secondary=e", "secondary=w", "secondary=gone"},
			`[]`,
		},
		"EX-5 at most four": {
			`{"a":1,"b":2,"c":3,"d":4,"e":5}`,
			[]string{"secondary=a", "secondary=b", "secondary=c", "secondary=d", "amount=e"},
			`[{"role":"amount","field":"e","value":5},{"role":"secondary","field":"a","value":1},` +
				`{"role":"secondary","field":"b","value":2},{"role":"secondary","field":"c","value":3}]`,
		},
		"EVID-1 other roles and names": {
			`{"sender":"Ada","amount":5,"x":"y"}`, []string{"primary-text=x", "media=x", "highlight=x"}, `[]`,
		},
		"EX-5 cut": {
			`{"a":"` + strings.Repeat("ü", 161) + `"}`,
			[]string{"actor=a"},
			`[{"role":"actor","field":"a","value":"` + strings.Repeat("ü", 160) + `","truncated":true}]`,
		},
		"EX-5 not cut": {
			`{"a":"` + strings.Repeat("ü", 160) + `"}`,
			[]string{"actor=a"},
			`[{"role":"actor","field":"a","value":"` + strings.Repeat("ü", 160) + `"}]`,
		},
		"EX-7 removed": {
			`{"a":"x\u202ey\r\nz\u0000"}`, []string{"actor=a"}, `[{"role":"actor","field":"a","value":"xy\nz"}]`,
		},
		"too long a number": {`{"n":` + strings.Repeat("9", 65) + `}`, []string{"amount=n"}, `[]`},
		"EVID-2 base64": {
			`{"a":"` + base64.StdEncoding.EncodeToString(octets(500)) + `"}`, []string{"actor=a"}, `[]`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, member(t, entry(tt.data, tt.declared...), "fields")); diff != "" {
				t.Errorf("fields (-want +got):\n%s", diff)
			}
		})
	}
}

func TestCardBinary(t *testing.T) {
	blob := func(id string) string {
		return `{"blob_id":"` + id + `","mime_type":"image/png","size_bytes":48213,"sha256":"` + hash + `","fetch_url":"https://evil.test/x"}`
	}
	blobFacts := `"kind":"blob_reference","mime_type":"image/png","size_bytes":48213,"size_grade":"small","sha256":"` + hash + `"`
	blobRead := func(id, href string) string {
		return `"read":{"object":"blob_read","method":"GET","blob_id":"` + id + `","connection_id":"cin_a1","href":"/v1/blobs/` + href + `?connection_id=cin_a1"}`
	}
	window := func(field, as, query string) string {
		return `"read":{"object":"field_window_read","method":"GET","stream":"entries","record_id":"ent_31","field":"` + field + `"` + as +
			`,"connection_id":"cin_a1","offset_chars":0,"route":"/v1/streams/entries/records/ent_31/field-window",` +
			`"href":"/v1/streams/entries/records/ent_31/field-window?field=` + query + `&offset_chars=0&connection_id=cin_a1"}`
	}
	item := func(field, facts, read string) string {
		return `{"object":"binary_field","field_path":"` + field + `",` + facts + `,` + read + `}`
	}
	for name, tt := range map[string]struct {
		data string
		want string
		left int
	}{
		"EX-8 blob reference": {`{"scan":` + blob("b_1") + `}`, item("scan", blobFacts, blobRead("b_1", "b_1")), 0},
		"EX-8 odd blob id":    {`{"scan":` + blob("a/b ?") + `}`, item("scan", blobFacts, blobRead("a/b ?", "a%2Fb%20%3F")), 0},
		"EX-8 list": {
			`{"scans":[` + blob("b_1") + `,null,` + blob("b_2") + `]}`,
			item("scans", blobFacts, blobRead("b_1", "b_1")) + "," + item("scans", blobFacts, blobRead("b_2", "b_2")), 0,
		},
		"EX-8 embedded object": {
			`{"file":{"mimeType":"text/plain","size":70000,"fetch_url":"https://evil.test/x"}}`,
			item("file", `"kind":"embedded_object","mime_type":"text/plain","size_bytes":70000,"size_grade":"medium"`, window("file", `,"as":"json"`, "file&as=json")), 0,
		},
		"EX-8 base64": {
			`{"raw data":"` + base64.StdEncoding.EncodeToString(octets(600)) + `"}`,
			item("raw data", `"kind":"base64_text","size_bytes":600,"size_grade":"small"`, window("raw data", "", "raw+data")), 0,
		},
		"EX-8 unknown facts": {`{"scan":{"blob_id":"b_1"}}`, item("scan", `"kind":"blob_reference"`, blobRead("b_1", "b_1")), 0},
		"EX-8 at most three": {
			`{"scans":[` + blob("1") + `,` + blob("2") + `,` + blob("3") + `,` + blob("4") + `],"scan":` + blob("5") + `}`,
			item("scans", blobFacts, blobRead("1", "1")) + "," + item("scans", blobFacts, blobRead("2", "2")) + "," + item("scans", blobFacts, blobRead("3", "3")), 2,
		},
		"EVID-2 undeclared id is not a blob": {`{"other":{"blob_id":"b_1"}}`, "", 0},
		"EVID-2 never by name":               {`{"attachment":{"id":"u1","name":"Ada"},"image":"cat","blob_ref":"b_1"}`, "", 0},
		"EX-8 null":                          {`{"scan":null,"scans":[]}`, "", 0},
	} {
		t.Run(name, func(t *testing.T) {
			r := entry(tt.data, "blob=scan", "blob=scans", "media=attachment")
			if diff := cmp.Diff("["+tt.want+"]", member(t, r, "binary")); diff != "" {
				t.Errorf("binary (-want +got):\n%s", diff)
			}
			if got := member(t, r, "binary_omitted_count"); got != fmt.Sprint(tt.left) {
				t.Errorf("binary_omitted_count = %s, want %d", got, tt.left)
			}
			if card := AppendCard(nil, r, EventTimeOf(r)); strings.Contains(string(card), "evil") {
				t.Errorf("external URL offered: %s", card)
			}
		})
	}
}

// TestBinaryContentIsNeverShown uses binary values where text is expected.
func TestBinaryContentIsNeverShown(t *testing.T) {
	secret := base64.StdEncoding.EncodeToString(octets(600))
	for _, value := range []string{secret, "data:image/png;base64," + secret, strings.TrimRight(lines(secret, `\n`), "=")} {
		r := entry(`{"title":"`+value+`","text":"`+value+`","sent_at":"`+value+`","who":"`+value+`"}`,
			"primary-title=title", "primary-text=text", "event-time=sent_at", "actor=who")
		decoded, _ := rawjson.String([]byte(`"` + value + `"`))
		m := NewFinder([]string{"image", strings.ToLower(secret[:4])}).Find([]Text{{Field: "text", Content: decoded}})
		out := string(AppendExcerpts(AppendCard(nil, r, EventTimeOf(r)), r, Excerpts(r, m)))
		if strings.Contains(out, secret[10:40]) {
			t.Errorf("BINARY-1 content shown: %s", out)
		}
		if n := strings.Count(out, `"kind":"base64_text"`); n != 3 || !strings.Contains(out, `"binary_omitted_count":1`) {
			t.Errorf("EVID-2 %d values described, want 3 and 1 counted: %s", n, out)
		}
	}
}

func TestCardOfPreviews(t *testing.T) {
	r := entry(`{"scan_b64":"","photos":"","who":"Ada Love","lines":"[{\"a\":1"}`, "actor=who", "secondary=lines", "blob=photos")
	r.Truncated = map[string]*Truncation{
		"scan_b64": {TotalChars: 64284, Binary: &Binary{Kind: KindBase64Text, SizeBytes: 48213}},
		"photos":   {TotalChars: 90000, AsJSON: true, Binary: &Binary{Kind: KindBlobReference, SizeBytes: -1}},
		"who":      {TotalChars: 900, ShownChars: 8},
		"lines":    {TotalChars: 900, ShownChars: 7, AsJSON: true},
	}
	if got, want := member(t, r, "fields"), `[{"role":"actor","field":"who","value":"Ada Love","truncated":true}]`; got != want {
		t.Errorf("fields = %s, want %s", got, want)
	}
	binary := member(t, r, "binary")
	for _, part := range []string{
		`"field_path":"scan_b64","kind":"base64_text","size_bytes":48213,"size_grade":"small","read":{"object":"field_window_read"`,
		`"field_path":"photos","kind":"blob_reference","read":{"object":"field_window_read"`, `field=photos&as=json&`,
	} {
		if !strings.Contains(binary, part) {
			t.Errorf("MS-64 binary = %s, want it to contain %s", binary, part)
		}
	}
}

// On a full card, binary facts have priority over values, and values are cut before they
// are omitted.
func TestCrowdedCard(t *testing.T) {
	long := strings.Repeat("漢", 160)
	r := entry(`{"t":"`+long+`","a":"`+long+`","b":"`+long+`","c":"`+long+`","d":"`+long+`","s":{"blob_id":"b"}}`,
		"primary-title=t", "actor=a", "secondary=b", "secondary=c", "secondary=d", "blob=s")
	var fields []struct {
		Value     string
		Truncated bool
	}
	if err := json.Unmarshal([]byte(member(t, r, "fields")), &fields); err != nil || len(fields) != 3 {
		t.Fatalf("EX-2 %d fields, %v, want 3", len(fields), err)
	}
	for i, f := range fields {
		isLast := i == 2
		if !strings.HasPrefix(long, f.Value) || len(f.Value) < minCardValue || f.Truncated != isLast || (f.Value == long) == isLast {
			t.Errorf("EX-5 field %d = %+v, want only the last one cut", i, f)
		}
	}
	if !strings.Contains(member(t, r, "binary"), "blob_read") {
		t.Errorf("EX-2 the blob is missing: %s", AppendCard(nil, r, EventTimeOf(r)))
	}
}

func TestBlobsByID(t *testing.T) {
	r := entry(`{"a":{"blob_id":"b_1"},"b":[{"blob_id":"b_2"}],"c":{"id":"b_3"}}`)
	r.Presentation = &Presentation{BlobsByID: true}
	got := member(t, r, "binary")
	if strings.Count(got, `"blob_read"`) != 2 || strings.Contains(got, "b_3") {
		t.Errorf("MS-64 binary = %s, want b_1 and b_2", got)
	}
}

func TestDeclared(t *testing.T) {
	m := &pdpp.Manifest{Streams: []*pdpp.Stream{{
		Name: "s", CursorField: "seq", ConsentTimeField: "at",
		Fields: []*pdpp.Field{
			{Name: "at", Role: pdpp.RoleEventTime},
			{Name: "a", Role: pdpp.RoleSecondary},
			{Name: "seq"},
			{Name: "b", Role: pdpp.RoleSecondary},
			{Name: "scan", Role: pdpp.RoleMedia, Blob: pdpp.BlobList},
		},
	}}}
	want := roles("time=at", "time=seq", "event-time=at", "secondary=a", "secondary=b", "media=scan", "blob=scan")
	if diff := cmp.Diff(want, Declared(m.Streams[0])); diff != "" {
		t.Errorf("REC-5 Declared (-want +got):\n%s", diff)
	}
}

// identifierBytes returns the bytes that do not count towards the size of a card.
func identifierBytes(card any) int {
	n := 0
	switch v := card.(type) {
	case map[string]any:
		for name, value := range v {
			switch name {
			case "stream", "record_id", "connection_id", "blob_id", "href", "route", "field", "field_path":
				n += len(rawjson.AppendString(nil, value.(string)))
			default:
				n += identifierBytes(value)
			}
		}
	case []any:
		for _, value := range v {
			n += identifierBytes(value)
		}
	}
	return n
}

func TestCardBounds(t *testing.T) {
	char := rapid.SampledFrom([]string{"a", `"`, `\`, "\n", "ü", "漢", "😀", "\u202e", " "})
	word := rapid.Custom(func(t *rapid.T) string {
		return strings.Repeat(char.Draw(t, "char"), rapid.IntRange(0, 200).Draw(t, "times"))
	})
	value := rapid.OneOf(
		rapid.Map(word, func(s string) string { return string(rawjson.AppendString(nil, s)) }),
		rapid.Just(`{"blob_id":"b","mime_type":"`+strings.Repeat("a", 127)+"/"+strings.Repeat("b", 127)+`","size":5,"sha256":"`+hash+`"}`),
		rapid.SampledFrom([]string{"1", "null", "true", `"2026-01-01"`, `{}`}),
	)
	rapid.Check(t, func(t *rapid.T) {
		data := []byte{'{'}
		var declared []string
		for i := range rapid.IntRange(0, 9).Draw(t, "fields") {
			if i > 0 {
				data = append(data, ',')
			}
			name := fmt.Sprintf("f%d%s", i, strings.Repeat("x", rapid.IntRange(0, 100).Draw(t, "name")))
			data = fmt.Appendf(data, `"%s":%s`, name, value.Draw(t, "value"))
			role := rapid.SampledFrom([]string{"primary-title", "event-time", "actor", "amount", "secondary", "blob"}).Draw(t, "role")
			declared = append(declared, role+"="+name)
		}
		r := entry(string(append(data, '}')), declared...)
		r.DisplayName = word.Draw(t, "label")
		card := AppendCard(nil, r, EventTimeOf(r))
		var tree map[string]any
		if err := json.Unmarshal(card, &tree); err != nil || !utf8.Valid(card) {
			t.Fatalf("card is not JSON: %v: %s", err, card)
		}
		if n := len(card) - identifierBytes(tree); n > maxCardBytes {
			t.Fatalf("EX-2 card has %d bytes without ids: %s", n, card)
		}
		if strings.ContainsRune(string(card), '\u202e') {
			t.Fatalf("EX-7 card has a bidirectional control: %q", card)
		}
	})
}
