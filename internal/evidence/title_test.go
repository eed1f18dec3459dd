package evidence

import (
	"encoding/base64"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// emitted is the arrival time of all test records.
var emitted = time.Date(2026, 5, 1, 8, 0, 0, 0, time.UTC)

// roles returns a presentation for "role=field" pairs; "time=field" adds a time
// field and "blob=field" a blob reference.
func roles(pairs ...string) *Presentation {
	p := &Presentation{Roles: make(map[pdpp.Role][]string), BlobFields: make(map[string]bool)}
	for _, pair := range pairs {
		role, field, _ := strings.Cut(pair, "=")
		switch role {
		case "time":
			p.TimeFields = append(p.TimeFields, field)
		case "blob":
			p.BlobFields[field] = true
		default:
			p.Roles[pdpp.Role(role)] = append(p.Roles[pdpp.Role(role)], field)
		}
	}
	return p
}

// entry returns a record of the sample stream.
func entry(data string, declared ...string) *Record {
	r := &Record{
		Stream: "entries", ID: "ent_31", ConnectionID: "cin_a1", ConnectorKey: "ledgerly",
		ConnectorDisplayName: "Ledgerly", DisplayName: "Joint account", EmittedAt: emitted,
		Presentation: roles(declared...),
	}
	r.SetData([]byte(data))
	return r
}

func TestTitle(t *testing.T) {
	const fallback = "Joint account / entries / received 2026-05-01T08:00:00.000Z"
	binary := base64.StdEncoding.EncodeToString(octets(600))
	long := strings.Repeat("漢", 130)
	for name, tt := range map[string]struct {
		data     string
		declared []string
		want     Title
	}{
		"EX-3 role":           {`{"title":"no","memo":"April rent"}`, []string{"primary-title=memo"}, Title{"April rent", SourceRole, "memo", false}},
		"EX-3 role, German":   {`{"betreff":"Miete für März"}`, []string{"primary-title=betreff"}, Title{"Miete für März", SourceRole, "betreff", false}},
		"EX-3 role, Japanese": {`{"kenmei":"四月の家賃"}`, []string{"primary-title=kenmei"}, Title{"四月の家賃", SourceRole, "kenmei", false}},
		"EX-3 name":           {`{"memo":"x","title":"April rent"}`, nil, Title{"April rent", SourceName, "title", false}},
		"EX-3 role without value falls to name": {
			`{"memo":" \n ","title":"T"}`, []string{"primary-title=memo"}, Title{"T", SourceName, "title", false},
		},
		"EX-3 role not projected":      {`{"title":"T"}`, []string{"primary-title=memo"}, Title{"T", SourceName, "title", false}},
		"EX-3 null":                    {`{"title":null}`, nil, Title{fallback, SourceFallback, "", false}},
		"EX-3 number":                  {`{"title":7}`, nil, Title{fallback, SourceFallback, "", false}},
		"EX-3 fallback":                {`{"id":"ent_31"}`, nil, Title{fallback, SourceFallback, "", false}},
		"EVID-1 no guess":              {`{"subject":"a","name":"b","headline":"c","Title":"d","text":"e"}`, nil, Title{fallback, SourceFallback, "", false}},
		"EVID-1 other roles":           {`{"a":"b"}`, []string{"secondary=a", "primary-text=a", "title=a"}, Title{fallback, SourceFallback, "", false}},
		"FANIN-1 authored before emit": {`{"sent_at":"2026-04-30"}`, nil, Title{"Joint account / entries / 2026-04-30", SourceFallback, "", false}},
		"EX-3 white space":             {`{"title":"  a\n\t b\u2028\u00a0c\r\n"}`, nil, Title{"a b c", SourceName, "title", false}},
		"EX-3 120 characters":          {`{"title":"` + long[:120*3] + ` "}`, nil, Title{long[:120*3], SourceName, "title", false}},
		"EX-3 cut":                     {`{"title":"` + long + `"}`, nil, Title{long[:120*3] + "…", SourceName, "title", true}},
		"EX-3 cut at a space":          {`{"title":"` + long[:119*3] + ` b"}`, nil, Title{long[:119*3] + "…", SourceName, "title", true}},
		"EX-3 literally an ellipsis":   {`{"title":"…"}`, nil, Title{"…", SourceName, "title", false}},
		"EX-7 controls":                {`{"title":"a\u0000\u001b[31mb\u202ec\u0085\u061cd"}`, nil, Title{"a[31mbc d", SourceName, "title", false}},
		"EX-7 only controls":           {`{"title":"\u202e\u0007"}`, nil, Title{fallback, SourceFallback, "", false}},
		"D15 escapes":                  {`{"title":"\ud83d\ude00 \"q\""}`, nil, Title{"😀 \"q\"", SourceName, "title", false}},
		"BINARY-1 base64":              {`{"title":"` + binary + `"}`, nil, Title{fallback, SourceFallback, "", false}},
		"EVID-2 object":                {`{"title":{"blob_id":"b"}}`, []string{"blob=title"}, Title{fallback, SourceFallback, "", false}},
	} {
		t.Run(name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, TitleOf(entry(tt.data, tt.declared...))); diff != "" {
				t.Errorf("TitleOf(%.200s) (-want +got):\n%s", tt.data, diff)
			}
		})
	}
}

func TestTitleLabels(t *testing.T) {
	at := " / entries / received 2026-05-01T08:00:00.000Z"
	for _, tt := range []struct {
		name string
		edit func(*Record)
		want string
	}{
		{"EX-3 display name", func(*Record) {}, "Joint account" + at},
		{"EX-3 connector display name", func(r *Record) { r.DisplayName = "" }, "Ledgerly" + at},
		{"EX-3 blank label", func(r *Record) { r.DisplayName = "\u202e " }, "Ledgerly" + at},
		{"EX-3 connector key", func(r *Record) { r.DisplayName, r.ConnectorDisplayName = "", "" }, "ledgerly" + at},
		{"MS-61 connection id", func(r *Record) { r.DisplayName, r.ConnectorDisplayName, r.ConnectorKey = "", "", "" }, "cin_a1" + at},
		{"EX-3 parts that exist", func(r *Record) { *r = Record{Stream: "entries"} }, "entries"},
		{"MS-61 no identity", func(r *Record) { *r = Record{} }, ""},
		{"EX-3 long label", func(r *Record) { r.DisplayName = strings.Repeat("ü", 200) }, strings.Repeat("ü", 120) + "…"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r := entry(`{}`)
			tt.edit(r)
			if got := TitleOf(r); got.Text != tt.want || got.Source != SourceFallback {
				t.Errorf("TitleOf = %+v, want the fallback %q", got, tt.want)
			}
		})
	}
}

func TestTitleOfPreview(t *testing.T) {
	r := entry(`{"memo":"Paid by standing","lines":"[1,2"}`, "primary-title=lines", "primary-title=memo")
	r.Truncated = map[string]*Truncation{
		"memo":  {TotalChars: 5000, ShownChars: 16},
		"lines": {TotalChars: 5000, ShownChars: 4, AsJSON: true},
	}
	want := Title{"Paid by standing…", SourceRole, "memo", true}
	if diff := cmp.Diff(want, TitleOf(r)); diff != "" {
		t.Errorf("REC-39 title of a preview (-want +got):\n%s", diff)
	}
}

func TestEventTime(t *testing.T) {
	arrival := EventTime{"2026-05-01T08:00:00.000Z", SourceEnvelope, ""}
	for name, tt := range map[string]struct {
		data     string
		declared []string
		want     EventTime
	}{
		"EX-4 role":                 {`{"at":"2026-04-30T09:00:00Z","sent_at":"2026-01-01"}`, []string{"event-time=at", "time=sent_at"}, EventTime{"2026-04-30T09:00:00Z", SourceRole, "at"}},
		"EX-4 as stored":            {`{"at":"2026-04-30T09:00:00.5+02:00"}`, []string{"event-time=at"}, EventTime{"2026-04-30T09:00:00.5+02:00", SourceRole, "at"}},
		"EX-4 consent time first":   {`{"c":"2026-02-02","d":"2026-03-03"}`, []string{"time=d", "time=c"}, EventTime{"2026-03-03", SourceStream, "d"}},
		"EX-4 cursor not a time":    {`{"seq":12,"created_at":"2026-02-02"}`, []string{"time=seq"}, EventTime{"2026-02-02", SourceName, "created_at"}},
		"EX-4 broken role":          {`{"at":"yesterday","d":"2026-03-03"}`, []string{"event-time=at", "time=d"}, EventTime{"2026-03-03", SourceStream, "d"}},
		"EX-4 names in order":       {`{"updated_at":"2026-01-05","occurred_at":"2026-01-04","created_at":"2026-01-03","authored_at":"2026-01-02"}`, nil, EventTime{"2026-01-02", SourceName, "authored_at"}},
		"EX-4 first that is a time": {`{"sent_at":"soon","created_at":"","occurred_at":"2026-01-04"}`, nil, EventTime{"2026-01-04", SourceName, "occurred_at"}},
		"EX-4 without offset":       {`{"sent_at":"2026-04-30T09:00:00"}`, nil, EventTime{"2026-04-30T09:00:00", SourceName, "sent_at"}},
		"EX-4 role not projected":   {`{}`, []string{"event-time=at", "time=d"}, arrival},
		"EX-4 envelope":             {`{}`, nil, arrival},
		"FANIN-1 sent before emit":  {`{"sent_at":"2026-01-01"}`, nil, EventTime{"2026-01-01", SourceName, "sent_at"}},
		"EVID-1 no other name":      {`{"date":"2026-01-01","timestamp":"2026-01-01","sentAt":"2026-01-01"}`, nil, arrival},
		"C-34 numbers":              {`{"sent_at":1767225600}`, nil, arrival},
		"C-34 surrounding space":    {`{"sent_at":" 2026-01-01"}`, nil, arrival},
	} {
		t.Run(name, func(t *testing.T) {
			got := EventTimeOf(entry(tt.data, tt.declared...))
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("EventTimeOf(%s) (-want +got):\n%s", tt.data, diff)
			}
			if got.IsAuthored() != (got != arrival) {
				t.Errorf("Q-8 IsAuthored = %v for %+v", got.IsAuthored(), got)
			}
		})
	}
}

func TestNamesInEnvelope(t *testing.T) {
	r := entry(`{"created_at":"2026-02-02"}`)
	r.Envelope = []byte(`{"title":"From the hit","sent_at":"2026-01-01","created_at":"2020-01-01"}`)
	if got := TitleOf(r); got.Text != "From the hit" || got.Source != SourceName {
		t.Errorf("MS-61 title = %+v, want that of the envelope", got)
	}
	if got := EventTimeOf(r); got.Value != "2026-01-01" || got.Field != "sent_at" {
		t.Errorf("MS-61 event time = %+v, want sent_at of the envelope", got)
	}
	r.SetData([]byte(`{"title":null,"sent_at":null,"created_at":"2026-02-02"}`))
	if got := TitleOf(r); got.Source != SourceFallback {
		t.Errorf("MS-61 title = %+v, but the record has the name", got)
	}
	if got := EventTimeOf(r); got.Value != "2026-02-02" {
		t.Errorf("MS-61 event time = %+v, want created_at of the record", got)
	}
}

func TestUnknownTime(t *testing.T) {
	if got := EventTimeOf(&Record{}); got != (EventTime{}) || got.IsAuthored() {
		t.Errorf("EventTimeOf(&Record{}) = %+v, authored %v", got, got.IsAuthored())
	}
}
