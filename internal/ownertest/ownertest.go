package ownertest

import (
	"html"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"regexp"
	"strings"
	"testing"
)

// Password is a password for the owner.
const Password = "correct horse battery"

// Browser is the owner's browser, without scripts. It stops at a redirect to another site.
type Browser struct {
	t    testing.TB
	base string // R
	http *http.Client
}

// NewBrowser returns a browser in which nobody is signed in, for the server at base.
func NewBrowser(t testing.TB, base string) *Browser {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	return &Browser{t: t, base: base, http: &http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), base+"/") {
			return http.ErrUseLastResponse
		}
		return nil
	}}}
}

// page is a page that the browser shows, or a redirect to another site.
type page struct {
	url, html string
	leaves    string // the redirect
}

func (b *Browser) do(method, target string, form url.Values) page {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), method, target, strings.NewReader(form.Encode()))
	if err != nil {
		b.t.Fatal(err)
	}
	req.Header.Set("Accept", "text/html")
	if method == http.MethodPost {
		req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		req.Header.Set("Origin", b.base)
	}
	resp, err := b.http.Do(req)
	if err != nil {
		b.t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		b.t.Fatal(err)
	}
	p := page{url: resp.Request.URL.String(), html: string(body), leaves: resp.Header.Get("Location")}
	if resp.StatusCode != http.StatusOK && p.leaves == "" {
		b.t.Fatalf("%s %s: %d\n%s", method, target, resp.StatusCode, body)
	}
	return p
}

// submit posts the form of a page whose action ends in action, with the hidden fields of the
// page and the given ones.
func (b *Browser) submit(p page, action string, fields url.Values) page {
	b.t.Helper()
	form := url.Values{}
	for _, m := range regexp.MustCompile(`<input type="hidden" name="([^"]+)"[^>]* value="([^"]*)"`).FindAllStringSubmatch(p.html, -1) {
		form.Set(m[1], html.UnescapeString(m[2]))
	}
	for name, values := range fields {
		form[name] = values
	}
	target := regexp.MustCompile(`(?:form)?action="([^"]*` + action + `)"`).FindStringSubmatch(p.html)
	if target == nil {
		b.t.Fatalf("the page %s has no form for %s:\n%s", p.url, action, p.html)
	}
	return b.do(http.MethodPost, b.base+html.UnescapeString(target[1]), form)
}

// Approve opens an authorization request, signs in where needed, chooses the first stream, and
// approves. It returns where the browser is sent with the code.
func (b *Browser) Approve(authorize string) string {
	b.t.Helper()
	p := b.do(http.MethodGet, authorize, nil)
	if strings.Contains(p.url, "/owner/login") {
		p = b.submit(p, "/login", url.Values{"password": {Password}})
	}
	p = b.submit(p, "/review", url.Values{"stream": {"1"}, "duration": {"30d"}})
	if p = b.submit(p, "/approve", nil); p.leaves == "" {
		b.t.Fatalf("the approval leads to %s:\n%s", p.url, p.html)
	}
	return p.leaves
}

// Return opens the redirect that Approve returned, at which the client waits for its code.
func (b *Browser) Return(target string) {
	b.t.Helper()
	req, err := http.NewRequestWithContext(b.t.Context(), http.MethodGet, target, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		b.t.Fatal(err)
	}
	_ = resp.Body.Close()
	if resp.StatusCode >= http.StatusBadRequest {
		b.t.Errorf("the client answers %d to its code", resp.StatusCode)
	}
}
