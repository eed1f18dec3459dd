package rsclient

import (
	"context"
	"encoding/json"
	"strconv"

	"pdpp"
)

// Reader reads a resource server. Every error is an *Error, or the context's.
type Reader interface {
	// Provider returns the server's URL without a trailing slash.
	Provider() string

	Schema(ctx context.Context, q Query) (*Answer, error)
	Records(ctx context.Context, stream string, q Query, p Prefer) (*Answer, error)
	Record(ctx context.Context, stream, id string, q Query, p Prefer) (*Answer, error)
	FieldWindow(ctx context.Context, stream, id string, q Query) (*Answer, error)
	Aggregate(ctx context.Context, stream string, q Query) (*Answer, error)
	// Search reads /v1/search, or the route of another mode: "semantic", "hybrid".
	Search(ctx context.Context, mode string, q Query, p Prefer) (*Answer, error)
	Blob(ctx context.Context, id string, q Query, part Part) (*Blob, error)
}

// Prefer contains the preferences of a read (MS-39); a zero value means no preference.
type Prefer struct {
	FieldPreview int // characters
	HitPreview   int // characters
	PageBytes    int
}

// Answer is a 2xx answer of a JSON route.
type Answer struct {
	Body      []byte // an object or, of a list route, an array; as received without insignificant white space
	RequestID string // "" when the server gave none
	Applied   Prefer // what the server says it did (Preference-Applied)
}

// Part is the requested part of a blob: at most Most bytes, from an offset.
type Part struct{ From, Most int }

// header returns the value of Range for the part.
func (p Part) header() string {
	return "bytes=" + strconv.Itoa(p.From) + "-" + strconv.Itoa(p.From+p.Most-1)
}

// Blob is the content of a blob, or a part of it.
type Blob struct {
	Content  []byte
	MimeType string
	Charset  string // as declared in Content-Type; "" when it is not
	Size     int64  // of the whole; -1 if not known
	Last     bool   // the content reaches the end of the blob
	Whole    bool   // the content is the whole blob
	SHA256   string // from the ETag; "" when not known
}

// Error is a read that failed. Object is the normalized error object of MS-38: it
// has at least type, code and message, and every further member as received.
type Error struct {
	Status    int       // 0 if there was no usable answer (upstream_…)
	Code      pdpp.Code // of another server: any text
	Message   string
	Object    json.RawMessage
	RequestID string
}

// Error implements error.
func (e *Error) Error() string { return string(e.Code) + ": " + e.Message }

// Codes of other servers that refuse a stream or a connection, not the token (IO-3).
const (
	ForeignStreamNotAllowed pdpp.Code = "context.stream_not_allowed"
	ForeignInstanceMismatch pdpp.Code = "context.instance_mismatch"
)
