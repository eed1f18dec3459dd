package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"pdpp"
)

// The exit codes of hosted-auth.md 1.2.
const (
	exitFailure     = 1
	exitUsage       = 64
	exitRefused     = 65
	exitMissing     = 66
	exitUnreachable = 69
	exitCreate      = 73
	exitBusy        = 75
	exitPermission  = 77
	exitConfig      = 78
	exitInterrupted = 130
)

// exits maps error codes to exit codes. Codes that are not listed exit with exitFailure.
var exits = map[pdpp.Code]int{
	pdpp.CodeUsage:              exitUsage,
	pdpp.CodeInvalidInput:       exitRefused,
	pdpp.CodeNotFound:           exitRefused, // an unknown id (H-18)
	pdpp.CodeConnectionNotFound: exitRefused,
	pdpp.CodeStreamNotDeclared:  exitRefused,
	pdpp.CodeInputMissing:       exitMissing,
	pdpp.CodeCannotCreate:       exitCreate,
	pdpp.CodeUnavailable:        exitCreate, // the disk is full
	pdpp.CodeIngestStorage:      exitCreate,
	pdpp.CodeBusy:               exitBusy,
	pdpp.CodePermission:         exitPermission,
	pdpp.CodeNotConfigured:      exitConfig,

	pdpp.CodeOwnerCredential:     exitPermission,
	pdpp.CodeNotConnected:        exitConfig,
	pdpp.CodeGrantNotFound:       exitConfig,
	pdpp.CodeCredentialInvalid:   exitConfig,
	pdpp.CodeCredentialExpired:   exitConfig,
	pdpp.CodeProviderUnreachable: exitUnreachable,
	pdpp.CodeTokenVerification:   exitUnreachable,

	pdpp.CodeProviderURL:        exitUsage,
	pdpp.CodeMetadata:           exitUnreachable,
	pdpp.CodeConnectUnsupported: exitUnreachable,
	pdpp.CodeRegistration:       exitUnreachable,
	pdpp.CodeApprovalDenied:     exitUnreachable,
	pdpp.CodeApprovalExpired:    exitUnreachable,
	pdpp.CodeIssuerMismatch:     exitUnreachable,
	pdpp.CodeStateMismatch:      exitUnreachable,
	pdpp.CodeTokenRequest:       exitUnreachable,
	pdpp.CodePackageUnreadable:  exitUnreachable,
	pdpp.CodeCacheWrite:         exitCreate,
}

// errReported ends a command with code 65 when its answer already contains the reason.
var errReported = errors.New("records were rejected")

// reportedError is an error that was already printed. Only its exit code is still needed.
type reportedError struct{ error }

func (e reportedError) Unwrap() error { return e.error }

// report prints an error to standard error for a command that still prints its answer.
func (a *app) report(err error) error {
	if err == nil {
		return nil
	}
	fail(a.Env, err, false)
	return reportedError{err}
}

func exitCode(err error) int {
	switch {
	case err == nil:
		return 0
	case errors.Is(err, errReported):
		return exitRefused
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	}
	if code, ok := exits[pdpp.CodeOf(err)]; ok {
		return code
	}
	return exitFailure
}

// fail prints an error: a line on standard error, or an object on standard output (H-8).
// The cause is for the operator alone and goes to standard error in both cases. No other
// function prints errors.
func fail(env Env, err error, asJSON bool) int {
	code := exitCode(err)
	var reported reportedError
	if err == nil || errors.Is(err, errReported) || errors.As(err, &reported) {
		return code
	}
	shown, cause := describe(err)
	if asJSON {
		text, _ := jsonText(map[string]problem{"error": shown}, "") // strings always encode
		_, _ = io.WriteString(env.Stdout, escaped(text))            // an error here cannot be reported
	} else {
		fmt.Fprintf(env.Stderr, "pdpp: %s\n", visible(shown.Message))
		if shown.Hint != "" {
			fmt.Fprintf(env.Stderr, "      %s\n", visible(shown.Hint))
		}
	}
	if cause != nil {
		fmt.Fprintf(env.Stderr, "      cause: %s\n", visible(fmt.Sprint(cause)))
	}
	return code
}

// problem is the error object of H-8.
type problem struct {
	Code    pdpp.Code `json:"code"`
	Message string    `json:"message"`
	Hint    string    `json:"hint,omitempty"`
}

func describe(err error) (shown problem, cause error) {
	var e *pdpp.Error
	switch {
	case errors.Is(err, context.Canceled):
		return problem{Code: pdpp.CodeInterrupted, Message: "The command was interrupted."}, nil
	case errors.As(err, &e):
		if cause = e.Err; e.Code == pdpp.CodeInputMissing && errors.Is(cause, fs.ErrNotExist) {
			cause = nil // the message says so already
		}
		return problem{Code: e.Code, Message: e.Message, Hint: e.Hint}, cause
	}
	return problem{Code: pdpp.CodeInternal, Message: "An unexpected error occurred.", Hint: "Run the command again. If this persists, report it with the cause."}, err
}
