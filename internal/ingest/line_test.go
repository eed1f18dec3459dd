package ingest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/store"
)

func TestParseRecord(t *testing.T) {
	at := time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)
	tests := []struct {
		stream, line string
		want         store.Input
	}{
		{"entries", `{"key":"a","data":{}}`, store.Input{ID: "a", Data: []byte(`{}`), EmittedAt: noon}},
		{
			"entries", ` { "key" : "a" , "data" : { "id" : "a", "amount": 12.00 } , "emitted_at":"2026-05-01T10:00:00+02:00", "op":"upsert","x":1}`,
			store.Input{ID: "a", Data: []byte(`{"id":"a","amount":12.00}`), EmittedAt: at},
		},
		{
			"entries", `{"key":"a","data":{"\u0069d":"\u0061"},"op":null,"emitted_at":null}`,
			store.Input{ID: "a", Data: []byte(`{"\u0069d":"\u0061"}`), EmittedAt: noon},
		},
		{"entries", `{"stream":"entries","key":"a","data":{}}`, store.Input{ID: "a", Data: []byte(`{}`), EmittedAt: noon}},
		{"entries", `{"key":["a"],"data":{}}`, store.Input{ID: "a", Data: []byte(`{}`), EmittedAt: noon}},
		{"entries", `{"key":"\ud83d\ude00","data":{}}`, store.Input{ID: "😀", Data: []byte(`{}`), EmittedAt: noon}},
		{"entries", `{"key":"12","data":{"id":12}}`, store.Input{ID: "12", Data: []byte(`{"id":12}`), EmittedAt: noon}},
		{"entries", `{"key":"12.0","data":{"id":12.0}}`, store.Input{ID: "12.0", Data: []byte(`{"id":12.0}`), EmittedAt: noon}},
		{"entries", `{"key":"true","data":{"id":true}}`, store.Input{ID: "true", Data: []byte(`{"id":true}`), EmittedAt: noon}},
		{"entries", `{"key":"a","op":"delete"}`, store.Input{Delete: true, ID: "a", EmittedAt: noon}},
		{"entries", `{"key":"a","op":"delete","data":null,"emitted_at":"2026-05-01T08:00:00"}`, store.Input{Delete: true, ID: "a", EmittedAt: at}},
		{"entries", `{"key":"a","op":"delete","data":{"id":"a"}}`, store.Input{Delete: true, ID: "a", EmittedAt: noon}},
		{
			"items", `{"key":12345678901234567890,"data":{"n":12345678901234567890}}`,
			store.Input{ID: "12345678901234567890", Data: []byte(`{"n":12345678901234567890}`), EmittedAt: noon},
		},
		{"items", `{"key":1.50e1,"data":{"n":15}}`, store.Input{ID: "15", Data: []byte(`{"n":15}`), EmittedAt: noon}},
		{
			"months", `{"key":["acc_1","2026-04"],"data":{"account":"acc_1"}}`,
			store.Input{ID: `["acc_1","2026-04"]`, Data: []byte(`{"account":"acc_1"}`), EmittedAt: noon},
		},
		{
			"months", `{"key":[ 7, "a\u0022" ],"data":{"account":"7","month":"a\""}}`,
			store.Input{ID: `["7","a\""]`, Data: []byte(`{"account":"7","month":"a\""}`), EmittedAt: noon},
		},
	}
	m := parse(t, ledger)
	for _, tt := range tests {
		got, bad := ParseRecord([]byte(tt.line), m.Stream(tt.stream), noon)
		if bad != nil {
			t.Errorf("ParseRecord(%s): %v", tt.line, *bad)
			continue
		}
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("ParseRecord(%s) (-want +got):\n%s", tt.line, diff)
		}
	}
}

// rejections are lines of each kind that is refused. They contain the word SECRET in place
// of every value.
var rejections = []struct {
	stream, line string
	want         LineCode
}{
	{"entries", `SECRET`, malformedNDJSON},
	{"entries", `"SECRET"`, malformedNDJSON},
	{"entries", `[{"key":"a","data":{}}]`, malformedNDJSON},
	{"entries", `{"key":"SECRET","data":{}`, malformedNDJSON},
	{"entries", `{"key":"SECRET","data":{}} {}`, malformedNDJSON},
	{"entries", `{"key":"SECRET","key":"SECRET","data":{}}`, malformedNDJSON},
	{"entries", `{"key":"SECRET","data":{"a":1,"\u0061":2}}`, malformedNDJSON},
	{"entries", `{"key":"a","data":{"a":` + strings.Repeat("[", 63) + strings.Repeat("]", 63) + `}}`, malformedNDJSON},
	{"entries", "{\"key\":\"SECRET\xff\",\"data\":{}}", invalidUTF8},
	{"entries", "\xff", invalidUTF8},
	{"entries", `{"key":"SECRET"}`, invalidRecord},
	{"entries", `{"key":"a","data":{},"stream":"SECRET"}`, invalidRecord},
	{"entries", `{"key":"SECRET","data":null}`, invalidRecord},
	{"entries", `{"key":"SECRET","data":[]}`, invalidRecord},
	{"entries", `{"key":"a","data":"SECRET"}`, invalidRecord},
	{"entries", `{"key":"a","data":{},"op":"SECRET"}`, invalidRecord},
	{"entries", `{"key":"a","data":{},"op":1}`, invalidRecord},
	{"entries", `{"key":"a","op":"delete","data":"SECRET"}`, invalidRecord},
	{"entries", `{"key":"a","data":{},"emitted_at":"SECRET"}`, invalidRecord},
	{"entries", `{"key":"a","data":{},"emitted_at":1700000000}`, invalidRecord},
	{"entries", `{"key":"a","data":{},"emitted_at":"9999-12-31T23:59:59-01:00"}`, invalidRecord},
	{"entries", `{"key":"a","data":{},"emitted_at":"0000-01-01T00:00:00+01:00"}`, invalidRecord},
	{"entries", `{"data":{"id":"SECRET"}}`, invalidRecordIdentity},
	{"entries", `{"op":"delete"}`, invalidRecordIdentity},
	{"entries", `{"key":null,"data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":true,"data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":{"id":"SECRET"},"data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":"","data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":".","data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":"..","data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":"a\u0000","data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":"\ud800","data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":"\udc00\ud800","data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":"` + strings.Repeat("x", 513) + `","data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":1e600,"data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":1e-99999999999999999999,"data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":"SECRET","data":{"id":"other"}}`, invalidRecordIdentity},
	{"entries", `{"key":"SECRET","data":{"id":null}}`, invalidRecordIdentity},
	{"entries", `{"key":"SECRET","data":{"id":["SECRET"]}}`, invalidRecordIdentity},
	{"entries", `{"key":"12","data":{"id":13}}`, invalidRecordIdentity},
	{"entries", `{"key":"SECRET","op":"delete","data":{"id":"other"}}`, invalidRecordIdentity},
	{"entries", `{"key":["SECRET","b"],"data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":[],"data":{}}`, invalidRecordIdentity},
	{"entries", `{"key":[["SECRET"]],"data":{}}`, invalidRecordIdentity},
	{"months", `{"key":"SECRET","data":{}}`, invalidRecordIdentity},
	{"months", `{"key":["SECRET"],"data":{}}`, invalidRecordIdentity},
	{"months", `{"key":["a","b","SECRET"],"data":{}}`, invalidRecordIdentity},
	{"months", `{"key":["a",null],"data":{}}`, invalidRecordIdentity},
	{"months", `{"key":["a","b\u0000"],"data":{}}`, invalidRecordIdentity},
	{"months", `{"key":["a","b"],"data":{"month":"SECRET"}}`, invalidRecordIdentity},
	{"months", `{"key":["a","` + strings.Repeat("x", 510) + `"],"data":{}}`, invalidRecordIdentity},
}

func TestRejections(t *testing.T) {
	m := parse(t, ledger)
	for _, tt := range rejections {
		_, bad := ParseRecord([]byte(tt.line), m.Stream(tt.stream), noon)
		if bad == nil || bad.Code != tt.want {
			t.Errorf("ParseRecord(%.80s) = %v, want %s", tt.line, bad, tt.want)
			continue
		}
		if bad.Message == "" || strings.Contains(bad.Message, "SECRET") || !strings.HasSuffix(bad.Message, ".") {
			t.Errorf("ParseRecord(%.80s): message %q", tt.line, bad.Message)
		}
	}
}

func TestParseMessage(t *testing.T) {
	m := parse(t, ledger)
	tests := []struct {
		line   string
		kind   messageKind
		stream string
		id     pdpp.RecordID
		cursor string
		bad    LineCode
	}{
		{line: `{"type":"RECORD","stream":"items","key":7,"data":{}}`, stream: "items", id: "7"},
		{line: `{"type":"STATE","stream":"items","cursor": { "after" : 1 }}`, kind: stateMessage, stream: "items", cursor: `{"after":1}`},
		{line: `{"type":"STATE","stream":"items","cursor":null}`, kind: stateMessage, stream: "items", cursor: `null`},
		{line: `{"type":"LOG","message":"hello"}`, kind: otherMessage},
		{line: `{"type":"record"}`, kind: otherMessage},
		{line: `{"type":"RECORD","stream":"items","key":"","data":{}}`, stream: "items", bad: invalidRecordIdentity},
		{line: `{"type":"RECORD","stream":"SECRET","key":7,"data":{}}`, bad: invalidRecord},
		{line: `{"type":"RECORD","key":7,"data":{}}`, bad: invalidRecord},
		{line: `{"type":"STATE","stream":"SECRET","cursor":1}`, kind: stateMessage, bad: invalidRecord},
		{line: `{"type":"STATE","stream":"items"}`, kind: stateMessage, stream: "items", bad: invalidRecord},
		{line: `{"type":"STATE","stream":"items","cursor":"` + strings.Repeat("x", 1<<20) + `"}`, kind: stateMessage, stream: "items", bad: invalidRecord},
		{line: `{"key":7,"data":{}}`, bad: invalidRecord},
		{line: `{"type":7}`, bad: invalidRecord},
		{line: `[]`, bad: malformedNDJSON},
	}
	for _, tt := range tests {
		msg, bad := parseMessage(new(arena), []byte(tt.line), m, noon)
		if bad != nil || tt.bad != "" {
			if bad == nil || bad.Code != tt.bad || strings.Contains(bad.Message, "SECRET") {
				t.Errorf("parseMessage(%.80s) = %v, want %q", tt.line, bad, tt.bad)
			}
		}
		name := ""
		if msg.stream != nil {
			name = msg.stream.Name
		}
		if name != tt.stream || msg.kind != tt.kind || msg.input.ID != tt.id || tt.bad == "" && string(msg.cursor) != tt.cursor {
			t.Errorf("parseMessage(%.80s) = %d %q %q %q, want %d %q %q %q", tt.line, msg.kind, name, msg.input.ID, msg.cursor,
				tt.kind, tt.stream, tt.id, tt.cursor)
		}
	}
}

func TestAppendDecimal(t *testing.T) {
	tests := map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "-0e5": "0", "0e99999999999999999999": "0", "12": "12", "-12": "-12", "12.0": "12", "1.50": "1.5",
		"-1.50": "-1.5", "1e3": "1000", "1.5e3": "1500", "15e-1": "1.5", "1E-3": "0.001", "0.00120e+1": "0.012", "10.010": "10.01",
		"12345678901234567890.10": "12345678901234567890.1", "100e-2": "1", "1e511": "1" + strings.Repeat("0", 511),
	}
	for number, want := range tests {
		got, ok := appendDecimal(nil, []byte(number))
		if !ok || string(got) != want {
			t.Errorf("appendDecimal(%s) = %q, %v, want %q", number, got, ok, want)
		}
		again, ok := appendDecimal(nil, got)
		if !ok || !bytes.Equal(again, got) {
			t.Errorf("appendDecimal(%s) = %q, %v: not idempotent", got, again, ok)
		}
	}
	for _, number := range []string{"1e513", "1e-513", "1e2147483647", "1e999999999999", strings.Repeat("1", 513)} {
		if got, ok := appendDecimal(nil, []byte(number)); ok {
			t.Errorf("appendDecimal(%.20s) = %q, want none", number, got)
		}
	}
}

// FuzzParseRecord: an accepted line has a valid id and an object that Prepare and a second
// parse leave unchanged; a refused one has a code and a message.
func FuzzParseRecord(f *testing.F) {
	for _, tt := range rejections {
		f.Add([]byte(tt.line))
	}
	f.Add([]byte(`{"key":["a",1.5e3],"data":{"account":"a","month":1500},"emitted_at":"2026-01-01"}`))
	f.Add([]byte(`{"key":"a","data":{"id":"a"},"op":"upsert"}`))
	f.Add([]byte(`{"key":-0.50,"op":"delete"}`))
	m := parse(f, ledger)
	f.Fuzz(func(t *testing.T, line []byte) {
		for _, s := range m.Streams {
			in, bad := ParseRecord(line, s, noon)
			if bad != nil {
				if bad.Code == "" || bad.Message == "" {
					t.Fatalf("rejection without words: %+v", bad)
				}
				continue
			}
			if !in.ID.Valid() {
				t.Fatalf("ParseRecord(%q) has id %q", line, in.ID)
			}
			if in.Delete != (in.Data == nil) || !in.Delete && !json.Valid(in.Data) {
				t.Fatalf("ParseRecord(%q) = %+v", line, in)
			}
			if in.Delete || len(s.PrimaryKey) > 1 {
				continue
			}
			again := append(rawjson.AppendString([]byte(`{"key":`), string(in.ID)), `,"data":`...)
			again = append(append(again, in.Data...), '}')
			second, bad := ParseRecord(again, s, in.EmittedAt)
			if bad != nil || second.ID != in.ID || !bytes.Equal(second.Data, in.Data) {
				t.Fatalf("ParseRecord(%q) = %+v, %v after %+v", again, second, bad, in)
			}
		}
	})
}

func BenchmarkParseRecord(b *testing.B) {
	m := parse(b, ledger)
	line := []byte(`{"key":"ent_31","data":{"id":"ent_31","memo":"` + strings.Repeat("Rent for the flat ", 20) +
		`","amount":120000,"posted_at":"2026-04-30T09:00:00Z"},"emitted_at":"2026-05-01T08:00:00Z"}`)
	var a arena
	b.SetBytes(int64(len(line)))
	b.ReportAllocs()
	for b.Loop() {
		if _, bad := parseRecord(&a, line, m.Stream("entries"), noon); bad != nil {
			b.Fatal(bad)
		}
	}
}
