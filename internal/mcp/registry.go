package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// Surface is the tools over one resource server. It is safe for concurrent use.
type Surface struct {
	RS  rsclient.Reader
	Log *slog.Logger
	// Reconnect is the command that renews a lost authorization (MS-49); "" where
	// there is none.
	Reconnect string
}

// Tool is one entry of the registry.
type Tool struct {
	Name        string
	Title       string
	Description string // at most 500 characters (MS-11)
	args        argTable
	output      string // the output schema, compact JSON (MS-43)
	call        func(context.Context, *call) (*Result, error)
}

// tools are the tools of the surface, in the order they are listed (MS-8).
var tools = []*Tool{&schemaTool, &queryRecordsTool, &aggregateTool, &searchTool, &fetchTool, &readRecordFieldTool}

// call is one tool call in progress.
type call struct {
	*Surface
	tool *Tool
	args Args
	keys map[string]string // of the relations that the gate saw: the field with the parent's id
}

// Lookup finds a tool by its name; nil when the surface does not list it (MS-12).
func Lookup(name string) *Tool {
	for _, t := range tools {
		if t.Name == name {
			return t
		}
	}
	return nil
}

// ToolNames are the names of the tools, in the order they are listed.
func ToolNames() []string {
	names := make([]string, len(tools))
	for i, t := range tools {
		names[i] = t.Name
	}
	return names
}

// Call runs a tool with raw arguments, a JSON value or nil. Whatever goes wrong is a
// Result, never a panic (MS-46).
func (s *Surface) Call(ctx context.Context, t *Tool, raw []byte) (res *Result) {
	c := &call{Surface: s, tool: t}
	defer func() {
		if p := recover(); p != nil {
			res = c.failure(s.defect("a tool failed", "tool", t.Name, "cause", fmt.Sprint(p), "stack", string(debug.Stack())))
		}
	}()
	var err error
	if c.args, err = t.args.parse(raw); err != nil {
		return c.failure(err)
	}
	if res, err = t.call(ctx, c); err != nil {
		res = c.failure(err)
	}
	res.Structured = rawjson.QuoteHuge(res.Structured) // clients decode it (MS-36)
	return res
}
