package mcp

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp/internal/mcp/limits"
)

const manualPath = "../../docs/mcp.md"

// TestManual: docs/mcp.md is generated from the registry; -update rewrites it. Tests of
// earlier files rewrite the golden files that it quotes.
func TestManual(t *testing.T) {
	t.Run("TOOLS-2 manual", func(t *testing.T) {
		got := manual(t, Tools())
		if *update {
			if err := os.WriteFile(manualPath, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if diff := cmp.Diff(readFile(t, manualPath), got); diff != "" {
			t.Errorf("docs/mcp.md is not current; run go test ./internal/mcp -run Manual -update (-file +registry):\n%s", diff)
		}
	})
}

// manualExample is a call with its text, from a golden file: all of it, or the part between
// two marks.
type manualExample struct {
	about, args, file string
	from, until       string
}

var manualExamples = map[string][]manualExample{
	"schema": {
		{about: "What there is.", args: `{}`, file: "schema_ledger.txt"},
		{about: "One stream of one source: everything that can be asked of it.", args: `{"stream":"entries","connection_id":"cin_a1"}`, file: "schema_ledger_connection.txt"},
	},
	"aggregate": {
		{about: "A number.", args: `{"stream":"entries","metric":"count"}`, file: "aggregate_count.txt"},
		{about: "The largest groups.", args: `{"stream":"entries","metric":"count","group_by":"category","limit":3}`, file: "aggregate_groups.txt"},
		{
			about: "A sum per month.", file: "aggregate_months.txt",
			args: `{"stream":"entries","metric":"sum","field":"amount_minor","group_by_time":"posted_at","granularity":"month","time_zone":"Europe/Zurich"}`,
		},
	},
	"query_records": {{about: "A page.", args: `{"stream":"entries","limit":3,"count":"exact"}`, file: "query_typical.txt", until: "\n\n{"}},
	"search":        {{about: "Two hits of two sources.", args: `{"q":"rent"}`, file: "search_typical.txt", until: "\n\n{"}},
	"fetch":         {{about: "The card of a short record.", args: `{"id":"cin_c1/items:role"}`, file: "fetch_role.txt", from: "--- card\n", until: "--- links"}},
	"read_record_field": {
		{
			about: "The beginning of a long text.", args: `{"id":"cin_c1/items:long","field_path":"body","limit_chars":40}`,
			file: "window_first.txt", until: "link {",
		},
	},
}

const manualHead = `# MCP tools

<!-- Made from the registry of internal/mcp by: go test ./internal/mcp -run Manual -update -->

Six read-only tools over one owner's data, as far as the token's grant reaches. They are the same over HTTP and stdio. Every answer comes as
text, for a model that sees only ` + "`content[]`" + `, and as structured output, for one that sees only ` + "`structuredContent`" + `. Either suffices to go on: the text is short
and says how to read what it leaves out. Values from data are quoted in text as JSON strings. Lines that start with ` + "`next:`, `more:`, `previous:` or `later:`" + ` are
complete calls: a tool and its arguments, perhaps with a few words behind them. The contract is ` + "`docs/spec/mcp-surface.md`" + `.

A failed call has ` + "`isError`" + `, the text ` + "`error <code>: \"<message>\"`" + ` with what to do next, and ` + "`structuredContent.error`" + ` with at least ` + "`type`, `code`, `message`" + `; its text
has at most %d bytes. Arguments are checked before the server is asked; null means absent; nothing is coerced.

## Instructions

What a client is told about the server:

%s
`

// manual returns the document of a registry.
func manual(t *testing.T, registry *Registry) string {
	t.Helper()
	var b strings.Builder
	var quoted strings.Builder
	for line := range strings.Lines(Instructions) {
		quoted.WriteString("> " + line)
	}
	fmt.Fprintf(&b, manualHead, limits.ErrorTextMax, quoted.String())
	for _, tool := range registry.tools {
		fmt.Fprintf(&b, "\n## `%s` — %s\n\n%s\n\n%s\n\n", tool.Name, tool.title, tool.description, tool.limits)
		b.WriteString("| argument | type | |\n|---|---|---|\n")
		for _, decl := range tool.args {
			fmt.Fprintf(&b, "| `%s`%s | %s | %s |\n", decl.name, map[bool]string{true: " (required)"}[decl.required], decl.typeName(), strings.ReplaceAll(decl.about, "|", "\\|"))
		}
		fmt.Fprintf(&b, "\nStructured output: %s.\n", manualOutput(t, tool))
		for _, e := range manualExamples[tool.Name] {
			fmt.Fprintf(&b, "\n%s `%s %s`\n\n```\n%s\n```\n", e.about, tool.Name, e.args, e.text(t, tool))
		}
	}
	return b.String()
}

// typeName describes the type of an argument.
func (decl arg) typeName() string {
	switch decl.kind {
	case argStream:
		return "name of a stream"
	case argID:
		return "id"
	case argHandle:
		return "handle of a record"
	case argEnum:
		if decl.byServer {
			return "string"
		}
		return "`" + strings.Join(decl.enum, "`, `") + "`"
	case argInt:
		return "integer " + decl.bounds()
	case argTexts:
		return "list of strings"
	case argStreams:
		return "list of stream names"
	case argFilter:
		return "object: `{field: value}` or `{field: {gte, gt, lte, lt}}`"
	case argExpand:
		return "list of relations"
	case argExpandLimit:
		return "object: `{relation: n}`"
	}
	return "string"
}

// manualOutput lists the members of a successful result, those that are always present
// first.
func manualOutput(t *testing.T, tool *Tool) string {
	t.Helper()
	var schema struct {
		Properties map[string]json.RawMessage
		AnyOf      []struct{ Required []string }
	}
	if err := json.Unmarshal([]byte(tool.output), &schema); err != nil {
		t.Fatal(err)
	}
	always := schema.AnyOf[0].Required
	var more []string
	for _, name := range []string{"provider_url", "request_id", "field_capability_legend", "resource", "content_ladder", "projected", "next"} {
		if _, ok := schema.Properties[name]; !ok {
			continue
		}
		if name == "provider_url" || name == "request_id" {
			always = append(always, name)
		} else {
			more = append(more, name)
		}
	}
	list := "`" + strings.Join(always, "`, `") + "`"
	if more != nil {
		list += "; where they apply `" + strings.Join(more, "`, `") + "`"
	}
	return list
}

// text returns the text of an example and checks that the tool accepts its call.
func (e manualExample) text(t *testing.T, tool *Tool) string {
	t.Helper()
	if _, err := tool.args.parse([]byte(e.args)); err != nil {
		t.Errorf("the example %s %s is refused: %v", tool.Name, e.args, err)
	}
	text := readFile(t, "testdata/"+e.file)
	if e.from != "" {
		_, text, _ = strings.Cut(text, e.from)
	}
	if e.until != "" {
		text, _, _ = strings.Cut(text, e.until)
	}
	return strings.TrimSpace(text)
}
