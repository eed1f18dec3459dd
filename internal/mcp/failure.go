package mcp

import (
	"context"
	"errors"
	"fmt"
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
	Members   []byte // further members of the error object
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
	var members rawjson.Writer
	members.Text("request_id", id)
	return &adapterError{
		Code: pdpp.CodeAdapterInternal, Message: "The adapter failed because of an internal error. Its log has the details.",
		Members: members,
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
	w.Raw(f.Members)
	if f.Next != nil {
		f.Next.write(&w, "next")
	}
	return append(w, '}')
}

// write writes the call as a member.
func (n *nextCall) write(w *rawjson.Writer, name string) {
	w.OpenObject(name)
	w.Text("tool", n.Tool)
	w.Member("args", n.Args)
	w.End("}")
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

// errorExtra is the usual size of structured output beyond the error object.
const errorExtra = 128

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
	w := begin("error", c.withNextStep(own.object(), 0), errorExtra)
	if own.isOfServer() {
		w.Text("provider_url", c.RS.Provider())
	}
	return &Result{
		IsError: true, Structured: append(w, '}'),
		Content: []Block{{Text: c.errorText(own.object(), 0, rawjson.GetString(own.object(), "request_id"), own.Next)}},
	}
}

// relayed returns an error of the resource server as received, with the recovery call that
// the adapter knows (MS-49).
func (c *call) relayed(e *rsclient.Error) *Result {
	next := c.recoveryCall(e)
	object := c.named(e.Object)
	if _, given := rawjson.Get(object, "hint"); !given {
		w := rawjson.Reopen(object)
		w.Optional("hint", c.hint(e))
		object = append(w, '}')
	}
	whole := c.withNextStep(object, e.Status)
	if _, given := rawjson.Get(object, "next"); next != nil && !given {
		w := rawjson.Reopen(whole)
		next.write(&w, "next")
		whole = append(w, '}')
	}
	w := begin("error", whole, errorExtra)
	w.Number("http_status", e.Status)
	return &Result{
		IsError: true, Structured: c.appendEnd(w, e.RequestID),
		Content: []Block{{Text: c.errorText(object, e.Status, e.RequestID, next)}},
	}
}
