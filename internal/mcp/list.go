package mcp

import (
	"fmt"
	"slices"

	"pdpp/internal/rawjson"
)

// names are the tools of the normal surface in the order of MS-8. The registry must
// agree; it would be a defect of the build if it did not.
var names = []string{"schema", "query_records", "aggregate", "search", "fetch", "read_record_field"}

// readOnly are the hints of every read tool (MS-10).
const readOnly = `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`

// toolsList is the tools/list result, made once (MS-9).
var toolsList = makeToolsList()

// ToolsList is the tools/list result of the surface: a JSON object that must not be
// changed.
func ToolsList() []byte { return toolsList }

func makeToolsList() []byte {
	var have []string
	b := []byte(`{"tools":[`)
	for i, t := range tools {
		have = append(have, t.Name)
		if i > 0 {
			b = append(b, ',')
		}
		b = t.append(b)
	}
	if !slices.Equal(have, names) {
		panic(fmt.Sprintf("the registry has %q, the surface %q", have, names))
	}
	return append(b, "]}"...)
}

func (t *Tool) append(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = rawjson.AppendString(b, t.Name)
	b = appendMember(b, "title", t.Title)
	b = appendMember(b, "description", t.Description)
	b = append(b, `,"inputSchema":`...)
	b = append(b, t.args.schema()...)
	b = append(b, `,"outputSchema":`...)
	b = append(b, t.output...)
	b = append(b, `,"annotations":`...)
	b = append(b, readOnly...)
	return append(b, '}')
}

// InputSchema and OutputSchema are the schemas of a tool, as JSON.
func (t *Tool) InputSchema() []byte  { return t.args.schema() }
func (t *Tool) OutputSchema() []byte { return []byte(t.output) }
