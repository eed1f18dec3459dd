package telemetry

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"sync/atomic"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
)

const (
	exportTimeout = 10 * time.Second
	retryAfter    = time.Second
)

// exporter sends spans to a collector as OTLP over HTTP in JSON. It retries a failed
// batch once and then drops it. It logs the first failure, and the next success.
type exporter struct {
	cfg    *Traces
	client *http.Client
	log    *slog.Logger
	failed atomic.Bool
}

var _ sdktrace.SpanExporter = (*exporter)(nil)

func newExporter(cfg Config) (*exporter, error) {
	if _, err := http.NewRequest(http.MethodPost, cfg.Traces.Endpoint, nil); err != nil {
		return nil, fmt.Errorf("telemetry: %w", err)
	}
	return &exporter{cfg: cfg.Traces, log: cfg.Log, client: &http.Client{
		Timeout: exportTimeout,
		// The headers may contain a secret that is for this address only.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}, nil
}

// ExportSpans implements sdktrace.SpanExporter. It logs failures itself and never returns
// an error.
func (e *exporter) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	body, err := json.Marshal(encode(spans))
	if err == nil {
		var again bool
		if again, err = e.send(ctx, body); again && wait(ctx, retryAfter) {
			_, err = e.send(ctx, body)
		}
	}
	switch {
	case err == nil && e.failed.CompareAndSwap(true, false):
		e.log.Info("traces are sent to the collector again")
	case err != nil && e.failed.CompareAndSwap(false, true):
		e.log.Warn("traces cannot be sent to the collector", "cause", err.Error())
	}
	return nil
}

// Shutdown implements sdktrace.SpanExporter.
func (e *exporter) Shutdown(context.Context) error {
	e.client.CloseIdleConnections()
	return nil
}

// send posts one batch. again says that a retry may help.
func (e *exporter) send(ctx context.Context, body []byte) (again bool, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, e.cfg.Endpoint, bytes.NewReader(body))
	if err != nil {
		return false, err
	}
	for name, value := range e.cfg.Headers {
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	res, err := e.client.Do(req)
	if err != nil {
		return true, withoutURL(err)
	}
	defer res.Body.Close()
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, 64<<10)) // to reuse the connection
	switch res.StatusCode {
	case http.StatusOK, http.StatusAccepted, http.StatusNoContent:
		return false, nil
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		again = true
	}
	return again, fmt.Errorf("the collector responded with %d", res.StatusCode)
}

// withoutURL removes the URL from an error, because it may contain a key.
func withoutURL(err error) error {
	var u *url.Error
	if errors.As(err, &u) {
		return u.Err
	}
	return err
}

func wait(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// The message of OTLP in its JSON encoding: ids are hexadecimal, 64-bit numbers are
// strings.
type (
	otlpRequest struct {
		ResourceSpans []otlpResource `json:"resourceSpans"`
	}
	otlpResource struct {
		Resource struct {
			Attributes []otlpAttribute `json:"attributes"`
		} `json:"resource"`
		ScopeSpans []otlpScope `json:"scopeSpans"`
	}
	otlpScope struct {
		Scope struct {
			Name string `json:"name"`
		} `json:"scope"`
		Spans []otlpSpan `json:"spans"`
	}
	otlpSpan struct {
		TraceID      string          `json:"traceId"`
		SpanID       string          `json:"spanId"`
		ParentSpanID string          `json:"parentSpanId,omitempty"`
		Flags        uint32          `json:"flags"`
		Name         string          `json:"name"`
		Kind         int             `json:"kind"`
		Start        string          `json:"startTimeUnixNano"`
		End          string          `json:"endTimeUnixNano"`
		Attributes   []otlpAttribute `json:"attributes,omitempty"`
		Links        []otlpLink      `json:"links,omitempty"`
		Status       *otlpStatus     `json:"status,omitempty"`
	}
	otlpLink struct {
		TraceID string `json:"traceId"`
		SpanID  string `json:"spanId"`
	}
	otlpStatus struct {
		Code int `json:"code"`
	}
	otlpAttribute struct {
		Key   string            `json:"key"`
		Value map[string]string `json:"value"`
	}
)

// statusError is STATUS_CODE_ERROR of the protocol. The SDK uses another number.
const statusError = 2

func encode(spans []sdktrace.ReadOnlySpan) otlpRequest {
	var out otlpResource
	sc := otlpScope{Spans: make([]otlpSpan, len(spans))}
	sc.Scope.Name = scope
	for i, s := range spans {
		out.Resource.Attributes = attributes(s.Resource().Attributes()) // the same for all spans
		sc.Spans[i] = encodeSpan(s)
	}
	out.ScopeSpans = []otlpScope{sc}
	return otlpRequest{[]otlpResource{out}}
}

func encodeSpan(s sdktrace.ReadOnlySpan) otlpSpan {
	own := s.SpanContext()
	out := otlpSpan{
		TraceID: own.TraceID().String(), SpanID: own.SpanID().String(), Flags: uint32(own.TraceFlags()),
		Name: s.Name(), Kind: int(s.SpanKind()), Start: nanos(s.StartTime()), End: nanos(s.EndTime()),
		Attributes: attributes(s.Attributes()),
	}
	if parent := s.Parent(); parent.HasSpanID() {
		out.ParentSpanID = parent.SpanID().String()
	}
	for _, l := range s.Links() {
		out.Links = append(out.Links, otlpLink{l.SpanContext.TraceID().String(), l.SpanContext.SpanID().String()})
	}
	if s.Status().Code == codes.Error {
		out.Status = &otlpStatus{statusError}
	}
	return out
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

// attributes encodes attributes, which are strings and integers only.
func attributes(list []attribute.KeyValue) []otlpAttribute {
	out := make([]otlpAttribute, len(list))
	for i, kv := range list {
		kind := "stringValue"
		if kv.Value.Type() == attribute.INT64 {
			kind = "intValue"
		}
		out[i] = otlpAttribute{string(kv.Key), map[string]string{kind: kv.Value.String()}}
	}
	return out
}
