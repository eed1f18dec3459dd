package ingest

import (
	"errors"

	"pdpp/internal/rawjson"
)

// LineCode is why a line was refused (I-6).
type LineCode string

// The codes.
const (
	malformedNDJSON       LineCode = "malformed_ndjson"
	invalidUTF8           LineCode = "invalid_utf8"
	invalidRecord         LineCode = "invalid_record"
	invalidRecordIdentity LineCode = "invalid_record_identity"
)

// Rejection is why one line was refused. The message is for people; it names
// fields and rules, never values.
type Rejection struct {
	Code    LineCode
	Message string
}

func badRecord(message string) *Rejection   { return &Rejection{invalidRecord, message} }
func badIdentity(message string) *Rejection { return &Rejection{invalidRecordIdentity, message} }

// refusal turns an error of rawjson.Compact into a rejection.
func refusal(err error) *Rejection {
	switch {
	case errors.Is(err, rawjson.ErrUTF8):
		return &Rejection{invalidUTF8, "The text is not valid UTF-8."}
	case errors.Is(err, rawjson.ErrDepth):
		return &Rejection{malformedNDJSON, "The JSON is nested too deep."}
	case errors.Is(err, rawjson.ErrDuplicateKey):
		return &Rejection{malformedNDJSON, "An object has the same key twice."}
	}
	return &Rejection{malformedNDJSON, "The text is not valid JSON."}
}

// tooLong returns the rejection of a line or row above maxLine.
func tooLong() *Rejection { return badRecord("The line is longer than 16 MiB.") }
