package ingest

import (
	"errors"

	"pdpp/internal/rawjson"
)

// LineCode says why a line was refused (I-6).
type LineCode string

// The codes.
const (
	MalformedNDJSON       LineCode = "malformed_ndjson"
	InvalidUTF8           LineCode = "invalid_utf8"
	InvalidRecord         LineCode = "invalid_record"
	InvalidRecordIdentity LineCode = "invalid_record_identity"
)

// Rejection is why one line was refused. The message is for people; it names
// fields and rules, never values.
type Rejection struct {
	Code    LineCode
	Message string
}

func badRecord(message string) *Rejection   { return &Rejection{InvalidRecord, message} }
func badIdentity(message string) *Rejection { return &Rejection{InvalidRecordIdentity, message} }

// refusal turns an error of rawjson.Compact into a rejection.
func refusal(err error) *Rejection {
	switch {
	case errors.Is(err, rawjson.ErrUTF8):
		return &Rejection{InvalidUTF8, "The text is not valid UTF-8."}
	case errors.Is(err, rawjson.ErrDepth):
		return &Rejection{MalformedNDJSON, "The JSON is nested too deep."}
	case errors.Is(err, rawjson.ErrDuplicateKey):
		return &Rejection{MalformedNDJSON, "An object has the same key twice."}
	}
	return &Rejection{MalformedNDJSON, "The text is not valid JSON."}
}

// tooLong is the rejection of a line or row above MaxLine.
func tooLong() *Rejection { return badRecord("The line is longer than 16 MiB.") }
