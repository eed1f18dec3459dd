package mcpserve

import (
	"encoding/json"
	"regexp"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp"
)

// listed is what a session shows before any call.
type listed struct {
	instructions string
	tools        []*sdk.Tool
	raw          string // tools/list, as JSON
}

func listedIn(t *testing.T, era string) listed {
	t.Helper()
	surface, _ := ledger(t, nil)
	session, _ := connect(t, surface, era)
	res, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := json.Marshal(res.Tools)
	if err != nil {
		t.Fatal(err)
	}
	l := listed{tools: res.Tools, raw: string(raw)}
	if init := session.InitializeResult(); init != nil {
		l.instructions = init.Instructions
	}
	return l
}

// TestDescribed: what a model is told before it calls anything, in both eras.
func TestDescribed(t *testing.T) {
	for _, era := range []string{"2026-07-28", "2025-11-25"} {
		l := listedIn(t, era)
		t.Run("INSTR-1 the first 512 characters stand alone, "+era, func(t *testing.T) { l.instruct(t) })
		t.Run("DESC-1 nothing is said twice, "+era, func(t *testing.T) { l.sayOnce(t) })
		t.Run("DESC-2 action, kind, route and where to read on, "+era, func(t *testing.T) { l.describe(t) })
		t.Run("FOOT-1 within the budget, "+era, func(t *testing.T) { l.fit(t) })
		t.Run("HIDDEN-1 structured, never hidden, "+era, func(t *testing.T) { l.hideNothing(t) })
		t.Run("FILTER-1 a filter is an object, "+era, func(t *testing.T) { l.filters(t) })
		t.Run("SURFACE-4 connection_id selects the source, "+era, func(t *testing.T) { l.selects(t) })
	}
}

func (l listed) instruct(t *testing.T) {
	text := []rune(l.instructions)
	head := string(text[:min(len(text), mcp.InstructionsHead)])
	if i := strings.LastIndex(head, "."); i > 0 {
		head = head[:i+1]
	}
	for _, want := range []string{"schema", "connection_id", "filter is a typed object", "limit, cursor, fields", "granted", "read-only"} {
		if !strings.Contains(head, want) {
			t.Errorf("the head does not mention %q: %s", want, head)
		}
	}
	for _, want := range []string{"Never ask for owner", "event-subscription"} {
		if !strings.Contains(l.instructions, want) {
			t.Errorf("the instructions do not mention %q", want)
		}
	}
}

// sayOnce: no sentence about connections in two tools, none about delivery of events.
func (l listed) sayOnce(t *testing.T) {
	seen := map[string]string{}
	for _, tool := range l.tools {
		about := describedProperties(t, tool)["connection_id"]
		if other, ok := seen[about]; ok && about != "" {
			t.Errorf("%s and %s both say %q", tool.Name, other, about)
		}
		seen[about] = tool.Name
		if regexp.MustCompile(`(?i)signature|signing|webhook|deliver`).MatchString(tool.Description) {
			t.Errorf("%s speaks of events: %s", tool.Name, tool.Description)
		}
	}
}

func (l listed) describe(t *testing.T) {
	route := regexp.MustCompile(`GET /v1/`)
	for _, tool := range l.tools {
		for name, ok := range map[string]bool{
			"read-only": strings.Contains(tool.Description, "read-only"), "its route": route.MatchString(tool.Description),
			"where to read on": regexp.MustCompile(`[Ss]ee (server instructions|schema)|[Ss]ee schema|Go on with schema|continues with`).MatchString(tool.Description),
		} {
			if !ok {
				t.Errorf("%s does not say %s: %s", tool.Name, name, tool.Description)
			}
		}
	}
}

func (l listed) fit(t *testing.T) {
	if n := len(l.raw); n > mcp.ToolsListMax {
		t.Errorf("tools/list has %d bytes, the budget is %d", n, mcp.ToolsListMax)
	}
	if l.instructions == "" {
		t.Error("there are no instructions")
	}
	for _, tool := range l.tools {
		if len(tool.Description) > 500 {
			t.Errorf("the description of %s has grown to %d bytes", tool.Name, len(tool.Description))
		}
	}
}

func (l listed) hideNothing(t *testing.T) {
	if strings.Contains(strings.ToLower(l.raw), "hidden") {
		t.Error("a description calls something hidden")
	}
	for _, tool := range l.tools {
		if !strings.Contains(strings.ToLower(tool.Description), "structured output") {
			t.Errorf("%s does not name its structured output: %s", tool.Name, tool.Description)
		}
	}
	for _, want := range []string{"limit", "aggregate", "search", "fields"} {
		if !strings.Contains(l.tools[1].Description, want) {
			t.Errorf("query_records does not point to %s", want)
		}
	}
}

func (l listed) filters(t *testing.T) {
	for _, tool := range l.tools {
		filter, ok := properties(t, tool)["filter"]
		if want := map[string]bool{"query_records": true, "aggregate": true, "search": true}[tool.Name]; ok != want {
			t.Errorf("%s has a filter: %t", tool.Name, ok)
		}
		if ok && (filter["type"] != "object" || filter["anyOf"] != nil || filter["additionalProperties"] == nil) {
			t.Errorf("the filter of %s is %v", tool.Name, filter)
		}
	}
}

func (l listed) selects(t *testing.T) {
	for _, word := range []string{"connector_instance_id", "http://", "https://"} {
		if strings.Contains(l.raw, word) {
			t.Errorf("tools/list has %q", word)
		}
	}
	for _, tool := range l.tools {
		if p, ok := properties(t, tool)["connection_id"]; !ok || p["type"] != "string" {
			t.Errorf("connection_id of %s is %v", tool.Name, p)
		}
	}
}

// properties are the arguments of a tool.
func properties(t *testing.T, tool *sdk.Tool) map[string]map[string]any {
	t.Helper()
	raw, err := json.Marshal(tool.InputSchema)
	if err != nil {
		t.Fatal(err)
	}
	var schema struct{ Properties map[string]map[string]any }
	if err := json.Unmarshal(raw, &schema); err != nil {
		t.Fatal(err)
	}
	return schema.Properties
}

func describedProperties(t *testing.T, tool *sdk.Tool) map[string]string {
	t.Helper()
	out := map[string]string{}
	for name, p := range properties(t, tool) {
		out[name], _ = p["description"].(string)
	}
	return out
}
