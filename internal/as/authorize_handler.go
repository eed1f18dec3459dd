package as

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"pdpp"
)

// authorize begins the code flow (H-144).
func (s *Server) authorize(w http.ResponseWriter, r *http.Request) error {
	f, formErr := parseForm(r.URL.RawQuery)
	id, err := s.beginAuthorize(r, f, formErr)
	if err == nil {
		return redirectTo(w, "/consent/"+id)
	}
	var back *redirected
	if errors.As(err, &back) {
		e := resolve(back.err)
		s.logFailure(r, e, back.err)
		return redirectTo(w, s.errorRedirect(back.params, s.Edge.Base(r), e))
	}
	s.showError(w, r, err)
	return nil
}

func (s *Server) beginAuthorize(r *http.Request, f form, formErr error) (id string, err error) {
	addr := s.Edge.ClientAddr(r)
	if uri := f.get("request_uri"); uri != "" && len(f["request_uri"]) == 1 && len(f["client_id"]) == 1 {
		if !strings.HasPrefix(uri, pushedPrefix) {
			return "", invalidRequest("request_uri was not issued by this server. Push the request again.")
		}
		return s.beginPushed(r.Context(), uri, pdpp.ClientID(f.get("client_id")), addr)
	}
	p, err := s.checkCode(r, f, formErr)
	if err != nil {
		return "", err
	}
	id, err = s.begin(r.Context(), p, addr)
	if err != nil && !isTooMany(err) {
		return "", &redirected{p, err}
	}
	return id, err
}

// errorRedirect returns the redirect URI with an error (RFC 6749 §4.1.2.1, RFC 9207).
func (s *Server) errorRedirect(p *params, base string, e *oauthError) string {
	return addQuery(p.RedirectURI, "error", e.code, "error_description", ascii(e.description), "state", p.State, "iss", base)
}

// showError shows an error in the browser: without a client and its redirect URI, there is
// no other place for it (H-144).
func (s *Server) showError(w http.ResponseWriter, r *http.Request, err error) {
	e := resolve(err)
	s.logFailure(r, e, err)
	status := e.status
	if status == http.StatusUnauthorized {
		status = http.StatusBadRequest
	}
	if e.retryAfter > 0 {
		w.Header().Set("Retry-After", strconv.Itoa(e.retryAfter))
	}
	s.Page(w, r, status, "This request cannot be answered", e.description)
}

// pushRequest handles a pushed authorization request (H-151, RFC 9126).
func (s *Server) pushRequest(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(w, r, maxRequest)
	if err != nil {
		return err
	}
	if f.get("request_uri") != "" {
		return invalidRequest("A pushed request must not contain request_uri. Send its parameters instead.")
	}
	p, err := s.checkCode(r, f, nil)
	if err != nil {
		return err
	}
	uri, err := s.push(r.Context(), p, s.Edge.ClientAddr(r))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, struct {
		URI       string `json:"request_uri"`
		ExpiresIn int    `json:"expires_in"`
	}{uri, int(pushedLife.Seconds())})
}

func redirectTo(w http.ResponseWriter, target string) error {
	h := w.Header()
	h.Set("Location", target)
	h.Set("Referrer-Policy", "no-referrer")
	w.WriteHeader(http.StatusSeeOther)
	return nil
}
