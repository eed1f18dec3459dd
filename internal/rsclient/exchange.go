package rsclient

import (
	"bytes"
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/rawjson"
)

// reply is the answer of a server, read to its end or to the limit.
type reply struct {
	status  int
	header  http.Header
	length  int64 // of the body as declared; -1 if it is not
	body    []byte
	tooLong bool // the body is longer than the limit
}

// inMemory is a response body that was written inside the process. Its bytes need not be
// copied.
type inMemory interface{ Bytes() []byte }

// read calls a JSON route.
func (c *Client) read(ctx context.Context, in call, p Prefer) (*Answer, error) {
	in.prefer = p.header()
	r, bearer, err := c.exchange(ctx, &in)
	if err != nil {
		return nil, err
	}
	if r.status/100 != 2 {
		return nil, r.failure(bearer)
	}
	if r.tooLong {
		return nil, refused(pdpp.CodeUpstreamTooLarge, "The answer of the resource server at "+c.provider+" is too large. Ask for less: a smaller limit, or fewer fields.")
	}
	body, ok := r.json(in.isList, c.cfg.inside)
	switch {
	case !ok:
		return nil, refused(pdpp.CodeUpstreamInvalid, "The server at "+c.provider+" answered with something other than the JSON of this route. Check that the address is that of a PDPP server.")
	case repeats(body, bearer):
		return nil, refused(pdpp.CodeUpstreamInvalid, "The answer of the server at "+c.provider+" was withheld: it repeats the credential of the call. Tell the owner of that server; do not retry.")
	}
	if err := c.check(ctx, &in, body, bearer); err != nil {
		return nil, err
	}
	return &Answer{Body: body, RequestID: r.requestID(bearer), Applied: p.applied(r.header.Values("Preference-Applied"))}, nil
}

// check refuses an answer of another server that does not belong to this call. Answers
// of our own process need no check.
func (c *Client) check(ctx context.Context, in *call, body []byte, bearer string) error {
	switch {
	case c.cfg.inside:
		return nil
	case in.record != "" && namesOther(body, in.record):
		return refused(pdpp.CodeUpstreamInvalid, "The server at "+c.provider+" answered with another record than the requested one. Its answer is not shown. Check the id; if it is right, tell the owner of that server.")
	case in.isSchema && saysOwner(body):
		if c.cfg.OwnerToken != nil {
			c.cfg.OwnerToken(ctx, bearer)
		}
		return refused(pdpp.CodeOwnerCredential, "The resource server at "+c.provider+" says that this credential is the owner's. Only a credential that is limited by a grant may be used here.")
	}
	return nil
}

func refused(code pdpp.Code, message string) *Error {
	return &Error{Code: code, Message: message, Object: errorObject("adapter_error", code, message)}
}

// Refused returns an error that does not come from the server: of a call that is not
// made, or of an answer that is not accepted. step is its next_step; "" if the code
// implies it.
func Refused(code pdpp.Code, message, step string) *Error {
	e := refused(code, message)
	if step != "" {
		e.Object = withText(e.Object, "next_step", step)
	}
	return e
}

// exchange makes a call within the timeout. A read is repeated once if the connection
// failed or the server seems to be unavailable, and once with a renewed credential
// (MS-33).
func (c *Client) exchange(ctx context.Context, in *call) (r *reply, bearer string, err error) {
	target, ok := in.url(c.provider)
	if !ok {
		return nil, "", refused(pdpp.CodeUpstreamInvalid, "A name in this call cannot be used in the path of a URL. Check its stream, record or blob id.")
	}
	if len(target) > urlMax {
		return nil, "", in.tooLong()
	}
	if c.cfg.inside {
		r, err := c.callInside(ctx, in, target)
		return r, "", err
	}
	timed, cancel := context.WithTimeout(ctx, c.cfg.Timeout)
	defer cancel()
	if bearer, err = c.bearer(timed); err != nil {
		return nil, "", c.stopped(ctx, timed, err)
	}
	for repeated, renewed := false, false; ; {
		r, err := c.attempt(timed, in, target, bearer)
		switch {
		case timed.Err() != nil && err != nil:
			return nil, "", c.stopped(ctx, timed, err)
		case !repeated && (err != nil || r.isAway()):
			repeated = true
			continue
		case err != nil:
			return nil, "", refused(pdpp.CodeUpstreamUnreachable, "The resource server at "+c.provider+" cannot be reached. Check that it runs and that the address is right, then try again.")
		case r.status/100 == 3:
			return nil, "", refused(pdpp.CodeUpstreamRedirect, "The resource server at "+c.provider+" redirects this read elsewhere; redirects are not followed. Check that the address is right, with its scheme and path.")
		case r.status == http.StatusUnauthorized && !renewed && r.isStale():
			renewed = true
			if fresh, ok := c.renew(timed, bearer); ok {
				bearer = fresh
				continue
			}
		}
		return r, bearer, nil
	}
}

// bearer returns the token for a call; "" if the transport authorizes.
func (c *Client) bearer(ctx context.Context) (string, error) {
	if c.cfg.Token == nil {
		return "", nil
	}
	token, err := c.cfg.Token(ctx)
	var known *Error
	switch {
	case err == nil && token != "":
		return token, nil
	case errors.As(err, &known):
		return "", known
	}
	if err != nil && ctx.Err() == nil {
		c.cfg.Log.WarnContext(ctx, "there is no usable credential", "error", err)
	}
	return "", refused(pdpp.CodeInvalidToken, "There is no usable credential for the resource server at "+c.provider+".")
}

// renew returns a new token for the same credential; false if there is none, and the
// 401 is returned.
func (c *Client) renew(ctx context.Context, stale string) (string, bool) {
	if c.cfg.Renew == nil {
		return "", false
	}
	fresh, ok, err := c.cfg.Renew(ctx, stale)
	if err != nil {
		c.cfg.Log.WarnContext(ctx, "the credential was not renewed", "error", strings.ReplaceAll(err.Error(), stale, "…"))
	}
	return fresh, ok && err == nil && fresh != "" && fresh != stale
}

// stopped returns the error of a call that ended early. After a cancellation by the
// caller it is the error of ctx, after the deadline upstream_timeout. Any other error
// is returned unchanged.
func (c *Client) stopped(ctx, timed context.Context, err error) error {
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		return ctx.Err()
	case timed.Err() != nil:
		return refused(pdpp.CodeUpstreamTimeout, "The resource server at "+c.provider+" did not answer in time. Try again, or ask for less: a narrower filter, a smaller limit, or fewer fields.")
	}
	return err
}

// attempt sends one request and reads its answer.
func (c *Client) attempt(ctx context.Context, in *call, target, bearer string) (r *reply, err error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, target, nil)
	if err != nil {
		return nil, err
	}
	c.setHeaders(req, in, bearer)
	done := c.logged(ctx, in)
	defer func() { done(r, err) }()
	resp, err := c.cfg.Transport.RoundTrip(req)
	if err != nil {
		return nil, err
	}
	return in.receive(resp)
}

// receive reads an answer to its end, or to the limit.
func (in *call) receive(resp *http.Response) (r *reply, err error) {
	defer resp.Body.Close()
	r = &reply{status: resp.StatusCode, header: resp.Header, length: resp.ContentLength}
	most, part := in.most, in.part.Most > 0
	if r.status/100 != 2 {
		most, part = errorBodyMax, false
	}
	if r.length > int64(most) && !part {
		r.tooLong = true
		return r, nil
	}
	if whole, ok := resp.Body.(inMemory); ok {
		r.body = whole.Bytes()
	} else if r.body, err = readBody(resp, most); err != nil {
		return nil, err
	}
	if len(r.body) > most {
		r.body, r.tooLong = r.body[:most], true
	}
	return r, nil
}

// readBody reads a body to its end, or one byte more than the limit.
func readBody(resp *http.Response, most int) ([]byte, error) {
	limited := io.LimitReader(resp.Body, int64(most)+1)
	if resp.ContentLength < 0 || resp.ContentLength > int64(most) {
		return io.ReadAll(limited)
	}
	b := bytes.NewBuffer(make([]byte, 0, int(resp.ContentLength)+bytes.MinRead))
	_, err := b.ReadFrom(limited)
	return b.Bytes(), err
}

func (c *Client) setHeaders(req *http.Request, in *call, bearer string) {
	h := req.Header
	h.Set("Accept", "application/json")
	if in.accept != "" {
		h.Set("Accept", in.accept)
	}
	h.Set("User-Agent", "pdpp/"+c.cfg.Version)
	if bearer != "" {
		h.Set("Authorization", "Bearer "+bearer)
	}
	if id := c.cfg.RequestID(req.Context()); id != "" {
		h.Set("Request-Id", id)
	}
	if in.prefer != "" {
		h.Set("Prefer", in.prefer)
	}
	if in.part.Most > 0 {
		h.Set("Range", in.part.header())
	}
}

// logged returns a function that logs the end of a call (MS-268), with the route and
// without its arguments.
func (c *Client) logged(ctx context.Context, in *call) func(*reply, error) {
	var ms func() slog.Attr
	if c.cfg.Clock != nil {
		start := c.cfg.Clock()
		ms = func() slog.Attr { return slog.Int64("ms", c.cfg.Clock().Sub(start).Milliseconds()) }
	}
	return func(r *reply, err error) {
		level, attrs := slog.LevelDebug, []slog.Attr{slog.String("route", "GET "+in.route)}
		if r != nil {
			attrs = append(attrs, slog.Int("status", r.status), slog.Int("bytes", len(r.body)))
		}
		if err != nil || r.status/100 != 2 {
			level = slog.LevelWarn
		}
		if err != nil { // an error of the network contains addresses, but no content
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		if ms != nil {
			attrs = append(attrs, ms())
		}
		c.cfg.Log.LogAttrs(ctx, level, "rs read", attrs...)
	}
}

// isAway reports whether the server seems to be temporarily unavailable (502, 503,
// 504), so that a second try may succeed. It returns false if the answer has a
// Retry-After, or says that the read itself took too long.
func (r *reply) isAway() bool {
	switch r.status {
	case http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return r.header.Get("Retry-After") == "" && r.code() != pdpp.CodeTimeout
	}
	return false
}

// isStale reports whether a 401 means that the token is not valid. Two codes of other
// servers mean that a valid token does not cover this read (IO-3).
func (r *reply) isStale() bool {
	code := r.code()
	return code != ForeignStreamNotAllowed && code != ForeignInstanceMismatch
}

// code returns the code in the body of an error answer; "" if there is none.
func (r *reply) code() pdpp.Code {
	body, err := rawjson.CompactRelayed(nil, r.body)
	if err != nil {
		return ""
	}
	return pdpp.Code(text(object(body, "error"), "code"))
}

// json returns the body of a JSON route, without insignificant white space and
// otherwise as received (MS-35, MS-36); false if it is not such a body.
func (r *reply) json(isList, isOurs bool) ([]byte, bool) {
	body := bytes.TrimSuffix(r.body, []byte{'\n'})
	if !isOurs {
		if r.status == http.StatusNoContent || !isJSON(r.header) {
			return nil, false
		}
		var err error
		if body, err = rawjson.CompactRelayed(nil, r.body); err != nil {
			return nil, false
		}
	}
	kind := rawjson.KindOf(body)
	return body, kind == rawjson.KindObject || isList && kind == rawjson.KindArray
}

func isJSON(h http.Header) bool {
	t := mediaType(h)
	return t == "application/json" || strings.HasSuffix(t, "+json")
}

// mediaType returns the content type without parameters, in lower case.
func mediaType(h http.Header) string {
	t, _, err := mime.ParseMediaType(h.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return t
}

const maxRequestID = 200 // bytes; a longer value is ignored

// requestID returns the id that the server gave the answer (MS-37); "" if there is
// none.
func (r *reply) requestID(bearer string) string {
	for _, name := range []string{"Request-Id", "X-Request-Id"} {
		if id := r.header.Get(name); id != "" && len(id) <= maxRequestID && (bearer == "" || !repeats([]byte(id), bearer)) {
			return strings.ToValidUTF8(id, "")
		}
	}
	return ""
}

const minBearer = 16 // characters; a shorter token would be found in any text by chance

// repeats reports whether a text contains the bearer token (MS-48), escaped or not.
func repeats(text []byte, bearer string) bool {
	if len(bearer) < minBearer {
		return false
	}
	if bytes.Contains(text, []byte(bearer)) {
		return true
	}
	return bytes.IndexByte(text, '\\') >= 0 && bytes.Contains(rawjson.AppendText(slices.Grow([]byte(nil), len(text)), text), []byte(bearer))
}
