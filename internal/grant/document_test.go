package grant

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"pdpp"
)

// sample is the complete object of G-1, as Document writes it.
const sample = `{"version":"0.1.0","grant_id":"grt_5c","issued_at":"2026-02-02T10:00:00.000Z","subject":{"id":"own_77"},` +
	`"client":{"client_id":"cli_tally","client_display":{"name":"Tally"}},` +
	`"source":{"kind":"connector","id":"https://reg.acme.test/c/ledgerly"},"source_declaration":{"version":"2026-02-01","digest":"ab12"},` +
	`"purpose_code":"https://pdpp.dev/purpose/analytics","purpose_description":"Budget charts","access_mode":"continuous",` +
	`"streams":[{"name":"entries","instance_ids":["cin_a1","cin_b2"],"fields":["id","memo","posted_at"],` +
	`"time_constraint":{"field":"posted_at","since":"2025-01-01T00:00:00Z","until":"2027-01-01T00:00:00.000000001Z"},"resources":["ent_31"]}],` +
	`"retention":{"max_duration":"P6M","on_expiry":"delete"},"expires_at":"2026-08-02T10:00:00.000Z"}`

func TestDocument(t *testing.T) {
	g, err := ParseDocument([]byte(sample), "ledgerly")
	if err != nil {
		t.Fatal(err)
	}
	if g.ConnectorKey != "ledgerly" {
		t.Errorf("ConnectorKey = %q", g.ConnectorKey)
	}
	if got := string(Document(g)); got != sample {
		t.Errorf("Document (-want +got):\n%s", cmp.Diff(sample, got))
	}
}

// Members that G-1 does not require may be missing.
func TestMinimalDocument(t *testing.T) {
	const minimal = `{"version":"0.1.0","grant_id":"g","issued_at":"2026-02-02T10:00:00Z","subject":{"id":"s"},"client":{"client_id":"c"},` +
		`"source":{"kind":"connector","id":"i"},"source_declaration":{"version":"1"},"purpose_code":"p","access_mode":"single_use",` +
		`"streams":[{"name":"n","instance_ids":["c"],"fields":["f"]}]}`
	g, err := ParseDocument([]byte(minimal), "k")
	if err != nil {
		t.Fatal(err)
	}
	if !g.ExpiresAt.IsZero() || g.Retention != nil || g.Streams[0].Time != nil || g.Streams[0].Resources != nil {
		t.Errorf("ParseDocument added something: %+v", g)
	}
	if doc := string(Document(g)); !strings.HasSuffix(doc, `,"expires_at":null}`) {
		t.Errorf("Document = %s, want expires_at null (G-3)", doc)
	}
}

// TestParseDocumentErrors changes one part of the sample at a time (G-4).
func TestParseDocumentErrors(t *testing.T) {
	tests := []struct{ name, old, new string }{
		{"version", `"version":"0.1.0"`, `"version":"0.2.0"`},
		{"no version", `"version":"0.1.0",`, ``},
		{"no grant id", `"grant_id":"grt_5c",`, ``},
		{"empty grant id", `"grt_5c"`, `""`},
		{"no issue time", `"issued_at":"2026-02-02T10:00:00.000Z",`, ``},
		{"issue time", `2026-02-02T10:00:00.000Z`, `now`},
		{"no subject", `"subject":{"id":"own_77"},`, ``},
		{"no client id", `"client_id":"cli_tally",`, ``},
		{"no source", `"source":{"kind":"connector","id":"https://reg.acme.test/c/ledgerly"},`, ``},
		{"source kind", `"kind":"connector"`, `"kind":"other"`},
		{"no declaration", `"source_declaration":{"version":"2026-02-01","digest":"ab12"},`, ``},
		{"no purpose", `"purpose_code":"https://pdpp.dev/purpose/analytics",`, ``},
		{"no mode", `"access_mode":"continuous",`, ``},
		{"mode", `"continuous"`, `"always"`},
		{"wildcard", `"name":"entries"`, `"name":"*"`},
		{"stream name", `"name":"entries"`, `"name":"a..b"`},
		{"stream twice", `"streams":[`, `"streams":[{"name":"entries","instance_ids":["c"],"fields":["id"]},`},
		{"view", `"fields":["id","memo","posted_at"]`, `"view":"brief"`},
		{"no connections", `"instance_ids":["cin_a1","cin_b2"],`, ``},
		{"empty connections", `["cin_a1","cin_b2"]`, `[]`},
		{"connection twice", `["cin_a1","cin_b2"]`, `["cin_a1","cin_a1"]`},
		{"connection id", `["cin_a1","cin_b2"]`, `["*"]`},
		{"empty fields", `["id","memo","posted_at"]`, `[]`},
		{"null fields", `["id","memo","posted_at"]`, `null`},
		{"field twice", `["id","memo","posted_at"]`, `["id","id"]`},
		{"field of another type", `["id","memo","posted_at"]`, `["id",1]`},
		{"null constraint", `{"field":"posted_at","since":"2025-01-01T00:00:00Z","until":"2027-01-01T00:00:00.000000001Z"}`, `null`},
		{"constraint without field", `"field":"posted_at",`, ``},
		{"constraint without bounds", `,"since":"2025-01-01T00:00:00Z","until":"2027-01-01T00:00:00.000000001Z"`, ``},
		{"bounds reversed", `"2025-01-01T00:00:00Z"`, `"2028-01-01T00:00:00Z"`},
		{"relative bound", `"2025-01-01T00:00:00Z"`, `"-30d"`},
		{"null bound", `"2025-01-01T00:00:00Z"`, `null`},
		{"bound equal to the zero time", `"2027-01-01T00:00:00.000000001Z"`, `"0001-01-01"`},
		{"null resources", `["ent_31"]`, `null`},
		{"empty resources", `["ent_31"]`, `[]`},
		{"too many resources", `["ent_31"]`, many(1001)},
		{"resource id", `"ent_31"`, `"."`},
		{"resource twice", `["ent_31"]`, `["a","a"]`},
		{"retention", `"P6M"`, `"6M"`},
		{"expiry", `"2026-08-02T10:00:00.000Z"`, `"never"`},
		{"key twice", `"access_mode"`, `"expires_at":null,"access_mode"`},
		{"trailing text", `"expires_at":"2026-08-02T10:00:00.000Z"}`, `"expires_at":null} {}`},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			doc := strings.Replace(sample, tt.old, tt.new, 1)
			if doc == sample {
				t.Fatalf("the sample does not contain %s", tt.old)
			}
			wantGrantInvalid(t, doc)
		})
	}
}

// wantGrantInvalid checks that a document is rejected, and that the message reveals
// nothing of it.
func wantGrantInvalid(t *testing.T, doc string) {
	t.Helper()
	g, err := ParseDocument([]byte(doc), "ledgerly")
	var e *pdpp.Error
	if !errors.As(err, &e) || g != nil || e.Code != pdpp.CodeGrantInvalid {
		t.Fatalf("ParseDocument(%s) = %v, %v, want %s", doc, g, err, pdpp.CodeGrantInvalid)
	}
	for _, secret := range []string{"entries", "ent_31", "cin_", "own_77", "memo"} {
		if strings.Contains(e.Message+e.NextStep, secret) {
			t.Errorf("message %q contains %q", e.Message, secret)
		}
	}
	if e.Err == nil {
		t.Error("the error has no cause for the log")
	}
}

// An unknown key is rejected in each object of the document.
func TestParseDocumentUnknownKeys(t *testing.T) {
	objects := 0
	for i := range len(sample) {
		if sample[i] != '{' {
			continue
		}
		objects++
		wantGrantInvalid(t, sample[:i+1]+`"extra":null,`+sample[i+1:])
	}
	if objects != 9 {
		t.Errorf("the sample has %d objects, want 9", objects)
	}
}

func TestAppendDetail(t *testing.T) {
	g, err := ParseDocument([]byte(sample), "ledgerly")
	if err != nil {
		t.Fatal(err)
	}
	const want = `[{"type":"https://pdpp.dev/data-access","grant_id":"grt_5c","access_mode":"continuous",` +
		`"purpose_code":"https://pdpp.dev/purpose/analytics","purpose_description":"Budget charts",` +
		`"retention":{"max_duration":"P6M","on_expiry":"delete"},` +
		`"source":{"kind":"connector","id":"https://reg.acme.test/c/ledgerly","connector_key":"ledgerly"},` +
		`"streams":[{"name":"entries","instance_ids":["cin_a1","cin_b2"],"fields":["id","memo","posted_at"],` +
		`"time_constraint":{"field":"posted_at","since":"2025-01-01T00:00:00Z","until":"2027-01-01T00:00:00.000000001Z"},"resources":["ent_31"]}],` +
		`"expires_at":"2026-08-02T10:00:00.000Z"}`
	if got := string(AppendDetail([]byte("["), g)); got != want {
		t.Errorf("AppendDetail (-want +got):\n%s", cmp.Diff(want, got))
	}
	minimal := mustFreeze(t, one(`{"name":"contacts","connections":["home"]}`))
	var detail map[string]any
	if err := json.Unmarshal(AppendDetail(nil, minimal), &detail); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"purpose_description", "retention", "expires_at", "subject", "client"} {
		if _, ok := detail[key]; ok {
			t.Errorf("detail has %s", key)
		}
	}
}

// An empty constraint is stored, and then makes the grant invalid.
func TestDocumentKeepsEmptyConstraints(t *testing.T) {
	for _, s := range []pdpp.GrantStream{
		{Resources: []pdpp.RecordID{}}, {Time: &pdpp.TimeConstraint{Field: "sent_at"}},
	} {
		g := mustFreeze(t, one(`{"name":"contacts","connections":["home"]}`))
		g.Streams[0].Resources, g.Streams[0].Time = s.Resources, s.Time
		if _, err := ParseDocument(Document(g), "mail"); pdpp.CodeOf(err) != pdpp.CodeGrantInvalid {
			t.Errorf("ParseDocument of %+v = %v, want %s", s, err, pdpp.CodeGrantInvalid)
		}
	}
}

func TestDocumentRoundTrip(t *testing.T) {
	cat := testCatalog(t)
	rapid.Check(t, func(t *rapid.T) {
		want := drawGrant(t, cat)
		got, err := ParseDocument(Document(want), want.ConnectorKey)
		if err != nil {
			t.Fatalf("ParseDocument(%s): %v", Document(want), err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatalf("round trip (-want +got):\n%s", diff)
		}
		if !json.Valid(AppendDetail(nil, want)) {
			t.Fatalf("AppendDetail = %s, which is not JSON", AppendDetail(nil, want))
		}
	})
}

func BenchmarkParseDocument(b *testing.B) {
	g, err := ParseDocument([]byte(sample), "ledgerly")
	if err != nil {
		b.Fatal(err)
	}
	s := g.Streams[0]
	for i := range 19 {
		s.Name = fmt.Sprintf("stream%d", i)
		g.Streams = append(g.Streams, s)
	}
	doc := Document(g)
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := ParseDocument(doc, "ledgerly"); err != nil {
			b.Fatal(err)
		}
	}
}
