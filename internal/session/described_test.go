package session

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"pdpp/internal/mcp/limits"
)

// What a client sees before its first call.

func exactTools(v *visit) {
	var names []string
	for _, tool := range v.as(everything).tools {
		names = append(names, tool.Name)
	}
	if diff := cmp.Diff([]string{"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}, names); diff != "" {
		v.Errorf("tools (-want +got):\n%s", diff)
	}
	s := v.as(everything)
	for _, name := range []string{"list_streams", "fetch_blob", "create_event_subscription"} {
		if _, err := s.CallTool(v.Context(), &sdk.CallToolParams{Name: name, Arguments: json.RawMessage(`{}`)}); err == nil {
			v.Errorf("%s can be called", name)
		}
	}
}

func sourceSelector(v *visit) {
	for _, tool := range v.as(everything).tools {
		p := properties(v, tool)["connection_id"]
		if p == nil || p["type"] != "string" {
			v.Errorf("connection_id of %s is %v", tool.Name, p)
		}
		var schema struct{ Required []string }
		remarshal(v.T, tool.InputSchema, &schema)
		if slices.Contains(schema.Required, "connection_id") {
			v.Errorf("%s requires connection_id", tool.Name)
		}
		if raw := whole(v, tool); strings.Contains(raw, "connector_instance_id") {
			v.Errorf("%s mentions connector_instance_id", tool.Name)
		}
	}
}

// noOtherMode: tools and schema name only the search modes of this server. The error for
// another mode offers a search that works.
func noOtherMode(v *visit) {
	s := v.as(everything)
	listed := s.InitializeResult().Instructions
	for _, tool := range s.tools {
		listed += whole(v, tool)
	}
	for _, mode := range []string{"semantic", "hybrid"} {
		if strings.Contains(listed, mode) {
			v.Errorf("a client sees %s search", mode)
		}
		if a := s.do("schema", `{"stream":"messages"}`); strings.Contains(a.text, mode) {
			v.Errorf("the schema lists %s search: %s", mode, a.text)
		}
		a := s.relayed("search", `{"q":"rent","mode":"`+mode+`"}`, "not_found")
		a.says("This server has no "+mode+" search.", `next: search {"q":"rent"}`)
	}
}

var urlShaped = regexp.MustCompile(`https?:|\bconnector_id\b|connector_instance_id`)

func sourceDescribed(v *visit) {
	s := v.as(everything)
	for _, tool := range s.tools {
		if found := urlShaped.FindString(whole(v, tool)); found != "" {
			v.Errorf("%s mentions %q", tool.Name, found)
		}
	}
	about, _ := properties(v, s.tool("query_records"))["connection_id"]["description"].(string)
	if !strings.Contains(strings.ToLower(about), "source") {
		v.Errorf("connection_id is described as %q, not as the source", about)
	}
	// Results name sources in the same way.
	for tool, args := range map[string]string{"schema": `{}`, "query_records": `{"stream":"messages"}`, "search": `{"q":"rent"}`} {
		a := s.do(tool, args)
		a.hides("reg.acme.test", "connector_instance_id")
		if !strings.Contains(string(a.sc.Body), `"connector_key":"post"`) {
			v.Errorf("%s does not name the connector key: %.300s", tool, a.sc.Body)
		}
	}
}

func instructed(v *visit) {
	text := v.as(everything).InitializeResult().Instructions
	head := string([]rune(text)[:min(512, len([]rune(text)))])
	// Only complete sentences count.
	head = head[:strings.LastIndex(head, ".")+1]
	for _, want := range []string{"Start with schema", "connection_id when a stream exists in several connections", "filter is a typed object", "limit, cursor, fields"} {
		if !strings.Contains(head, want) {
			v.Errorf("%q is not in the first 512 characters: %s", want, head)
		}
	}
	for _, want := range []string{"granted", "event-subscription", "Never ask for owner or control-plane tokens"} {
		if !strings.Contains(text, want) {
			v.Errorf("%q is not in the instructions: %s", want, text)
		}
	}
	if n := strings.Count(strings.ToLower(text), "owner or control-plane"); n != 1 {
		v.Errorf("owner tokens are mentioned %d times: %s", n, text)
	}
	if n := len([]rune(text)); n > limits.InstructionsMax {
		v.Errorf("%d characters", n)
	}
}

var eventGuidance = regexp.MustCompile(`(?i)signature|signing|webhook|deliver|callback`)

func noRepetition(v *visit) {
	sentences := map[string]string{}
	for _, tool := range v.as(everything).tools {
		about, _ := properties(v, tool)["connection_id"]["description"].(string)
		for _, text := range []string{tool.Description, about} {
			for sentence := range strings.SplitSeq(text, ". ") {
				if !strings.Contains(sentence, "connection") || len(sentence) < 12 {
					continue
				}
				if other := sentences[sentence]; other != "" && other != tool.Name {
					v.Errorf("%s and %s both say %q", tool.Name, other, sentence)
				}
				sentences[sentence] = tool.Name
			}
		}
		if found := eventGuidance.FindString(whole(v, tool)); found != "" {
			v.Errorf("%s mentions %q", tool.Name, found)
		}
	}
	if len(sentences) == 0 {
		v.Error("no tool says anything about connections")
	}
}

func routable(v *visit) {
	routes := map[string]string{
		"schema": "GET /v1/schema", "query_records": "GET /v1/streams/{stream}/records", "aggregate": "GET /v1/streams/{stream}/aggregate",
		"search": "GET /v1/search", "fetch": "GET /v1/streams/{stream}/records/{record_id}",
		"read_record_field": "GET /v1/streams/{stream}/records/{record_id}/field-window",
	}
	verbs := map[string]string{
		"schema": "list", "query_records": "read", "aggregate": "comput", "search": "find", "fetch": "return", "read_record_field": "read",
	}
	pointer := regexp.MustCompile(`(?i)see (server instructions|schema)|continue with schema\(stream\)`)
	for _, tool := range v.as(everything).tools {
		text := strings.ToLower(tool.Description)
		if !strings.Contains(text, verbs[tool.Name]) || !strings.Contains(text, "read-only") || !strings.Contains(tool.Description, routes[tool.Name]) || !pointer.MatchString(text) {
			v.Errorf("%s does not say its action, that it is read-only, its route and where to read on: %s", tool.Name, tool.Description)
		}
		if a := tool.Annotations; a == nil || !a.ReadOnlyHint || a.DestructiveHint == nil || *a.DestructiveHint {
			v.Errorf("the hints of %s are %+v", tool.Name, a)
		}
	}
}

func nothingHidden(v *visit) {
	s := v.as(everything)
	for _, tool := range s.tools {
		if strings.Contains(strings.ToLower(whole(v, tool)), "hidden") {
			v.Errorf("%s calls something hidden", tool.Name)
		}
		if !strings.Contains(strings.ToLower(tool.Description), "structured output") {
			v.Errorf("%s does not call its structured output that: %s", tool.Name, tool.Description)
		}
	}
	for _, want := range []string{"limit", "fields", "aggregate", "search"} {
		if !strings.Contains(s.tool("query_records").Description, want) {
			v.Errorf("query_records does not point to %s", want)
		}
	}
}

func filterIsObject(v *visit) {
	s := v.as(everything)
	for _, name := range []string{"query_records", "aggregate", "search"} {
		var filter struct {
			Type, Description    string
			AnyOf, OneOf         []any
			AdditionalProperties struct {
				AnyOf []struct {
					Type       string
					Properties map[string]any
				}
			}
		}
		remarshal(v.T, properties(v, s.tool(name))["filter"], &filter)
		if filter.Type != "object" || filter.AnyOf != nil || filter.OneOf != nil {
			v.Errorf("the filter of %s is %+v", name, filter)
		}
		var values, operators []string
		for _, alternative := range filter.AdditionalProperties.AnyOf {
			values = append(values, alternative.Type)
			for op := range alternative.Properties {
				operators = append(operators, op)
			}
		}
		slices.Sort(operators)
		if !slices.Equal(values, []string{"string", "number", "boolean", "object"}) || !slices.Equal(operators, []string{"gt", "gte", "lt", "lte"}) {
			v.Errorf("a value of the filter of %s is one of %v, a range has %v", name, values, operators)
		}
		if !strings.Contains(filter.Description, "exact") || !strings.Contains(filter.Description, "range") {
			v.Errorf("the filter of %s is described as %q", name, filter.Description)
		}
	}
}

func windowContract(v *visit) {
	s := v.as(everything)
	tool := s.tool("read_record_field")
	var names []string
	for name := range properties(v, tool) {
		names = append(names, name)
	}
	slices.Sort(names)
	want := []string{"after_chars", "before_chars", "connection_id", "cursor", "field_path", "id", "limit_chars", "offset_chars", "q", "record_id", "stream"}
	if diff := cmp.Diff(want, names); diff != "" {
		v.Errorf("arguments (-want +got):\n%s", diff)
	}
	var out struct {
		Properties map[string]struct{ Required []string }
	}
	remarshal(v.T, tool.OutputSchema, &out)
	for name, required := range map[string][]string{
		"record": {"id", "stream", "record_id"}, "field": {"path"}, "window": {"text", "start_chars", "end_chars", "complete"}, "resource": nil,
	} {
		if p, ok := out.Properties[name]; !ok || !slices.Equal(p.Required, required) {
			v.Errorf("%s of the output schema requires %v, want %v", name, p.Required, required)
		}
	}
	// Both forms read the same; call checks the results against the schema.
	byID := s.do("read_record_field", `{"id":"cin_home/messages:m1","field_path":"body"}`)
	byParts := s.do("read_record_field", `{"connection_id":"cin_home","stream":"messages","record_id":"m1","field_path":"body"}`)
	for _, part := range []string{"record", "field", "window", "resource"} {
		if diff := cmp.Diff(byID.sc.At(part), byParts.sc.At(part)); diff != "" || byID.sc.At(part) == nil {
			v.Errorf("%s (-by id +by parts):\n%s", part, diff)
		}
	}
	if s.output["read_record_field"].Validate(map[string]any{"record": map[string]any{}}) == nil {
		v.Error("the output schema accepts a result without field and window")
	}
	s.refusedEarly("read_record_field", `{"stream":"messages","record_id":"m1","field_path":"body"}`, "invalid_field_window_selector")
}

// properties returns the schemas of the arguments of a tool.
func properties(v *visit, tool *sdk.Tool) map[string]map[string]any {
	v.Helper()
	var schema struct{ Properties map[string]map[string]any }
	remarshal(v.T, tool.InputSchema, &schema)
	return schema.Properties
}

// whole returns a tool as it is listed, in JSON.
func whole(v *visit, tool *sdk.Tool) string {
	v.Helper()
	var value any
	return string(remarshal(v.T, tool, &value))
}

// withinBudget bounds the list of tools, which is part of every conversation.
func withinBudget(v *visit) {
	s := v.as(everything)
	var list []any
	if n := len(remarshal(v.T, s.tools, &list)); n > limits.ToolsListMax {
		v.Errorf("the tools have %d bytes, the budget is %d", n, limits.ToolsListMax)
	}
	if n := len([]rune(s.InitializeResult().Instructions)); n == 0 || n > limits.InstructionsMax {
		v.Errorf("the instructions have %d characters, at most %d are allowed", n, limits.InstructionsMax)
	}
	for _, tool := range s.tools {
		if n := len([]rune(tool.Description)); n > 500 {
			v.Errorf("the description of %s has grown to %d characters", tool.Name, n)
		}
	}
}
