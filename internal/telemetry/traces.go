package telemetry

import (
	"context"
	"net/http"
	"strconv"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"pdpp/internal/httpx"
)

// scope is the instrumentation scope of the spans.
const scope = "pdpp"

// tracer creates spans. From a client it takes only the trace id, the parent id and the
// sampling decision: tracestate and baggage are free text.
type tracer struct {
	trace.Tracer
	provider *sdktrace.TracerProvider
}

// span is an open span.
type span struct{ trace.Span }

func newTracer(cfg Config) (*tracer, error) {
	out, err := newExporter(cfg)
	if err != nil {
		return nil, err
	}
	about := resource.NewSchemaless(
		attribute.String("service.name", cfg.Traces.service()), attribute.String("service.version", cfg.Version))
	// The batcher drops spans when its queue is full, so that requests never wait.
	provider := sdktrace.NewTracerProvider(sdktrace.WithResource(about), sdktrace.WithBatcher(out))
	return &tracer{provider.Tracer(scope), provider}, nil
}

// begin starts the span of a request. It is a server span for the request of a client,
// and an internal span with the current span as parent for one of the process itself.
func (t *tracer) begin(r *http.Request, inner bool) *http.Request {
	ctx, kind := r.Context(), trace.SpanKindInternal
	if !inner {
		kind = trace.SpanKindServer
		ctx = withParent(ctx, r.Header.Get("Traceparent"))
	}
	ctx, _ = t.Start(ctx, "HTTP", trace.WithSpanKind(kind))
	return r.WithContext(ctx)
}

func (t *tracer) end(r *http.Request, x httpx.Exchange) {
	s := trace.SpanFromContext(r.Context())
	name, attrs := x.Method, []attribute.KeyValue{attribute.String("http.request.method", x.Method)}
	if route := plainRoute(x.Route); route != "" {
		name += " " + route
		attrs = append(attrs, attribute.String("http.route", route))
	}
	if x.Status != 0 {
		attrs = append(attrs, attribute.Int("http.response.status_code", x.Status),
			attribute.Int64("http.response.body.size", x.Bytes))
	}
	switch {
	case x.Code != "":
		attrs = append(attrs, attribute.String("error.type", string(x.Code)))
	case x.Status >= http.StatusBadRequest:
		attrs = append(attrs, attribute.String("error.type", strconv.Itoa(x.Status)))
	}
	// By convention only failures of the server itself are errors.
	if x.Status >= http.StatusInternalServerError || x.Status == 0 {
		s.SetStatus(codes.Error, "")
	}
	s.SetName(name)
	s.SetAttributes(attrs...)
	s.End()
}

// startOperation starts the span of an MCP operation. If the message names a parent, the
// span of the HTTP request becomes a link.
func (t *tracer) startOperation(ctx context.Context, op Operation) (context.Context, span) {
	options := []trace.SpanStartOption{trace.WithSpanKind(trace.SpanKindServer)}
	carrier := trace.SpanContextFromContext(ctx)
	if op.TraceParent != "" {
		ctx = withParent(ctx, op.TraceParent)
		if trace.SpanContextFromContext(ctx).SpanID() != carrier.SpanID() && carrier.IsValid() {
			options = append(options, trace.WithLinks(trace.Link{SpanContext: carrier}))
		}
	}
	name, attrs := op.Method, []attribute.KeyValue{attribute.String("mcp.method.name", op.Method)}
	if op.Tool != "" {
		name += " " + op.Tool
		attrs = append(attrs, attribute.String("gen_ai.tool.name", op.Tool), attribute.String("gen_ai.operation.name", "execute_tool"))
	}
	if op.Protocol != "" {
		attrs = append(attrs, attribute.String("mcp.protocol.version", op.Protocol))
	}
	ctx, s := t.Start(ctx, name, append(options, trace.WithAttributes(attrs...))...)
	return ctx, span{s}
}

func (s span) endOperation(errorType string, bytes int) {
	s.SetAttributes(attribute.Int("pdpp.mcp.result.size", bytes))
	if errorType != "" {
		s.SetAttributes(attribute.String("error.type", errorType))
		s.SetStatus(codes.Error, "")
	}
	s.End()
}

// withParent sets the span of a traceparent as the parent. It ignores an invalid one.
func withParent(ctx context.Context, traceparent string) context.Context {
	if traceparent == "" {
		return ctx
	}
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": traceparent})
}
