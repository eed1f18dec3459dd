package telemetry

import (
	"context"
	"time"
)

// Operation is an MCP request. Its arguments and its result are no part of it.
type Operation struct {
	Method      string // "tools/call"
	Tool        string // of a tool call
	Protocol    string // the revision it follows
	TraceParent string // of _meta; "" for none
}

// Running is an operation that has begun. Its zero value is one that nobody watches.
type Running struct {
	t     *Telemetry
	op    Operation
	start time.Time
	span  span
}

// StartOperation begins to watch an operation. The context is for the reads that it
// makes; the caller calls End once.
func (t *Telemetry) StartOperation(ctx context.Context, op Operation) (context.Context, Running) {
	if t == nil {
		return ctx, Running{}
	}
	op.Method = known(t.words.methods, op.Method)
	op.Tool = known(t.words.tools, op.Tool)
	op.Protocol = known(t.words.protocols, op.Protocol)
	run := Running{t: t, op: op, start: t.clock()}
	if t.tracer != nil {
		ctx, run.span = t.tracer.startOperation(ctx, op)
	}
	return ctx, run
}

// End tells how the operation ended: errorType is "" or the code of its failure,
// bytes the size of its result.
func (run Running) End(errorType string, bytes int) {
	t := run.t
	if t == nil {
		return
	}
	errorType = known(t.words.errors, errorType)
	if m := t.metrics; m != nil {
		m.operations.WithLabelValues(run.op.Method, run.op.Tool, errorType).Observe(t.clock().Sub(run.start).Seconds())
		if run.op.Tool != "" {
			m.results.WithLabelValues(run.op.Tool).Observe(float64(bytes))
		}
	}
	if t.tracer != nil {
		run.span.endOperation(errorType, bytes)
	}
}
