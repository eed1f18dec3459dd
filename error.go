package pdpp

import (
	"errors"
	"fmt"
)

// Error is the one error type that crosses package borders. All fields except Op
// and Err are safe to show to the caller. Message says what happened, and
// NextStep what to do. An error that is not an Error is internal and is shown
// without detail.
type Error struct {
	Code    Code
	Message string

	Param  string // the request parameter at fault
	Field  string // the record field at fault
	Stream string // the stream at fault

	NeedsBroaderGrant bool   // a wider grant would allow it (C-44)
	RetryWith         string // the parameter that would resolve it
	NextStep          string // what the caller can do
	Hint              string // for operator commands: one more line of advice

	// Available lists the connections that would resolve an ambiguity (C-43).
	Available []ConnectionRef

	RetryAfter int // seconds; 0 means not stated

	Op  string // the operation that failed; for logs
	Err error  // the cause; for logs
}

// ConnectionRef is one choice offered by an ambiguity error (C-43).
type ConnectionRef struct {
	ConnectionID ConnectionID
	ConnectorKey ConnectorKey
	DisplayName  string
	GrantID      GrantID
	Stream       string
}

// Error implements error.
func (e *Error) Error() string {
	s := string(e.Code) + ": " + e.Message
	if e.Op != "" {
		s = e.Op + ": " + s
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

// Unwrap returns the cause, for errors.Is and errors.As.
func (e *Error) Unwrap() error { return e.Err }

// AddMessage returns err with text added to its message as a further sentence. It
// returns err unchanged when err is not an Error, because that has no message to show.
func AddMessage(err error, text string) error {
	var e *Error
	if !errors.As(err, &e) {
		return err
	}
	extended := *e
	extended.Message += " " + text
	return &extended
}

// Errorf returns an Error. Its message must be safe to show.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// BadParam returns an invalid_request error about one parameter.
func BadParam(param, format string, args ...any) *Error {
	return &Error{Code: CodeInvalidRequest, Param: param, Message: fmt.Sprintf(format, args...)}
}

// CodeOf returns the code of err: CodeInternal when err is not an Error, and ""
// when err is nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return CodeInternal
}
