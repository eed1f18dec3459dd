package mcp

import (
	"context"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// Tool is one tool of a registry: everything that the surface, the manual and the metrics
// need to know about it. A tool is one file and one entry of a Registry.
type Tool struct {
	Name        string
	title       string
	description string // at most 500 characters (MS-11)
	args        argTable
	output      string // the output schema, compact JSON (MS-43)
	limits      string // the bounds of its results, for the manual
	call        func(context.Context, *call) (*Result, error)
	recovery    recovery

	// ranked means that hits of several sources are merged by rank. Then a page is
	// incomplete only if it is longer than its limit (IO-5).
	ranked bool
}

// recovery is what a tool knows about errors of the resource server (MS-49). All of it is
// optional.
type recovery struct {
	params     map[string]string                      // arguments by the parameter that an error names
	hint       func(*call, *rsclient.Error) string    // what an error means; "" if it is unknown
	notFound   func(*call, *rsclient.Error) *nextCall // the call after 404; nil if there is none
	unfiltered func(*call) *nextCall                  // the call when a server accepts no filter
}

// Registry is an immutable list of tools. It is safe for concurrent use.
type Registry struct {
	tools []*Tool
	list  []byte // the tools/list result (MS-9)
}

// NewRegistry returns a registry of tools, in the order they are listed.
func NewRegistry(tools ...*Tool) *Registry {
	w := rawjson.Writer(`{"tools":[`)
	for _, t := range tools {
		t.write(&w)
	}
	w.End("]}")
	return &Registry{tools: tools, list: w}
}

// tools are the tools of the surface, in the order of MS-8.
var tools = NewRegistry(&schemaTool, &queryRecordsTool, &aggregateTool, &searchTool, &fetchTool, &readRecordFieldTool)

// Tools returns the registry of the tools of the surface.
func Tools() *Registry { return tools }

// Lookup returns the tool with a name; nil when the registry has none (MS-12).
func (r *Registry) Lookup(name string) *Tool {
	for _, t := range r.tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// Names returns the names of the tools.
func (r *Registry) Names() []string {
	names := make([]string, len(r.tools))
	for i, t := range r.tools {
		names[i] = t.Name
	}
	return names
}

// List returns the tools/list result: a JSON object that must not be changed.
func (r *Registry) List() []byte { return r.list }

// readOnly are the hints of every tool (MS-10).
const readOnly = `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`

func (t *Tool) write(w *rawjson.Writer) {
	w.Object()
	w.Text("name", t.Name)
	w.Optional("title", t.title)
	w.Optional("description", t.description)
	w.Member("inputSchema", t.args.schema())
	w.Member("outputSchema", []byte(t.output))
	w.Member("annotations", []byte(readOnly))
	w.End("}")
}
