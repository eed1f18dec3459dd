package mcp

import (
	"fmt"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"pdpp/internal/mcp/limits"
)

// fanOut returns a server that applies the limit to each connection, merges the rows and
// sends no cursor; with a connection it pages (IO-5).
func fanOut(size int, connections ...string) func(string) (int, string) {
	return func(target string) (int, string) {
		u, err := url.Parse(target)
		if err != nil {
			panic(err)
		}
		q := u.Query()
		limit, from := 25, 0
		if s := q.Get("limit"); s != "" {
			limit, _ = strconv.Atoi(s)
		}
		if s := q.Get("cursor"); s != "" {
			from, _ = strconv.Atoi(s)
		}
		one := q.Get("connection_id")
		var rows []string
		for _, c := range connections {
			if one != "" && one != c {
				continue
			}
			for i := from; i < min(from+limit, size); i++ {
				rows = append(rows, fmt.Sprintf(`{"object":"record","id":"%s-%d","stream":"entries","connection_id":%q,"data":{"memo":"note %d"}}`, c, i, c, i))
			}
		}
		tail := `,"has_more":false,"meta":{"warnings":[{"code":"partial_results","message":"Several connections."}]}}`
		if one != "" {
			tail = `,"has_more":false}`
			if from+limit < size {
				tail = fmt.Sprintf(`,"has_more":true,"next_cursor":"%d"}`, from+limit)
			}
		}
		return http.StatusOK, `{"object":"list","data":[` + strings.Join(rows, ",") + `]` + tail
	}
}

var offeredCall = regexp.MustCompile(`(?m)^next: query_records (\{.*\})`)

// TestCONT1EveryRecordOfAFanOut follows the calls of texts until none is new: that ends, and
// shows every record.
func TestCONT1EveryRecordOfAFanOut(t *testing.T) {
	for _, args := range []string{`{"stream":"entries","limit":6}`, `{"stream":"entries"}`, `{"stream":"entries","limit":100}`} {
		t.Run("CONT-1 "+args, func(t *testing.T) {
			s := scripted(t, fanOut(60, "cin_a", "cin_b", "cin_c"))
			todo, asked, seen := []string{args}, map[string]bool{}, map[string]bool{}
			for len(todo) > 0 {
				call := todo[0]
				if todo = todo[1:]; asked[call] {
					continue
				}
				if asked[call] = true; len(asked) > 100 {
					t.Fatalf("no end after %d calls, the last is %s", len(asked), call)
				}
				got := text(mustDo(t, s.Surface, "query_records", call))
				for _, m := range regexp.MustCompile(`entries:(cin_.-\d+)`).FindAllStringSubmatch(got, -1) {
					seen[m[1]] = true
				}
				for _, m := range offeredCall.FindAllStringSubmatch(got, -1) {
					todo = append(todo, m[1])
				}
			}
			if len(seen) != 180 {
				t.Errorf("%d of 180 records were shown in %d calls", len(seen), len(asked))
			}
		})
	}
}

func TestSplitPages(t *testing.T) {
	t.Run("CONT-1 structured output names the connections to read", func(t *testing.T) {
		s := scripted(t, fanOut(60, "cin_a", "cin_b"))
		res := mustDo(t, s.Surface, "query_records", `{"stream":"entries","limit":6}`)
		conforms(t, "query_records", res.Structured)
		if got := fmt.Sprint(find(t, res.Structured, "next_connections")); got != "[cin_a cin_b]" {
			t.Errorf("next_connections %s", got)
		}
		if got := find(t, res.Structured, "next.args.connection_id"); got != "cin_a" {
			t.Errorf("next %v", got)
		}
	})
	t.Run("CONT-1 a list that says it has more, without a cursor", func(t *testing.T) {
		s := scripted(t, always(`{"data":[{"id":"1","stream":"entries","connection_id":"cin_a","data":{}}],"has_more":true}`))
		got := text(mustDo(t, s.Surface, "query_records", `{"stream":"entries","limit":5}`))
		if !strings.Contains(got, "\nnext: query_records {\"stream\":\"entries\",\"limit\":5,\"connection_id\":\"cin_a\"}\n") {
			t.Errorf("text\n%s", got)
		}
	})
	t.Run("CONT-1 many connections are counted", func(t *testing.T) {
		var many []string
		for i := range 60 {
			many = append(many, fmt.Sprintf("cin_%s_%d", strings.Repeat("x", 100), i))
		}
		s := scripted(t, fanOut(3, many...))
		got := text(mustDo(t, s.Surface, "query_records", `{"stream":"entries","limit":1}`))
		if !regexp.MustCompile(`(?m)^more_connections=\d+; schema \{\} lists them$`).MatchString(got) || len(got) > limits.QueryTextMax {
			t.Errorf("%d bytes\n%s", len(got), got)
		}
	})
	t.Run("CONT-1 no call repeats itself", func(t *testing.T) {
		var rows []string
		for i := range 150 {
			rows = append(rows, fmt.Sprintf(`{"id":"%d","stream":"entries","data":{}}`, i))
		}
		s := scripted(t, always(`{"data":[`+strings.Join(rows, ",")+`]}`))
		got := text(mustDo(t, s.Surface, "query_records", `{"stream":"entries","limit":100}`))
		if offeredCall.MatchString(got) || !strings.Contains(got, "\nnext: schema {\"stream\":\"entries\"} shows what to narrow this call with\n") {
			t.Errorf("text\n%s", got)
		}
	})
}

func TestFetchOfAnotherRecord(t *testing.T) {
	s := scripted(t, always(`{"object":"record","id":"other","stream":"entries","connection_id":"cin_a","data":{"memo":"not yours"}}`))
	for tool, args := range map[string]string{
		"fetch":             `{"id":"cin_a/entries:asked"}`,
		"read_record_field": `{"id":"cin_a/entries:asked","field_path":"memo"}`,
	} {
		t.Run("ID-2 "+tool, func(t *testing.T) {
			res := mustFail(t, s.Surface, tool, args, "upstream_invalid")
			if strings.Contains(text(res)+string(res.Structured), "not yours") {
				t.Errorf("%s", res.Structured)
			}
		})
	}
}

// TestRecordedRefusals: real answers of the other implementation, a record and the refusal of
// a filter.
func TestRecordedRefusals(t *testing.T) {
	t.Run("ID-2 a recorded record under another id", func(t *testing.T) {
		s := newScript(t)
		s.says("/v1/streams/messages/records/asked", recorded(t, "record"), false)
		mustFail(t, s.Surface, "fetch", `{"id":"cin_gmail_work/messages:asked"}`, "upstream_invalid")
	})
	t.Run("ERR-1 a recorded refusal of a filter", func(t *testing.T) {
		s := newScript(t)
		s.says("/v1/streams/messages/records", "400 "+recorded(t, "records-filter-client-rejected"), false)
		res := mustFail(t, s.Surface, "query_records", `{"stream":"messages","filter":{"is_flagged":true}}`, "invalid_request")
		if !strings.Contains(text(res), "\nnext: query_records {\"stream\":\"messages\"}\n") {
			t.Errorf("text\n%s", text(res))
		}
	})
}
