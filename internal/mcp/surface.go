package mcp

import (
	"context"
	"fmt"
	"log/slog"
	"runtime/debug"

	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
)

// Surface is the tools and resources over one resource server. It is safe for concurrent
// use.
type Surface struct {
	RS    rsclient.Reader
	Log   *slog.Logger
	Tools *Registry // nil means Tools()
	// Reconnect is the command that renews a lost authorization (MS-49); "" where there is
	// none.
	Reconnect string
}

// Registry returns the tools of the surface.
func (s *Surface) Registry() *Registry {
	if s.Tools != nil {
		return s.Tools
	}
	return tools
}

// call is one tool call in progress.
type call struct {
	*Surface
	tool *Tool
	args arguments
	keys map[string]string // by relation: the field that has the id of the parent
}

// Call runs a tool with raw arguments, a JSON value or nil. Every failure is a Result,
// never a panic (MS-46).
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
