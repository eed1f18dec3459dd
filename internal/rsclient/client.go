package rsclient

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"pdpp/internal/secret"
)

// The limits of a read (MS-20).
const (
	Timeout       = 30 * time.Second // of one call, including its repetition
	BodyMax       = 32 << 20         // bytes of a JSON answer
	WindowBodyMax = 1 << 20          // bytes of a field-window answer
	errorBodyMax  = 1 << 20          // bytes of an answer that is an error
)

// Config is what a Client needs. Only Provider is required.
type Config struct {
	Provider string // an http or https URL without user info, query and fragment
	Version  string // for User-Agent

	Transport http.RoundTripper // if nil, Pooled
	Timeout   time.Duration     // if 0, the constant Timeout

	// Token returns the bearer token for a call. An *Error is returned to the caller; any
	// other error means that there is no usable credential. If Token is nil, the transport
	// authorizes (H-53).
	Token func(context.Context) (string, error)
	// Renew renews the credential that a token belongs to; ok is false when that fails. It
	// is called at most once in a call, after a 401 about the token (MS-33). If Renew is
	// nil, nothing is renewed.
	Renew func(ctx context.Context, stale string) (token string, ok bool, err error)
	// OwnerToken is called when the server reports that a token is an owner's. That read
	// fails with pdpp.CodeOwnerCredential. OwnerToken may be nil.
	OwnerToken func(ctx context.Context, token string)
	// RequestID returns the Request-Id of a call, or "" for none. If RequestID is nil, each
	// call gets a new id.
	RequestID func(context.Context) string

	Log   *slog.Logger     // if nil, nothing is logged
	Clock func() time.Time // for the duration in the log; if nil, it is not logged

	inside bool // answers come from this process: they are compact JSON and are not checked
}

// Client reads a resource server over HTTP. It is safe for concurrent use.
type Client struct {
	cfg      Config
	provider string
}

var _ Reader = (*Client)(nil)

// New makes a client. Only the origin of the provider is ever called (MS-33).
func New(cfg Config) (*Client, error) {
	u, err := url.Parse(cfg.Provider)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" {
		return nil, errors.New("the provider must be an absolute http or https URL")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		return nil, errors.New("the provider URL must have no user info, query or fragment")
	}
	if cfg.Transport == nil {
		cfg.Transport = Pooled()
	}
	if cfg.Timeout == 0 {
		cfg.Timeout = Timeout
	}
	if cfg.Log == nil {
		cfg.Log = noLog
	}
	if cfg.RequestID == nil {
		cfg.RequestID = func(context.Context) string { return secret.ID("req_") }
	}
	return &Client{cfg: cfg, provider: strings.TrimRight(cfg.Provider, "/")}, nil
}

var noLog = slog.New(slog.DiscardHandler)

// Pooled returns the default transport, for callers that wrap it.
func Pooled() http.RoundTripper {
	t := http.DefaultTransport.(*http.Transport).Clone()
	t.MaxIdleConnsPerHost = 8 // one host, several calls at a time (MS-13)
	t.MaxResponseHeaderBytes = 64 << 10
	return t
}

// Provider returns the server's URL without a trailing slash.
func (c *Client) Provider() string { return c.provider }

// Schema reads /v1/schema.
func (c *Client) Schema(ctx context.Context, q Query) (*Answer, error) {
	return c.read(ctx, call{route: "/v1/schema", query: q, most: BodyMax, isSchema: true}, Prefer{})
}

// Records reads a page of records.
func (c *Client) Records(ctx context.Context, stream string, q Query, p Prefer) (*Answer, error) {
	return c.read(ctx, call{
		route: "/v1/streams/{stream}/records", segments: []string{stream}, query: q, most: BodyMax, isList: true,
	}, p)
}

// Record reads one record.
func (c *Client) Record(ctx context.Context, stream, id string, q Query, p Prefer) (*Answer, error) {
	return c.read(ctx, call{
		route: "/v1/streams/{stream}/records/{id}", segments: []string{stream, id}, query: q, most: BodyMax, record: id,
	}, p)
}

// FieldWindow reads a piece of a field.
func (c *Client) FieldWindow(ctx context.Context, stream, id string, q Query) (*Answer, error) {
	return c.read(ctx, call{
		route: "/v1/streams/{stream}/records/{id}/field-window", segments: []string{stream, id}, query: q, most: WindowBodyMax, record: id,
	}, Prefer{})
}

// Aggregate reads one metric of a stream.
func (c *Client) Aggregate(ctx context.Context, stream string, q Query) (*Answer, error) {
	return c.read(ctx, call{
		route: "/v1/streams/{stream}/aggregate", segments: []string{stream}, query: q, most: BodyMax,
	}, Prefer{})
}

// Search reads /v1/search, or the route of another mode: "semantic", "hybrid".
func (c *Client) Search(ctx context.Context, mode string, q Query, p Prefer) (*Answer, error) {
	in := call{route: "/v1/search", query: q, most: BodyMax, isList: true}
	if mode == "semantic" || mode == "hybrid" {
		in.route += "/" + mode
	}
	return c.read(ctx, in, p)
}

// call is one read of a route. Logs contain the route without its arguments (MS-268).
type call struct {
	route    string
	segments []string // values for the {names} of the route, in order
	query    Query
	prefer   string
	accept   string // "" for JSON
	part     Part   // of the body; zero for all of it
	most     int
	isList   bool   // the answer may be a list
	record   string // the record that the answer must be about; "" for any
	isSchema bool   // the answer says what kind of token was used
}

// url returns the URL of the call; false if a segment is empty or a dot segment, which
// would make it another route.
func (in *call) url(provider string) (string, bool) {
	var b strings.Builder
	b.Grow(len(provider) + len(in.route) + len(in.query.text) + 128)
	b.WriteString(provider)
	n := 0
	for part := range strings.SplitSeq(in.route[1:], "/") {
		if strings.HasPrefix(part, "{") {
			part = in.segments[n]
			n++
			if part == "" || part == "." || part == ".." {
				return "", false
			}
			part = url.PathEscape(part)
		}
		b.WriteByte('/')
		b.WriteString(part)
	}
	if len(in.query.text) > 0 {
		b.WriteByte('?')
		b.Write(in.query.text)
	}
	return b.String(), true
}

// header returns the value of Prefer (MS-39); "" if nothing is preferred.
func (p Prefer) header() string {
	var buf [96]byte
	b := buf[:0]
	for _, known := range preferences {
		n := *known.value(&p)
		if n <= 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(append(b, known.name...), '='), int64(n), 10)
	}
	return string(b)
}

// preferences are the preferences by their names (REC-38).
var preferences = []struct {
	name  string
	value func(*Prefer) *int
}{
	{"pdpp-field-preview", func(p *Prefer) *int { return &p.FieldPreview }},
	{"pdpp-hit-preview", func(p *Prefer) *int { return &p.HitPreview }},
	{"pdpp-page-bytes", func(p *Prefer) *int { return &p.PageBytes }},
}

// applied reads Preference-Applied (RFC 7240 §3). A value above the requested one does
// not count as applied.
func (p Prefer) applied(values []string) Prefer {
	var did Prefer
	for part := range strings.SplitSeq(strings.Join(values, ","), ",") {
		part, _, _ = strings.Cut(part, ";")
		name, value, _ := strings.Cut(part, "=")
		value = strings.Trim(strings.TrimSpace(value), `"`)
		for _, known := range preferences {
			if strings.EqualFold(known.name, strings.TrimSpace(name)) {
				*known.value(&did) = appliedValue(value, *known.value(&p))
			}
		}
	}
	return did
}

// appliedValue returns the value that the server applied: the requested one if the
// server names none, and 0 if its value is invalid or larger.
func appliedValue(value string, requested int) int {
	if value == "" {
		return requested
	}
	n, err := strconv.Atoi(value)
	if err != nil || n < 1 || n > requested {
		return 0
	}
	return n
}
