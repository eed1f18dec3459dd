package mcp

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/rs/resttest"
)

// TestCompact: a call without detail:"full" requests the compact view, and the structured
// output has the answer byte for byte (SCHEMA-1, MS-82, MS-83).
func TestCompact(t *testing.T) {
	t.Run("SCHEMA-1 compact", func(t *testing.T) {
		w := resttest.Ledger(t)
		token, _ := w.Grant(ledgerGrant)
		s := worldSurface(w, token)
		for _, tc := range []struct{ args, target string }{
			{`{}`, "/v1/schema?view=compact"},
			{`{"detail":"compact"}`, "/v1/schema?view=compact"},
			{`{"connection_id":"cin_b2"}`, "/v1/schema?view=compact&connection_id=cin_b2"},
			{`{"stream":"entries"}`, "/v1/schema?view=compact&stream=entries"},
			{`{"stream":"entries","connection_id":"cin_a1"}`, "/v1/schema?view=compact&stream=entries&connection_id=cin_a1"},
		} {
			res := mustDo(t, s, "schema", tc.args)
			sameBody(t, w.Get(token, tc.target), res)
			if strings.Contains(res.Content[0].Text, "projected") || !strings.Contains(string(res.Structured), `"field_capability_legend":{"t":"type"`) {
				t.Errorf("schema %s: %s\n%.300s", tc.args, res.Content[0].Text, res.Structured)
			}
		}
	})
}

// TestFull: full detail is the exhaustive body (SCHEMA-3, MS-86).
func TestFull(t *testing.T) {
	t.Run("SCHEMA-3 full", func(t *testing.T) {
		w := resttest.Ledger(t)
		token, _ := w.Grant(ledgerGrant)
		s := worldSurface(w, token)
		res := mustDo(t, s, "schema", `{"stream":"entries","connection_id":"cin_a1","detail":"full"}`)
		sameBody(t, w.Get(token, "/v1/schema?detail=full&stream=entries&connection_id=cin_a1"), res)
		text := res.Content[0].Text
		golden(t, "schema_ledger_full.txt", text+"\n")
		runnable(t, text)
		if strings.Contains(string(res.Structured), "field_capability_legend") {
			t.Error("a full result carries the legend of compact ones")
		}
	})
}

// TestLedger: one row of a real server has all capabilities (DISC-2, DISC-3, DISC-4).
func TestLedger(t *testing.T) {
	t.Run("DISC-2 DISC-3 DISC-4 ledger", func(t *testing.T) {
		w := resttest.Ledger(t)
		token, _ := w.Grant(ledgerGrant)
		s := worldSurface(w, token)
		for name, args := range map[string]string{
			"ledger": `{}`, "ledger_stream": `{"stream":"entries"}`, "ledger_connection": `{"stream":"entries","connection_id":"cin_a1"}`,
		} {
			text := mustDo(t, s, "schema", args).Content[0].Text
			golden(t, "schema_"+name+".txt", text+"\n")
			runnable(t, text)
		}
	})
}

// TestEnough: the server accepts arguments that are built from the text alone (DISC-4).
func TestEnough(t *testing.T) {
	t.Run("DISC-4 enough", func(t *testing.T) {
		w := resttest.Ledger(t)
		token, _ := w.Grant(ledgerGrant)
		s := worldSurface(w, token)
		text := mustDo(t, s, "schema", `{"stream":"entries","connection_id":"cin_a1"}`).Content[0].Text
		at := func(label string) string {
			_, rest, ok := strings.Cut(text, "\n "+label+": ")
			if !ok {
				t.Fatalf("no line %s in %s", label, text)
			}
			line, _, _ := strings.Cut(rest, "\n")
			return line
		}
		const scope = "?connection_id=cin_a1"
		for field := range strings.SplitSeq(at("fields"), " ") {
			name, flags, _ := strings.Cut(strings.TrimSuffix(field, "]"), "[")
			w.Get(token, "/v1/streams/entries/records"+scope+"&fields="+name).OK()
			for flag := range strings.SplitSeq(flags, ",") {
				kind, values, _ := strings.Cut(flag, "=")
				switch kind {
				case "eq":
					w.Get(token, "/v1/streams/entries/records"+scope+"&filter["+name+"]="+sample(flags)).OK()
				case "r":
					for op := range strings.SplitSeq(values, "|") {
						w.Get(token, "/v1/streams/entries/records"+scope+"&filter["+name+"]["+op+"]="+sample(flags)).OK()
					}
				case "a":
					for agg := range strings.SplitSeq(values, "|") {
						query := "&metric=" + agg + "&field=" + name
						if strings.HasPrefix(agg, "group_by") {
							query = "&metric=count&" + agg + "=" + name
						}
						if agg == "group_by_time" {
							query += "&granularity=month"
						}
						w.Get(token, "/v1/streams/entries/aggregate"+scope+query).OK()
					}
				}
			}
		}
		_, sort, _ := strings.Cut(at("sort"), `default "`)
		sort, _, _ = strings.Cut(sort, `"`)
		w.Get(token, "/v1/streams/entries/records"+scope+"&sort="+sort).OK()
		for kind := range strings.SplitSeq(at("count"), "|") {
			w.Get(token, "/v1/streams/entries/records"+scope+"&count="+kind).OK()
		}
		relation, _, _ := strings.Cut(strings.TrimPrefix(at("expand"), `"`), `"`)
		w.Get(token, "/v1/streams/entries/records"+scope+"&expand="+relation).OK()
		if !strings.HasPrefix(at("aggregation"), "count; ") || at("changes_since") != "yes" || at("search") != "lexical" {
			t.Errorf("text:\n%s", text)
		}
	})
}

// sample returns a value of the type that flags name.
func sample(flags string) string {
	switch {
	case strings.Contains(flags, "t=timestamp"):
		return "2026-01-01T00:00:00Z"
	case strings.Contains(flags, "j=integer"):
		return "5"
	}
	return "x"
}

// TestAmbiguous: a full description of two connections is an error that names both, whether
// the server reports it or not (DISC-6, MS-86).
func TestAmbiguous(t *testing.T) {
	t.Run("DISC-6 ambiguous", func(t *testing.T) {
		const args = `{"stream":"entries","detail":"full"}`
		w := resttest.Ledger(t)
		token, _ := w.Grant(ledgerGrant)
		other := func(status int, body string) *Surface {
			return scripted(t, func(string) (int, string) { return status, body }).Surface
		}
		for name, s := range map[string]*Surface{
			"our server":                 worldSurface(w, token),
			"a server that answers":      other(200, fullBody),
			"a server with its own code": other(409, `{"error":{"code":"ambiguous_connection","message":"Which?","available_connections":[{"connection_id":"cin_a1","connector_key":"ledgerly","stream":"entries"},{"connection_id":"cin_b2","connector_key":"ledgerly","stream":"entries"}]}}`),
			"rows of two connections":    other(200, `{"streams":[{"name":"entries","connector_key":"ledgerly","connection_id":"cin_a1"},{"name":"entries","connector_key":"ledgerly","connection_id":"cin_b2"}]}`),
		} {
			t.Run(name, func(t *testing.T) {
				res := mustFail(t, s, "schema", args, "ambiguous_schema_detail")
				var sc struct {
					Error struct {
						RetryWith string `json:"retry_with"`
						Available []struct {
							ID     string `json:"connection_id"`
							Key    string `json:"connector_key"`
							Stream string
						} `json:"available_connections"`
					}
				}
				if err := json.Unmarshal(res.Structured, &sc); err != nil {
					t.Fatal(err)
				}
				if got := fmt.Sprint(sc.Error.RetryWith, sc.Error.Available); got != "connection_id[{cin_a1 ledgerly entries} {cin_b2 ledgerly entries}]" {
					t.Errorf("choices = %s", got)
				}
				lines := strings.Split(res.Content[0].Text, "\n")
				if len(lines) < 5 || lines[2] != `retry_with "connection_id"` || !strings.HasPrefix(lines[3], `connection "cin_a1" connector_key="ledgerly"`) {
					t.Errorf("text = %q", lines)
				}
			})
		}
	})
}

// TestNarrow: the index of a narrow grant names only what the grant covers (DISC-1).
func TestNarrow(t *testing.T) {
	t.Run("DISC-1 narrow", func(t *testing.T) {
		w := resttest.Ledger(t)
		token, _ := w.Grant(`{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","posted_at"],"connections":["cin_b2"]}]}`)
		text := mustDo(t, worldSurface(w, token), "schema", `{}`).Content[0].Text
		for _, hidden := range []string{"receipts", "cin_a1", "Joint account"} {
			if strings.Contains(text, hidden) {
				t.Errorf("%q is in the text of a grant without it:\n%s", hidden, text)
			}
		}
		if !strings.Contains(text, `stream "entries"`) || !strings.Contains(text, `connection "cin_b2"`) {
			t.Errorf("text:\n%s", text)
		}
	})
}

// sameBody checks that data is the body of an answer, byte for byte.
func sameBody(t *testing.T, want resttest.Answer, res *Result) {
	t.Helper()
	if diff := cmp.Diff(strings.TrimSpace(string(want.OK().Body)), data(t, res)); diff != "" {
		t.Errorf("data differs from the body (-want +got):\n%.1000s", diff)
	}
}
