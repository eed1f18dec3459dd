package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"pdpp/internal/mcp/limits"
	"pdpp/internal/mcp/quote"
	"pdpp/internal/rawjson"
)

// drawSchema draws a compact or full document of any size and with any names.
func drawSchema(rt *rapid.T) string {
	name := rapid.OneOf(awkwardName(), rapid.StringMatching(`[a-z_]{1,40}`), rapid.SampledFrom([]string{"entries", "messages"}))
	text := func(label string) string { return string(rawjson.AppendString(nil, name.Draw(rt, label))) }
	list := func(label string, most int, item func() string) string {
		var items []string
		for range rapid.IntRange(0, most).Draw(rt, label) {
			items = append(items, item())
		}
		return "[" + strings.Join(items, ",") + "]"
	}
	connection := func() string {
		return `{"connection_id":` + text("connection") + `,"display_name":` + text("label") + `}`
	}
	field := func() string {
		return text("field") + ":" + rapid.SampledFrom([]string{
			`"t=string,eq"`, `"t=timestamp,role=event-time,eq,r=gte|lt,a=group_by_time|max,j=string,fmt=date-time"`, `"new [flag]"`, `7`,
			`{"granted":false,"exact_filter":{"declared":true,"usable":false,"reason":"why not"},"aggregation":{"sum":{"declared":true,"usable":true}}}`,
		}).Draw(rt, "flags")
	}
	row := func() string {
		fields := list("fields", 30, field)
		r := `{"name":` + text("stream") + `,"label":` + text("label") + `,"field_capabilities":{` + fields[1:len(fields)-1] + `}`
		if rapid.Bool().Draw(rt, "own connections") {
			r += `,"granted_connections":` + list("connections", 3, connection)
		}
		if rapid.Bool().Draw(rt, "capabilities") {
			r += `,"query_capabilities":{"sort":{"fields":[` + text("sort") + `]},"aggregate":{"metrics":["count"],"group_by":` + list("group_by", 20, func() string { return text("group") }) + `}}`
		}
		return r + `}`
	}
	connector := func() string {
		return `{"connector_key":` + text("key") + `,"connector_display_name":` + text("label") +
			`,"granted_connections":` + list("connections", 12, connection) + `,"streams":` + list("streams", 8, row) + `}`
	}
	detail := rapid.SampledFrom([]string{`"detail":"compact",`, ""}).Draw(rt, "detail")
	doc := `{"object":"schema",` + detail + `"connectors":` + list("connectors", 6, connector)
	if rapid.Bool().Draw(rt, "top") {
		doc += `,"streams":` + list("streams", 8, row)
	}
	return doc + `}`
}

// TestAnyDocument: for any document, every stream name is in the index and in structured
// output, the budgets hold, and every next: line is an accepted call (DISC-1, DISC-7, MS-21,
// MS-88, MS-89).
func TestAnyDocument(t *testing.T) {
	t.Run("DISC-1 DISC-7 any document", func(t *testing.T) {
		var body string
		s := scripted(t, func(string) (int, string) { return 200, body })
		surface := s.Surface
		rapid.Check(t, func(rt *rapid.T) {
			body = drawSchema(rt)
			res := do(t, surface, "schema", `{}`)
			checkIndex(rt, body, res)
			runnable(rt, res.Content[0].Text)

			for _, detail := range []string{"compact", "full"} {
				res = do(t, surface, "schema", `{"stream":"entries","detail":"`+detail+`"}`)
				text := res.Content[0].Text
				runnable(rt, text)
				if most := map[bool]int{true: limits.ErrorTextMax, false: limits.ScopedTextMax}[res.IsError]; len(text) > most {
					rt.Fatalf("%s text of %d bytes:\n%s", detail, len(text), text)
				}
				followSchema(rt, surface, res)
				if detail == "compact" && len(res.Structured) > limits.SchemaStructuredMax {
					rt.Fatalf("structured output of %d bytes", len(res.Structured))
				}
			}
		})
	})
}

func checkIndex(rt *rapid.T, body string, res *Result) {
	text := res.Content[0].Text
	names := 0
	for _, r := range rowsOf(body) {
		names += len(quote.ID(r.Name)) + 1
		if !strings.Contains(text, quote.ID(r.Name)) && !strings.Contains(text, r.Name) {
			rt.Fatalf("stream %q is not in the text:\n%s", r.Name, text)
		}
		if !strings.Contains(string(res.Structured), string(rawjson.AppendString(nil, r.Name))) {
			rt.Fatalf("stream %q is not in structured output", r.Name)
		}
	}
	if len(text) > max(limits.SchemaTextMax, names+limits.SchemaTextMax/2) {
		rt.Fatalf("text of %d bytes, of which %d are names", len(text), names)
	}
	if len(res.Structured) > limits.SchemaStructuredMax {
		rt.Fatalf("structured output of %d bytes", len(res.Structured))
	}
	if lines := strings.Split(text, "\n"); strings.Count(text, "next: schema ") < 1 && names > 0 && usable(body) {
		rt.Fatalf("no call that continues in %q", lines)
	}
}

// usable reports whether some stream can be named as an argument.
func usable(body string) bool {
	for _, r := range rowsOf(body) {
		if isStreamName(r.Name) {
			return true
		}
	}
	return false
}

// TestSchemaTextBudget: the texts of the largest documents keep their budgets.
func TestSchemaTextBudget(t *testing.T) {
	for _, rows := range []int{1, 2, 7, 40, 300} {
		for _, fields := range []int{0, 1, 12, 90, 400} {
			name := fmt.Sprintf("%d rows of %d fields", rows, fields)
			res := mustDo(t, scripted(t, always(wideBody(rows, fields))).Surface, "schema", `{"stream":"entries"}`)
			text := res.Content[0].Text
			runnable(t, text)
			if len(text) > limits.ScopedTextMax {
				t.Errorf("%s: text of %d bytes", name, len(text))
			}
			for _, line := range []string{"\nlegend: ", "\nrow ", "\n fields: ", "\n sort: ", "\n expand: ", "\n aggregation: ", "\nnext: query_records "} {
				if !strings.Contains(text, line) && (fields > 0 || line != "\nlegend: ") {
					t.Errorf("%s: no %q in the text", name, line)
				}
			}
			if n := len(res.Structured); n > limits.SchemaStructuredMax {
				t.Errorf("%s: structured output of %d bytes", name, n)
			}
		}
	}
}

// schemaNext returns the schema call that continues a text, or "".
func schemaNext(text string) string {
	for line := range strings.SplitSeq(text, "\n") {
		if args, ok := strings.CutPrefix(line, "next: schema "); ok && strings.Contains(args, `"offset":`) {
			return args
		}
	}
	return ""
}

// followSchema follows the next: lines of a cut description to their end and returns all
// texts.
func followSchema(t fataler, s *Surface, res *Result) string {
	var all strings.Builder
	seen := map[string]bool{}
	for {
		text := res.Content[0].Text
		all.WriteString(text + "\n")
		if len(text) > limits.ScopedTextMax {
			t.Fatalf("text of %d bytes:\n%s", len(text), text)
		}
		args := schemaNext(text)
		if args == "" || res.IsError {
			return all.String()
		}
		if seen[args] {
			t.Fatalf("%s leads back to itself", args)
		}
		seen[args] = true
		res = s.Call(context.Background(), &schemaTool, []byte(args))
		if res.IsError {
			t.Fatalf("%s fails: %s", args, res.Content[0].Text)
		}
	}
}

// followStructured does the same with structured output.
func followStructured(t *testing.T, s *Surface, res *Result) string {
	var all strings.Builder
	for range 100 {
		all.Write(res.Structured)
		var sc struct {
			Next *struct {
				Args json.RawMessage `json:"args"`
			} `json:"next"`
		}
		if err := json.Unmarshal(res.Structured, &sc); err != nil {
			t.Fatal(err)
		}
		if sc.Next == nil {
			return all.String()
		}
		if n := len(res.Structured); n > limits.SchemaStructuredMax {
			t.Errorf("structured output of %d bytes", n)
		}
		res = mustDo(t, s, "schema", string(sc.Next.Args))
	}
	t.Fatal("structured output never ends")
	return ""
}

type fataler interface{ Fatalf(string, ...any) }

// TestSchemaContinues: the next: lines, and the next of structured output, lead to every field
// of every row and end (MS-92).
func TestSchemaContinues(t *testing.T) {
	for _, size := range [][2]int{{1, 200}, {1, 2000}, {3, 90}, {40, 40}, {120, 3}} {
		for _, detail := range []string{"compact", "full"} {
			t.Run(fmt.Sprintf("DISC-4 %d rows of %d fields, %s", size[0], size[1], detail), func(t *testing.T) {
				if detail == "full" && size[0] > 1 {
					t.Skip("a full description has one row")
				}
				s := scripted(t, always(wideBody(size[0], size[1]))).Surface
				first := do(t, s, "schema", `{"stream":"entries","detail":"`+detail+`"}`)
				if first.IsError { // too large as a whole: its next is the compact call
					first = mustDo(t, s, "schema", `{"stream":"entries"}`)
				}
				all := followSchema(t, s, first)
				structured := followStructured(t, s, first)
				for i := range size[0] {
					for j := range size[1] {
						name := fmt.Sprintf("field_%d_%d", i, j)
						if !strings.Contains(all, " "+name+"[") {
							t.Fatalf("%s is in no text", name)
						}
						if !strings.Contains(structured, `"`+name+`":`) {
							t.Fatalf("%s is in no structured output", name)
						}
					}
				}
			})
		}
	}
	t.Run("DISC-4 the names to sort by", func(t *testing.T) {
		body := wideBody(1, 200)
		var names []string
		for i := range 200 {
			names = append(names, fmt.Sprintf("%q", fmt.Sprintf("field_0_%d", i)))
		}
		body = strings.Replace(body, `"expand_capabilities"`, `"query_capabilities":{"sort":{"fields":[`+strings.Join(names, ",")+`]}},"expand_capabilities"`, 1)
		s := scripted(t, always(body)).Surface
		all := followSchema(t, s, mustDo(t, s, "schema", `{"stream":"entries"}`))
		if n := strings.Count(all, ",sort]"); n != 200 || !strings.Contains(all, "of the fields with sort in their brackets") {
			t.Errorf("%d fields have sort:\n%s", n, all)
		}
	})
	t.Run("DISC-4 an offset needs a stream", func(t *testing.T) {
		res := mustFail(t, scripted(t, always(wideBody(1, 1))).Surface, "schema", `{"offset":3}`, "invalid_request")
		runnable(t, res.Content[0].Text)
	})
	t.Run("DISC-4 an offset at the end", func(t *testing.T) {
		res := mustDo(t, scripted(t, always(wideBody(1, 5))).Surface, "schema", `{"stream":"entries","offset":6}`)
		if text := res.Content[0].Text; !strings.Contains(text, "nothing is left at this offset\nnext: schema {\"stream\":\"entries\"}") {
			t.Error(text)
		}
	})
}
