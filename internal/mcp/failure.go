package mcp

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
	"pdpp/internal/rsclient"
	"pdpp/internal/secret"
)

// adapterError is an error of the adapter itself (MS-45).
type adapterError struct {
	Code      pdpp.Code
	Message   string
	Param     string
	RetryWith string
	NextStep  string // what to do when no call would help
	Next      *nextCall
	Members   []byte // further members of the error object, each after a comma
}

// Error implements error.
func (f *adapterError) Error() string { return string(f.Code) + ": " + f.Message }

// nextCall is a call that a client can make next.
type nextCall struct {
	Tool string
	Args []byte // compact JSON
}

func badArg(param, format string, args ...any) error {
	return &adapterError{Code: pdpp.CodeInvalidArgument, Param: param, Message: fmt.Sprintf(format, args...)}
}

// tellOwner is the next step after an answer that no correct server sends.
const tellOwner = "Try again once; if it fails again, tell the owner of the server."

// defect logs an internal error and returns an error that contains only the request id of
// the log line (MS-45).
func (s *Surface) defect(what string, attrs ...any) *adapterError {
	id := secret.ID("req_")
	s.Log.Error(what, append(attrs, "request_id", id)...)
	return &adapterError{
		Code: pdpp.CodeAdapterInternal, Message: "The adapter failed because of an internal error. Its log has the details.",
		Members: appendMember(nil, "request_id", id),
	}
}

// object returns the error object of structured output (MS-41).
func (f *adapterError) object() []byte {
	w := rawjson.Writer(`{"type":"adapter_error"`)
	w.Text("code", string(f.Code))
	w.Optional("message", f.Message)
	w.Optional("param", f.Param)
	w.Optional("retry_with", f.RetryWith)
	w.Optional("next_step", f.NextStep)
	b := append(w, f.Members...)
	if f.Next != nil {
		b = appendNext(b, f.Next)
	}
	return append(b, '}')
}

func (n *nextCall) append(b []byte) []byte {
	w := rawjson.Writer(append(b, '{'))
	w.Text("tool", n.Tool)
	w.Member("args", n.Args)
	return append(w, '}')
}

// classify separates errors of the resource server, which are relayed, from all others,
// which become failures of the adapter. One of the two is nil.
func (s *Surface) classify(err error) (*adapterError, *rsclient.Error) {
	var up *rsclient.Error
	var own *adapterError
	switch {
	case errors.As(err, &own):
		return own, nil
	case errors.As(err, &up) && up.Status != 0:
		return nil, up
	case errors.As(err, &up):
		return &adapterError{Code: up.Code, Message: up.Message, Param: rawjson.GetString(up.Object, "param"), NextStep: rawjson.GetString(up.Object, "next_step")}, nil
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		return &adapterError{Code: pdpp.CodeUpstreamTimeout, Message: "The call ended before the server at " + s.RS.Provider() + " had answered. Try again."}, nil
	}
	return s.defect("a read failed", "cause", err), nil
}

// isOfServer reports whether the resource server could not be reached, or did not authorize
// the call.
func (f *adapterError) isOfServer() bool {
	switch f.Code {
	case pdpp.CodeInvalidToken, pdpp.CodeUnavailable, pdpp.CodeOwnerCredential:
		return true
	}
	return strings.HasPrefix(string(f.Code), "upstream_")
}

// failure returns the result of a failed call (MS-41, MS-42).
func (c *call) failure(err error) *Result {
	own, up := c.classify(err)
	if up != nil {
		return c.relayed(up)
	}
	if own.Code == pdpp.CodeInvalidFilter && own.Next == nil && isStreamName(c.stream()) {
		own.Next = &nextCall{"schema", schemaArgs(c.stream(), c.connection())} // which lists the legal fields
	}
	if own.Code == pdpp.CodeConflictingConnection {
		own.Next = &nextCall{c.tool.Name, c.args.JSON(member{"connection_id", nil})}
	}
	if own.Code == pdpp.CodeBlobTooLarge { // the file can be read from its start
		own.Next = c.firstWindow(&rsclient.Error{Object: own.object()})
	}
	b := append([]byte(`{"error":`), c.withNextStep(own.object(), 0)...)
	if own.isOfServer() {
		b = rawjson.AppendString(append(b, `,"provider_url":`...), c.RS.Provider())
	}
	return &Result{
		IsError: true, Structured: append(b, '}'),
		Content: []Block{{Text: c.errorText(own.object(), 0, rawjson.GetString(own.object(), "request_id"), own.Next)}},
	}
}

// relayed returns an error of the resource server as received, with the recovery call that
// the adapter knows (MS-49).
func (c *call) relayed(e *rsclient.Error) *Result {
	next := c.recoveryCall(e)
	object := c.named(e.Object)
	if _, given := rawjson.Get(object, "hint"); !given {
		object = append(appendMember(object[:len(object)-1:len(object)-1], "hint", c.hint(e)), '}')
	}
	b := append([]byte(`{"error":`), c.withNextStep(object, e.Status)...)
	if _, given := rawjson.Get(object, "next"); next != nil && !given {
		b = append(appendNext(b[:len(b)-1], next), '}')
	}
	b = strconv.AppendInt(append(b, `,"http_status":`...), int64(e.Status), 10)
	return &Result{
		IsError: true, Structured: c.appendEnd(b, e.RequestID),
		Content: []Block{{Text: c.errorText(object, e.Status, e.RequestID, next)}},
	}
}

// appendOrNull appends a string, or null for "".
func appendOrNull(b []byte, s string) []byte {
	if s == "" {
		return append(b, "null"...)
	}
	return rawjson.AppendString(b, s)
}
