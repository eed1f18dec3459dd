package telemetry

import (
	"context"
	"time"
)

// Operation is an MCP request, without its arguments and its result.
type Operation struct {
	Method      string // "tools/call"
	Tool        string // of a tool call
	Protocol    string // the protocol revision
	TraceParent string // of _meta, or ""
}

// Running is an operation that has started. The zero value is not measured.
type Running struct {
	t     *Telemetry
	op    Operation
	start time.Time
	span  span
}

// StartOperation starts to measure an operation. The returned context is for its reads.
// The caller must call End once.
func (t *Telemetry) StartOperation(ctx context.Context, op Operation) (context.Context, Running) {
	if t == nil {
		return ctx, Running{}
	}
	op.Method = labelFor(t.labels.methods, op.Method)
	op.Tool = labelFor(t.labels.tools, op.Tool)
	op.Protocol = labelFor(t.labels.protocols, op.Protocol)
	run := Running{t: t, op: op, start: t.clock()}
	if t.tracer != nil {
		ctx, run.span = t.tracer.startOperation(ctx, op)
	}
	return ctx, run
}

// End records the result: errorType is the code of its failure, or "", and bytes is the
// size of the result.
func (run Running) End(errorType string, bytes int) {
	t := run.t
	if t == nil {
		return
	}
	errorType = labelFor(t.labels.errors, errorType)
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
