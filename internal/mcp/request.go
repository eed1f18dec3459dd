package mcp

import (
	"errors"
	"slices"
	"strconv"

	"pdpp"
	"pdpp/internal/rsclient"
)

// query returns the query string of the call: its arguments in the order of the schema,
// none added and none dropped (MS-31, MS-32, MS-102), except those that select the route.
func (c *call) query(route ...string) rsclient.Query {
	var q rsclient.Query
	for _, decl := range c.tool.args {
		if slices.Contains(route, decl.name) {
			continue
		}
		switch decl.kind {
		case argFilter:
			for _, f := range c.args.filter {
				q.Filter(f.Field, f.Op, f.Value)
			}
		case argExpandLimit:
			for _, l := range c.args.limits {
				q.Member("expand_limit", l.Relation, strconv.Itoa(l.Limit))
			}
		case argInt:
			if n, given := c.args.Int(decl.name); given {
				q.Set(decl.name, strconv.Itoa(n))
			}
		case argTexts, argStreams, argExpand:
			q.Each(decl.name, c.args.List(decl.name))
		default:
			q.Set(decl.name, c.args.Text(decl.name))
		}
	}
	return q
}

// smaller adds a call with a smaller answer to the error of one that is too large (MS-45).
func (c *call) smaller(err error) error {
	var e *rsclient.Error
	if !errors.As(err, &e) || e.Code != pdpp.CodeUpstreamTooLarge {
		return err
	}
	limit, given := c.args.Int("limit")
	if !given {
		limit = pdpp.DefaultPage
	}
	return &adapterError{Code: e.Code, Message: e.Message, Next: c.rerun(max(1, limit/5))}
}
