package pages

import (
	"errors"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/secret"
	"pdpp/internal/signin"
)

// visit is one request for a page.
type visit struct {
	pages   *Pages
	w       http.ResponseWriter
	r       *http.Request
	base    string          // R
	session *signin.Session // nil if nobody is signed in
	secret  string          // the value of the session cookie, or of the form cookie before sign-in
}

// handler answers a visit. An error becomes an error page.
type handler func(*visit) error

// maxForm bounds the body of a form (H-65).
const maxForm = 1 << 20

// open serves a page to anybody.
func (p *Pages) open(h handler) http.Handler {
	return httpx.Handler(func(w http.ResponseWriter, r *http.Request) error {
		v, err := p.visit(w, r)
		if err == nil && r.Method == http.MethodPost {
			err = v.checkForm()
		}
		if err == nil {
			err = h(v)
		}
		return v.fail(err)
	})
}

// owner serves a page to an owner who is signed in. Others are sent to the sign-in page.
func (p *Pages) owner(h handler) http.Handler {
	return p.open(func(v *visit) error {
		if v.session == nil {
			return v.askToSignIn()
		}
		return h(v)
	})
}

func (p *Pages) visit(w http.ResponseWriter, r *http.Request) (*visit, error) {
	r = r.WithContext(httpx.WithAddress(r.Context(), p.Edge.ClientAddr(r)))
	v := &visit{pages: p, w: w, r: r, base: p.Edge.Base(r)}
	v.setHeaders()
	cookie, err := r.Cookie(v.cookieName(sessionCookie))
	if err == nil {
		session, err := p.SignIn.Session(r.Context(), cookie.Value)
		if err == nil {
			v.session, v.secret = session, cookie.Value
			return v, nil
		}
		if pdpp.CodeOf(err) != pdpp.CodeAuthentication {
			return v, err
		}
	}
	if cookie, err := r.Cookie(v.cookieName(formCookie)); err == nil {
		v.secret = cookie.Value
	}
	return v, nil
}

// setHeaders sets the headers that protect a page from other sites (H-174).
func (v *visit) setHeaders() {
	h := v.w.Header()
	h.Set("Content-Security-Policy", contentPolicy+"; form-action 'self'")
	h.Set("X-Frame-Options", "DENY")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "same-origin") // with no-referrer browsers post Origin: null
	h.Set("Cache-Control", "no-store")
	if v.isTLS() {
		h.Set("Strict-Transport-Security", "max-age=31536000")
	}
}

const contentPolicy = "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self'; base-uri 'none'; frame-ancestors 'none'"

// allowRedirects lets the forms of a page lead to other sites. Browsers apply form-action to
// every redirect after a post, and the site of a client may redirect further, to an
// application for example.
func (v *visit) allowRedirects() { v.w.Header().Set("Content-Security-Policy", contentPolicy) }

func isWeb(u *url.URL) bool { return u.Scheme == "https" || u.Scheme == "http" }

func (v *visit) isTLS() bool { return strings.HasPrefix(v.base, "https://") }

const (
	sessionCookie = "pdpp_session"
	formCookie    = "pdpp_form"
)

// cookieName returns the name of a cookie. Under https it has the prefix that makes
// browsers bind it to this host.
func (v *visit) cookieName(name string) string {
	if v.isTLS() {
		return "__Host-" + name
	}
	return name
}

func (v *visit) setCookie(name, value string, maxAge int) {
	http.SetCookie(v.w, &http.Cookie{
		Name: v.cookieName(name), Value: value, Path: "/", MaxAge: maxAge, HttpOnly: true, Secure: v.isTLS(), SameSite: http.SameSiteLaxMode,
	})
}

// startSession gives the browser the cookie of a new session. Its former session ends,
// because the browser no longer has the cookie to end it.
func (v *visit) startSession(cookie string) error {
	if v.session != nil {
		if err := v.pages.SignIn.SignOut(v.r.Context(), v.secret); err != nil {
			return err
		}
	}
	v.setCookie(sessionCookie, cookie, 0)
	v.setCookie(formCookie, "", -1)
	return nil
}

// signIn starts a session and returns the browser to where it came from.
func (v *visit) signIn(cookie, returnTo string) error {
	if err := v.startSession(cookie); err != nil {
		return err
	}
	return v.redirect(safeReturn(returnTo))
}

// csrf returns the token of the forms of this visit. Before sign-in it belongs to a cookie
// that lives for an hour (H-178).
func (v *visit) csrf() string {
	if v.secret == "" {
		v.secret = secret.Token("")
		v.setCookie(formCookie, v.secret, 3600)
	}
	return v.pages.SignIn.CSRF(v.secret)
}

var (
	errForged = &pdpp.Error{
		Code:    pdpp.CodePermission,
		Message: "This form was not sent from a page of this server, or the page was open for too long.",
		Hint:    "Go back, reload the page and try again.",
	}
	errNoPage = pdpp.Errorf(pdpp.CodeNotFound, "There is no such page. Check the address.")
)

// checkForm parses a posted form and refuses one that another site sent (H-178).
func (v *visit) checkForm() error {
	v.r.Body = http.MaxBytesReader(v.w, v.r.Body, maxForm)
	if err := v.r.ParseForm(); err != nil {
		var tooBig *http.MaxBytesError
		if errors.As(err, &tooBig) {
			return err
		}
		return pdpp.Errorf(pdpp.CodeInvalidRequest, "The form cannot be read. Go back and try again.")
	}
	if !v.sameOrigin() || v.secret == "" || !v.pages.SignIn.CheckCSRF(v.secret, v.r.PostForm.Get("_csrf")) {
		return errForged
	}
	return nil
}

// sameOrigin reports whether the browser says that a page of this server sent the request.
func (v *visit) sameOrigin() bool {
	if origins := v.r.Header["Origin"]; len(origins) > 0 {
		return len(origins) == 1 && origins[0] == v.base
	}
	return v.r.Header.Get("Sec-Fetch-Site") == "same-origin"
}

// value returns a field of the posted form without surrounding spaces.
func (v *visit) value(name string) string { return strings.TrimSpace(v.r.PostForm.Get(name)) }

func (v *visit) redirect(target string) error {
	v.w.Header().Set("Location", target)
	v.w.WriteHeader(http.StatusSeeOther)
	return nil
}

// askToSignIn sends browsers to the sign-in page. Programs get an error.
func (v *visit) askToSignIn() error {
	if !v.wantsHTML() {
		return pdpp.Errorf(pdpp.CodeAuthentication, "Only the owner of the data can use this page. Sign in with a browser at %s/owner.", v.base)
	}
	target := "/owner"
	if v.r.Method == http.MethodGet {
		target = v.r.URL.RequestURI()
	}
	return v.redirect("/owner/login?return_to=" + url.QueryEscape(target))
}

// safeReturn returns the path to continue at after sign-in: a page of an owner, and never
// another site (H-176).
func safeReturn(target string) string {
	const home = "/owner"
	if !strings.HasPrefix(target, "/") || strings.HasPrefix(target, "//") || strings.ContainsAny(target, "\\\r\n\t") ||
		strings.ContainsFunc(target, func(c rune) bool { return c < ' ' || c == 0x7f }) {
		return home
	}
	u, err := url.Parse(target)
	if err != nil || u.Host != "" || u.Scheme != "" || path.Clean(u.Path) != u.Path {
		return home
	}
	known := slices.ContainsFunc([]string{"/owner", "/consent", "/device", "/setup"}, func(prefix string) bool {
		return u.Path == prefix || strings.HasPrefix(u.Path, prefix+"/")
	})
	if !known || strings.HasPrefix(u.Path, "/owner/log") || strings.HasPrefix(u.Path, "/owner/link") || strings.HasPrefix(u.Path, "/owner/first-run") {
		return home
	}
	return u.RequestURI()
}

// wantsHTML reports whether the client is a browser that shows pages.
func (v *visit) wantsHTML() bool { return strings.Contains(v.r.Header.Get("Accept"), "text/html") }

// fail answers with an error page. Programs, and failures of this server, get the error
// envelope.
func (v *visit) fail(err error) error {
	var e *pdpp.Error
	if err == nil || !errors.As(err, &e) || !v.wantsHTML() {
		return err
	}
	status := e.Code.Status()
	if status == 0 || status == http.StatusInternalServerError {
		return err
	}
	if e.RetryAfter > 0 {
		v.w.Header().Set("Retry-After", itoa(e.RetryAfter))
	}
	text := []string{e.Message}
	for _, more := range []string{e.Hint, e.NextStep} {
		if more != "" {
			text = append(text, more)
		}
	}
	return v.render(status, "message", &page{Title: titleOf(status), Narrow: true, Body: message{Text: text, Link: &link{"/owner", "To the start page"}}})
}

func titleOf(status int) string {
	switch status {
	case http.StatusNotFound:
		return "There is nothing here"
	case http.StatusTooManyRequests:
		return "Please wait"
	case http.StatusForbidden, http.StatusUnauthorized:
		return "This was not done"
	}
	return "That did not work"
}
