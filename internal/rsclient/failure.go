package rsclient

import (
	"net/http"
	"strconv"
	"strings"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/rawjson"
)

const maxErrorChars = 300 // of an error that is plain text (MS-38)

// failure normalizes an answer that is an error (MS-38).
func (r *reply) failure(bearer string) *Error {
	e := &Error{Status: r.status, RequestID: r.requestID(bearer)}
	body, err := rawjson.CompactRelayed(nil, r.body)
	obj := object(body, "error")
	switch {
	case err != nil || obj == nil || r.tooLong:
		e.Object = errorObject("rs_error", r.unnamed(), r.plain())
	default:
		e.Object = r.complete(obj)
	}
	if repeats(e.Object, bearer) { // MS-48
		code := pdpp.Code(text(e.Object, "code"))
		if repeats([]byte(code), bearer) {
			code = r.unnamed()
		}
		e.Object = errorObject("rs_error", code, r.statusMessage())
	}
	if s := r.retryAfter(); s != "" {
		e.Object = append(e.Object[:len(e.Object)-1:len(e.Object)-1], `,"retry_after_s":`+s+"}"...)
	}
	e.Code, e.Message = pdpp.Code(text(e.Object, "code")), text(e.Object, "message")
	return e
}

// unnamed returns the code for an error answer that has no code. A 401, also of a
// gateway, means that the credential is not accepted.
func (r *reply) unnamed() pdpp.Code {
	if r.status == http.StatusUnauthorized {
		return pdpp.CodeInvalidToken
	}
	return pdpp.Code("http_" + strconv.Itoa(r.status))
}

func errorObject(kind string, code pdpp.Code, message string) []byte {
	w := rawjson.Writer("{")
	w.Text("type", kind)
	w.Text("code", string(code))
	w.Text("message", message)
	return append(w, '}')
}

// withText returns an object with a further member. It overwrites obj.
func withText(obj []byte, name, value string) []byte {
	w := rawjson.Writer(obj[:len(obj)-1])
	w.Text(name, value)
	return append(w, '}')
}

// complete adds the missing members of an error object. A type, code or message that is
// not a string counts as missing; the header replaces retry_after_s.
func (r *reply) complete(obj []byte) []byte {
	kind, code, message := text(obj, "type"), text(obj, "code"), text(obj, "message")
	drop := map[string]bool{"retry_after_s": r.retryAfter() != ""}
	for name, value := range map[string]string{"type": kind, "code": code, "message": message} {
		drop[name] = value == ""
	}
	b := without(obj, drop)
	w := rawjson.Writer(b[:len(b)-1])
	if kind == "" {
		w.Text("type", "rs_error")
	}
	if code == "" {
		code = kind
		if code == "" {
			code = string(r.unnamed())
		}
		w.Text("code", code)
	}
	if message == "" {
		w.Text("message", r.statusMessage())
	}
	return append(w, '}')
}

// plain returns the beginning of an error that is plain text. HTML pages and other
// content are not shown.
func (r *reply) plain() string {
	t := mediaType(r.header)
	if t != "text/plain" && !isJSON(r.header) || !utf8.Valid(r.body) {
		return r.statusMessage()
	}
	s := strings.Join(strings.Fields(string(r.body)), " ")
	if s == "" {
		return r.statusMessage()
	}
	n := 0
	for i := range s {
		if n == maxErrorChars {
			return s[:i] + "…"
		}
		n++
	}
	return s
}

// statusMessage returns a message with the HTTP status, for an error without a message
// that can be shown.
func (r *reply) statusMessage() string {
	return "The resource server answered with HTTP status " + strconv.Itoa(r.status) + "."
}

// retryAfter returns the header Retry-After in seconds; "" if it is missing or a date.
func (r *reply) retryAfter() string {
	n, err := strconv.ParseUint(strings.TrimSpace(r.header.Get("Retry-After")), 10, 31)
	if err != nil {
		return ""
	}
	return strconv.FormatUint(n, 10)
}
