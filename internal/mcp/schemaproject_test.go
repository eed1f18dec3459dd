package mcp

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// sameJSON compares JSON texts, white space aside.
func sameJSON(t *testing.T, got, want string) {
	t.Helper()
	compact, err := rawjson.Compact(nil, []byte(want))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(compact), got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

const fullBodyIndex = `{"object":"schema","detail":"compact","bearer":{"scope":"grant"},"connector_count":1,"stream_count":2,
 "connectors":[{"connector_key":"ledgerly","stream_count":2,
  "granted_connections":[{"connection_id":"cin_a1","display_name":"Joint account"},{"connection_id":"cin_b2"}],"streams":[
  {"name":"entries","primary_key":["id"],"cursor_field":"posted_at","field_count":3,"search_modes":["lexical"],"aggregate":true},
  {"name":"receipts","field_count":1,"granted_connections":[{"connection_id":"cin_b2"}]}]}],
 "links":{"self":"/v1/schema"},"meta":{"count":{"kind":"none"},"warnings":[]}}`

const fullBodyScoped = `{"object":"schema","detail":"compact","bearer":{"scope":"grant"},"connector_count":1,"stream_count":1,
 "connectors":[{"connector_key":"ledgerly","stream_count":1,
  "granted_connections":[{"connection_id":"cin_a1","display_name":"Joint account"},{"connection_id":"cin_b2"}],"streams":[
  {"name":"entries","primary_key":["id"],"cursor_field":"posted_at","field_capabilities":{"id":"t=string,eq",
    "posted_at":"t=timestamp,role=event-time,eq=unusable:not_indexed,r=gte|lt,a=group_by_time,j=string,fmt=date-time",
    "status":"t=string,g=false,lex,a=unusable:field_not_granted"},
   "expand_capabilities":[{"relation":"receipts","cardinality":"has_many","max_limit":50,"usable":true},{"name":"hidden","usable":false}]}]}],
 "links":{"self":"/v1/schema"},"meta":{"count":{"kind":"none"},"warnings":[]}}`

// TestProjection: the adapter projects the document of a server that ignores or rejects the
// compact view, with flags, scope and connections like the view (SCHEMA-2, MS-84, MS-85,
// MS-90).
func TestProjection(t *testing.T) {
	t.Run("SCHEMA-2 projection", func(t *testing.T) {
		ignores := always(fullBody)
		rejects := func(target string) (int, string) {
			if strings.Contains(target, "view=") {
				return http.StatusBadRequest, `{"error":{"code":"invalid_request","message":"No such view."}}`
			}
			return http.StatusOK, fullBody
		}
		wraps := always(`{"data":` + fullBody + `}`)
		for name, answers := range map[string]func(string) (int, string){"ignores": ignores, "rejects": rejects, "wraps": wraps} {
			t.Run(name, func(t *testing.T) {
				s := scripted(t, answers)
				for args, want := range map[string]string{`{}`: fullBodyIndex, `{"stream":"entries"}`: fullBodyScoped} {
					res := mustDo(t, s.Surface, "schema", args)
					sameJSON(t, data(t, res), want)
					first, _, _ := strings.Cut(res.Content[0].Text, "\n")
					if !strings.HasSuffix(first, " projected=adapter") || !strings.Contains(string(res.Structured), `,"projected":"adapter",`) {
						t.Errorf("schema %s does not say that it is projected: %s", args, first)
					}
				}
			})
		}
		t.Run("one more request", func(t *testing.T) {
			s := scripted(t, rejects)
			mustDo(t, s.Surface, "schema", `{"stream":"entries","connection_id":"cin_a1"}`)
			want := []string{"/v1/schema?view=compact&stream=entries&connection_id=cin_a1", "/v1/schema?stream=entries&connection_id=cin_a1"}
			if diff := cmp.Diff(want, s.sent.take()); diff != "" {
				t.Errorf("requests (-want +got):\n%s", diff)
			}
		})
		t.Run("other errors are final", func(t *testing.T) {
			s := scripted(t, func(string) (int, string) {
				return http.StatusForbidden, `{"error":{"code":"grant_stream_not_allowed","message":"No."}}`
			})
			res := mustFail(t, s.Surface, "schema", `{"stream":"letters"}`, "grant_stream_not_allowed")
			runnable(t, res.Content[0].Text)
			if asked := s.sent.take(); len(asked) != 1 {
				t.Errorf("requests %q", asked)
			}
		})
	})
}

// TestUnwrapped: a compact document inside data is the document (MS-83).
func TestUnwrapped(t *testing.T) {
	t.Run("SCHEMA-1 unwrapped", func(t *testing.T) {
		res := mustDo(t, scripted(t, always(`{"data":`+indexBody+`}`)).Surface, "schema", `{}`)
		sameJSON(t, data(t, res), indexBody)
	})
}

// TestBounded: for a document of any size, the result of discovery is an index within its
// budget, with every stream and no fields (DISC-7, MS-84, MS-85).
func TestBounded(t *testing.T) {
	t.Run("DISC-7 bounded", func(t *testing.T) {
		for name, tc := range map[string]struct {
			body  string
			holds string
		}{
			"flags of all streams":  {strings.Replace(wideBody(12, 70), `"entries"`, `"entries_0"`, 1), `"field_count":70`},
			"names of many streams": {manyBody(60, 16, 2), `"stream_names":["stream_0_0",`},
		} {
			t.Run(name, func(t *testing.T) {
				if len(tc.body) <= limits.SchemaStructuredMax {
					t.Fatalf("the document has only %d bytes", len(tc.body))
				}
				res := mustDo(t, scripted(t, always(tc.body)).Surface, "schema", `{}`)
				if n := len(res.Structured); n > limits.SchemaStructuredMax {
					t.Errorf("structured output has %d bytes", n)
				}
				got := data(t, res)
				if strings.Contains(got, "field_capabilities") || !strings.Contains(got, tc.holds) {
					t.Errorf("data = %.600s", got)
				}
				for _, r := range rowsOf(tc.body) {
					if !strings.Contains(got, quote.ID(r.Name)) || !strings.Contains(res.Content[0].Text, r.Name) {
						t.Fatalf("stream %s is missing", r.Name)
					}
				}
			})
		}
	})
}

// TestScopedBudget: rows lose their fields, the last rows first, until the document fits, and
// count them (MS-85).
func TestScopedBudget(t *testing.T) {
	t.Run("SCHEMA-2 scoped budget", func(t *testing.T) {
		res := mustDo(t, scripted(t, always(wideBody(10, 70))).Surface, "schema", `{"stream":"entries"}`)
		if n := len(res.Structured); n > limits.SchemaStructuredMax || n < limits.SchemaStructuredMax/2 {
			t.Errorf("structured output has %d bytes", n)
		}
		var doc struct {
			Connectors []struct {
				Streams []struct {
					Fields map[string]string `json:"field_capabilities"`
					More   int               `json:"more_fields"`
				}
			}
		}
		if err := json.Unmarshal([]byte(data(t, res)), &doc); err != nil {
			t.Fatal(err)
		}
		var shape strings.Builder
		for _, c := range doc.Connectors {
			row := c.Streams[0]
			if len(row.Fields)+row.More != 70 {
				t.Errorf("a row has %d fields and counts %d", len(row.Fields), row.More)
			}
			fmt.Fprint(&shape, map[bool]string{true: "F", false: "-"}[len(row.Fields) > 0])
		}
		if got := shape.String(); !strings.HasPrefix(got, "FFF") || !strings.HasSuffix(got, "--") || strings.Contains(got, "-F") {
			t.Errorf("rows with fields: %s", got)
		}
	})
}

// TestFullNeedsStream: full detail of everything is refused without a request
// (DISC-5, D8).
func TestFullNeedsStream(t *testing.T) {
	t.Run("DISC-5 full needs stream", func(t *testing.T) {
		s := scripted(t, always(fullBody))
		res := mustFail(t, s.Surface, "schema", `{"detail":"full","connection_id":"cin_a1"}`, "invalid_request")
		text := res.Content[0].Text
		runnable(t, text)
		if !strings.Contains(text, `schema(stream, connection_id, detail:\"full\")`) || !strings.Contains(text, `param="detail"`) {
			t.Errorf("text = %s", text)
		}
		if asked := s.sent.take(); len(asked) != 0 {
			t.Errorf("the server was asked %q", asked)
		}
	})
}

// TestFullScope: a full result has the matching rows only, each once, directly under data, as
// received (DISC-6, MS-86).
func TestFullScope(t *testing.T) {
	t.Run("DISC-6 full scope", func(t *testing.T) {
		compact, err := rawjson.Compact(nil, []byte(fullRows[:strings.LastIndex(fullRows, "\n {")-1]))
		if err != nil {
			t.Fatal(err)
		}
		s := scripted(t, always(`{"data":`+fullBody+`}`))
		res := mustDo(t, s.Surface, "schema", `{"stream":"entries","connection_id":"cin_a1","detail":"full"}`)
		sameJSON(t, data(t, res), `{"object":"schema","bearer":{"scope":"grant"},"connector_count":1,"stream_count":1,
		"connectors":[{"connector_id":"ledgerly","display_name":"Ledgerly","streams":[`+string(compact)+`]}],
		"links":{"self":"/v1/schema"},"meta":{"count":{"kind":"none"},"warnings":[]}}`)
		if diff := cmp.Diff([]string{"/v1/schema?detail=full&stream=entries&connection_id=cin_a1"}, s.sent.take()); diff != "" {
			t.Errorf("requests (-want +got):\n%s", diff)
		}
	})
}

// TestTooLarge: a full document beyond its budget is an error with a recovery call.
func TestTooLarge(t *testing.T) {
	t.Run("DISC-6 too large", func(t *testing.T) {
		body := `{"object":"schema","connectors":[{"connector_key":"a","streams":[{"name":"entries","schema":{"x":"` + strings.Repeat("y", limits.FullStructuredMax) + `"}}]}]}`
		res := mustFail(t, scripted(t, always(body)).Surface, "schema", `{"stream":"entries","detail":"full"}`, "schema_too_large")
		runnable(t, res.Content[0].Text)
		if !strings.Contains(res.Content[0].Text, `next: schema {"stream":"entries"}`) {
			t.Errorf("text = %s", res.Content[0].Text)
		}
	})
}

// TestSchemaRecorded: compact documents of another server are passed on unchanged, and their
// texts name what is unstated.
func TestSchemaRecorded(t *testing.T) {
	for name, args := range map[string]string{"schema-compact": `{}`, "schema-stream": `{"stream":"messages"}`} {
		t.Run(name, func(t *testing.T) {
			body := recorded(t, name)
			res := mustDo(t, scripted(t, always(body)).Surface, "schema", args)
			sameJSON(t, data(t, res), body)
			text := res.Content[0].Text
			compact, err := rawjson.Compact(nil, []byte(body))
			if err != nil {
				t.Fatal(err)
			}
			rows := rsclient.SchemaOf(compact).Rows()
			if len(rows) == 0 {
				t.Error("the recording has no rows")
			}
			for _, row := range rows {
				if !strings.Contains(text, quote.ID(row.Name)) {
					t.Errorf("stream %s is not in the text:\n%s", row.Name, text)
				}
			}
			if name == "schema-stream" && !strings.Contains(text, "unstated") {
				t.Errorf("the text does not say what is not stated:\n%s", text)
			}
			runnable(t, text)
		})
	}
}
