package as

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"unicode/utf8"
)

// The largest bodies of OAuth endpoints (H-65).
const (
	maxBody    = 64 << 10
	maxRequest = 256 << 10 // of PAR and device authorization, which carry authorization_details
)

// form is the parameters of a request, each at most once except resource.
type form url.Values

// get returns a parameter; "" when it was not sent. RFC 6749 §3.1 treats an empty value like
// none.
func (f form) get(name string) string { return url.Values(f).Get(name) }

// readForm reads the body of a request (H-140).
func readForm(w http.ResponseWriter, r *http.Request, limit int64) (form, error) {
	body, err := readBody(w, r, "application/x-www-form-urlencoded", limit)
	if err != nil {
		return nil, err
	}
	return parseForm(string(body))
}

// parseForm parses parameters. It returns the form even with an error, because the error
// may have to be sent to the redirect URI in it.
func parseForm(text string) (form, error) {
	values, err := url.ParseQuery(text)
	if err != nil {
		return form(values), invalidRequest("The parameters are not form-encoded.")
	}
	for name, list := range values {
		if len(list) > 1 && name != "resource" {
			err = invalidRequest("A parameter is repeated. Send each once; only resource may be repeated.")
		}
		for _, value := range list {
			if !utf8.ValidString(value) {
				err = invalidRequest("A parameter is not valid UTF-8.")
			}
		}
	}
	return form(values), err
}

// readBody reads a body of one type within a limit.
func readBody(w http.ResponseWriter, r *http.Request, contentType string, limit int64) ([]byte, error) {
	if got, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || got != contentType {
		return nil, invalidRequest("The Content-Type must be " + contentType + ".")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, limit))
	var tooBig *http.MaxBytesError
	switch {
	case errors.As(err, &tooBig):
		return nil, &oauthError{
			status: http.StatusRequestEntityTooLarge, code: "resource_limit",
			description: "The body is larger than the " + strconv.FormatInt(limit, 10) + " bytes that this endpoint accepts.",
		}
	case err != nil:
		return nil, invalidRequest("The body could not be read. Send the request again.")
	}
	return body, nil
}
