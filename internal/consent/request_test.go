package consent

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"pdpp"
)

// with returns a request of one valid entry with more members.
func with(members string) string {
	return "[" + strings.Replace(entry(`{"name":"contacts"}`), `{"type"`, `{`+members+`,"type"`, 1) + "]"
}

// invalidRequests are requests with the path and a part of the expected message.
var invalidRequests = []struct{ name, details, path, text string }{
	{"invalid JSON", `[`, "", "not valid JSON"},
	{"object", entry(`{"name":"*"}`), "", "must be a list"},
	{"empty", `[]`, "", "empty"},
	{"no entry", `[1]`, "[0]", "object"},
	{"too large", with(`"purpose_description":"` + strings.Repeat("x", 64<<10) + `"`), "", "65536 bytes"},
	{"too many", "[" + strings.Repeat(entry(`{"name":"*"}`)+",", 50) + entry(`{"name":"*"}`) + "]", "", "50 entries"},
	{"no type", `[{"source":{"connector_key":"mail"},"streams":[{"name":"*"}]}]`, "[0].type", "required"},
	{"another type", strings.Replace("["+entry(`{"name":"*"}`)+"]", "data-access", "payment", 1), "[0].type", "data-access"},
	{"unknown key", with(`"streems":[]`), "[0].streems", "unknown key"},
	{"repeated key", with(`"access_mode":"continuous","access_mode":"single_use"`), "[0].access_mode", "duplicate key"},
	{"end of the grant", with(`"expires_in":"90d"`), "[0].expires_in", "unknown key"},
	{"mode", with(`"access_mode":"forever"`), "[0].access_mode", "single_use"},
	{"preset", with(`"selection_preset":"all"`), "[0].selection_preset", "unknown preset"},
	{"purpose too long", with(`"purpose_code":"` + strings.Repeat("x", 2049) + `"`), "[0].purpose_code", "2048"},
	{"purpose control", with(`"purpose_code":"a\u0000"`), "[0].purpose_code", "control"},
	{"description too long", with(`"purpose_description":"` + strings.Repeat("x", 2049) + `"`), "[0].purpose_description", "2048"},
	{"description with a line break", with(`"purpose_description":"a\nb"`), "[0].purpose_description", "control"},
	{"description that reverses text", with(`"purpose_description":"a\u202eb"`), "[0].purpose_description", "control"},
	{"retention text", with(`"retention":{"on_expiry":"\u0007"}`), "[0].retention.on_expiry", "control"},
	{"retention", with(`"retention":{"max_duration":"30"}`), "[0].retention.max_duration", "P30D"},
	{"empty source", `[{"type":"https://pdpp.dev/data-access","source":{},"streams":[{"name":"*"}]}]`, "[0].source", "needs id"},
	{"relative source", strings.Replace("["+entry(`{"name":"*"}`)+"]", `"connector_key":"mail"`, `"id":"c/mail"`, 1), "[0].source.id", "absolute"},
	{"connector key", strings.Replace("["+entry(`{"name":"*"}`)+"]", `"mail"`, `"Ma il"`, 1), "[0].source.connector_key", "form"},
	{"stream name", "[" + entry(`{"name":"a/b"}`) + "]", "[0].streams[0].name", "not a stream name"},
	{"all and more", "[" + entry(`{"name":"*"},{"name":"contacts"}`) + "]", "[0].streams[0]", "only entry"},
	{"stream twice", "[" + entry(`{"name":"contacts"},{"name":"contacts"}`) + "]", "[0].streams[1]", "twice"},
	{"view and fields", "[" + entry(`{"name":"messages","view":"brief","fields":["id"]}`) + "]", "[0].streams[0].view", "keep one"},
	{"names of connections", "[" + entry(`{"name":"messages","connections":["home"]}`) + "]", "[0].streams[0].connections", "unknown key"},
	{"connection form", "[" + entry(`{"name":"messages","instance_ids":["a b"]}`) + "]", "[0].streams[0].instance_ids[0]", "form"},
	{"bounds", "[" + entry(`{"name":"messages","time_range":{"since":"2026-01-01","until":"2026-01-01"}}`) + "]", "[0].streams[0].time_range", "before"},
	{"necessity", "[" + entry(`{"name":"messages","necessity":"vital"}`) + "]", "[0].streams[0].necessity", "optional"},
	{
		"connection in two entries", "[" + entry(`{"name":"messages","instance_ids":["cin_1"]}`) + "," +
			entry(`{"name":"contacts","instance_ids":["cin_2","cin_1"]}`) + "]", "[1]", "cin_1",
	},
	{
		"all connections in two entries", "[" + entry(`{"name":"messages"}`) + "," +
			entry(`{"name":"contacts","instance_ids":["cin_1"]}`) + "]", "[1]", "combine",
	},
	{
		"two purposes", "[" + entry(`{"name":"messages","instance_ids":["cin_1"]}`) + "," +
			strings.Replace(entry(`{"name":"messages","instance_ids":["cin_2"]}`), `{"type"`, `{"purpose_code":"x","type"`, 1) + "]",
		"[1].purpose_code", "same in all entries",
	},
}

func TestH146InvalidRequests(t *testing.T) {
	for _, tt := range invalidRequests {
		t.Run(tt.name, func(t *testing.T) {
			r, err := ParseRequest([]byte(tt.details))
			var e *pdpp.Error
			if !errors.As(err, &e) || r != nil {
				t.Fatalf("ParseRequest = %v, %v, want an error", r, err)
			}
			if e.Code != pdpp.CodeInvalidInput || e.Param != tt.path || !strings.Contains(e.Message, tt.text) {
				t.Errorf("error %q at %q: %s; want it at %q with %q", e.Code, e.Param, e.Message, tt.path, tt.text)
			}
		})
	}
}

// The error of a request does not depend on what an owner has.
func TestH146NamesAreNotChecked(t *testing.T) {
	r := mustParse(t, `[{"type":"https://pdpp.dev/data-access","source":{"id":"https://nowhere.test/c","kind":"connector"},
		"streams":[{"name":"nothing","fields":["no"],"instance_ids":["cin_none"],"resources":["r"],"necessity":"optional"}]}]`)
	if len(r.Entries) != 1 || r.Entries[0].SourceID != "https://nowhere.test/c" {
		t.Errorf("request = %+v", r)
	}
}

func TestH146FiftyEntries(t *testing.T) {
	var entries []string
	for i := range 50 {
		entries = append(entries, entry(fmt.Sprintf(`{"name":"*","instance_ids":["cin_%d"]}`, i)))
	}
	if r := mustParse(t, "["+strings.Join(entries, ",")+"]"); len(r.Entries) != 50 {
		t.Errorf("got %d entries", len(r.Entries))
	}
}

// FuzzParseRequest checks that a valid request makes an offer within it, and that the
// errors of an invalid one are fit for an answer.
func FuzzParseRequest(f *testing.F) {
	for _, tt := range invalidRequests {
		if len(tt.details) < 1000 {
			f.Add([]byte(tt.details))
		}
	}
	f.Add([]byte("[" + entry(`{"name":"messages","view":"brief","time_range":{"since":"2025-01-01"},"resources":["m1"]}`) + "]"))
	f.Add([]byte("[" + entry(`{"name":"*","instance_ids":["cin_home","cin_work"]}`) + "]"))
	c := catalog(f)
	f.Fuzz(func(t *testing.T, details []byte) {
		r, err := ParseRequest(details)
		if err == nil {
			checkOffer(t, NewOffer(r, c), r, c)
			return
		}
		var e *pdpp.Error
		if !errors.As(err, &e) || e.Code != pdpp.CodeInvalidInput || r != nil {
			t.Fatalf("ParseRequest(%q) = %v, %v", details, r, err)
		}
		if strings.ContainsAny(e.Message, "\n\r\x00") || len(e.Message) > 2000 {
			t.Fatalf("message %.100q…", e.Message)
		}
	})
}
