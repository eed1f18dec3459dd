package pages_test

import (
	"net/http"
	"os"
	"regexp"
	"strings"
	"testing"

	"pdpp/internal/pages"
)

// posts returns the paths of all forms, with ids filled in.
func (w *world) posts(request string) (out []string) {
	w.T.Helper()
	grant := w.grants()[0]
	for _, pattern := range pages.Routes() {
		path, found := strings.CutPrefix(pattern, "POST ")
		if !found {
			continue
		}
		id := "cin_work"
		switch {
		case strings.HasPrefix(path, "/consent"):
			id = strings.TrimPrefix(request, "/consent/")
		case strings.HasPrefix(path, "/owner/grants"):
			id = string(grant.ID)
		case !strings.HasPrefix(path, "/owner/connections"):
			id = "any"
		}
		out = append(out, strings.ReplaceAll(path, "{id}", id))
	}
	if len(out) < 20 {
		w.T.Fatalf("only %d forms: %v", len(out), out)
	}
	return out
}

// Every form is refused unless it comes from a page of this server that this browser was
// shown (H-178), and a refused one changes nothing.
func TestH178EveryFormIsProtected(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b, other := w.signedIn(w.Subject), w.signedIn(w.Subject)
	_, token := b.connect("Reader", "stream", "3", "duration", "30d")
	request := w.ask(w.register("Demo", callback), callback)
	b.choose(request, "stream", "3", "duration", "30d")
	mine, digest := b.last.csrf(), b.last.value("digest")
	theirs := other.get("/owner/security").csrf()
	if mine == theirs || mine == "" {
		t.Fatalf("two sessions have the form tokens %q and %q", mine, theirs)
	}
	fields := []string{"digest", digest, "stream", "3", "duration", "30d", "label", "Changed", "password", password, "current", password}
	ours := "Origin: " + w.URL
	attacks := map[string]struct {
		token   string
		headers []string
	}{
		"no token":                               {"", []string{ours}},
		"a token of another session":             {theirs, []string{ours}},
		"a foreign origin":                       {mine, []string{"Origin: https://evil.example"}},
		"a foreign origin that says same-origin": {mine, []string{"Origin: https://evil.example", "Sec-Fetch-Site: same-origin"}},
		"the null origin":                        {mine, []string{"Origin: null"}},
		"two origins":                            {mine, []string{ours, ours}},
		"neither header":                         {mine, nil},
		"a sibling site":                         {mine, []string{"Sec-Fetch-Site: same-site"}},
		"typed in":                               {mine, []string{"Sec-Fetch-Site: none"}},
	}
	sessions := b.get("/owner/security").text()
	for _, path := range w.posts(request) {
		for name, attack := range attacks {
			a := b.post(path, append([]string{"_csrf", attack.token}, fields...), attack.headers...)
			if a.Status != http.StatusForbidden {
				t.Errorf("POST %s with %s: %d, want 403: %s", path, name, a.Status, a.text())
			}
		}
		if a := b.send("POST", path, `{"_csrf":"`+mine+`"}`, ours, "Content-Type: application/json"); a.Status != http.StatusForbidden {
			t.Errorf("POST %s with JSON: %d, want 403", path, a.Status)
		}
	}
	if got := b.get("/owner/security").text(); got != sessions {
		t.Errorf("the security page changed from %q to %q", sessions, got)
	}
	if !w.isLive(token) || len(w.grants()) != 1 {
		t.Errorf("a refused form changed the grants: %+v", w.grants())
	}
	b.get("/owner/connections").wants(200, "Work mail").lacks("Changed", "not offered")
	b.get(request).wants(200, "wants to read your data")
}

func TestH178SecFetchSiteReplacesOrigin(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	b.get("/owner/connections")
	b.post("/owner/connections/cin_work/rename", []string{"label", "Office", "_csrf", b.last.csrf()}, "Sec-Fetch-Site: same-origin").leadsTo("/owner/connections")
	b.get("/owner/connections").wants(200, "Renamed.", "Office")
}

// A GET of any page, with the fields of a form in its query, changes nothing.
func TestH178GetChangesNothing(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	_, token := b.connect("Reader", "stream", "3", "duration", "30d")
	request := w.ask(w.register("Demo", callback), callback)
	b.choose(request, "stream", "3", "duration", "30d")
	query := "?_csrf=" + b.last.csrf() + "&digest=" + b.last.value("digest") + "&label=Changed"
	for _, path := range w.posts(request) {
		b.send("GET", path+query, "", "Origin: "+w.URL)
	}
	if !w.isLive(token) || len(w.grants()) != 1 {
		t.Errorf("a GET changed the grants: %+v", w.grants())
	}
	b.get("/owner/connections").wants(200, "Work mail").lacks("Changed")
}

func TestH65FormsAreLimited(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	b.get("/owner/connections")
	if a := b.submit("/owner/connections/cin_work/rename", "label", strings.Repeat("x", 1<<20)); a.Status != http.StatusRequestEntityTooLarge {
		t.Errorf("a form of 1 MiB: %d, want 413", a.Status)
	}
}

// pagesOf returns the paths of all pages that can be opened, with ids filled in.
func (w *world) pagesOf(b *browser) []string {
	w.T.Helper()
	request := w.ask(w.register("Demo", callback), callback)
	b.choose(request, "stream", "3", "duration", "30d")
	grant := w.grants()[0]
	var out []string
	for _, pattern := range pages.Routes() {
		path, found := strings.CutPrefix(pattern, "GET ")
		if !found || strings.Contains(path, "/packages/") || strings.HasPrefix(path, "/static") {
			continue
		}
		id := string(grant.ID)
		switch {
		case strings.HasPrefix(path, "/consent"):
			id = strings.TrimPrefix(request, "/consent/")
		case strings.HasPrefix(path, "/owner/connections"):
			id = "cin_work"
		}
		path = strings.NewReplacer("{id}", id, "{$}", "", "{client}", "claude-code").Replace(path)
		if strings.HasSuffix(path, "clients/revoke") {
			path += "?id=" + string(grant.Client.ID)
		}
		out = append(out, path)
	}
	return out
}

// isConsent reports whether an answer is a page on which a request can be decided.
func isConsent(a answer) bool { return strings.Contains(string(a.Body), `/deny">Deny</button>`) }

func TestH174Headers(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b, stranger := w.signedIn(w.Subject), w.browser()
	b.connect("Reader", "stream", "3", "duration", "30d")
	check := func(a answer) {
		t.Helper()
		h := a.Header
		policy := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "style-src 'self'", "script-src 'self'", "base-uri 'none'", "frame-ancestors 'none'", "form-action 'self'"} {
			// The forms of a consent lead to the client.
			if strings.HasPrefix(part, "form-action") && isConsent(a) {
				continue
			}
			if !strings.Contains(policy, part) {
				t.Errorf("%s: policy %q lacks %q", a.Request, policy, part)
			}
		}
		if strings.Contains(policy, "unsafe") {
			t.Errorf("%s: policy %q", a.Request, policy)
		}
		for name, want := range map[string]string{
			"X-Frame-Options": "DENY", "X-Content-Type-Options": "nosniff", "Referrer-Policy": "same-origin", "Cache-Control": "no-store",
			"Cross-Origin-Opener-Policy": "", "Access-Control-Allow-Origin": "", "Strict-Transport-Security": "",
		} {
			if h.Get(name) != want {
				t.Errorf("%s: %s is %q, want %q", a.Request, name, h.Get(name), want)
			}
		}
	}
	for _, path := range append(w.pagesOf(b), "/owner/nothing", "/consent/areq_none") {
		check(b.get(path))
		check(stranger.get(path))
	}
	check(b.post("/owner/logout", nil))
	check(stranger.send("GET", "/oauth/authorize?client_id=x", ""))
}

// The pages are for readers of every kind: they have a language, one heading, labels, and
// nothing inline that the policy would block.
func TestH173Structure(t *testing.T) {
	w := newWorld(t)
	w.setPassword(w.Subject)
	b, stranger := w.signedIn(w.Subject), w.browser()
	b.connect("Reader", "stream", "3", "duration", "30d")
	all := []answer{stranger.get("/"), stranger.get("/owner/login"), stranger.get("/owner/nothing")}
	for _, path := range w.pagesOf(b) {
		if a := b.get(path); a.Status == http.StatusOK {
			all = append(all, a)
		}
	}
	if len(all) < 14 {
		t.Errorf("only %d pages", len(all))
	}
	label := regexp.MustCompile(`<label for="([^"]+)"`)
	control := regexp.MustCompile(`<input type="(?:text|password|checkbox|radio|date)"([^>]*)>`)
	id := regexp.MustCompile(` id="([^"]+)"`)
	for _, a := range all {
		body := string(a.Body)
		if n := strings.Count(body, "<h1>"); n != 1 || !strings.Contains(body, `<html lang="en">`) || !strings.Contains(body, `<main id="main"`) {
			t.Errorf("%s: %d headings, or no language", a.Request, n)
		}
		if regexp.MustCompile(`(?i) style=| on[a-z]+=|<style|<script>`).MatchString(body) {
			t.Errorf("%s: inline style or script", a.Request)
		}
		labels, ids := map[string]bool{}, map[string]bool{}
		for _, m := range label.FindAllStringSubmatch(body, -1) {
			labels[m[1]] = true
		}
		for _, m := range id.FindAllStringSubmatch(body, -1) {
			if ids[m[1]] {
				t.Errorf("%s: two elements with the id %s", a.Request, m[1])
			}
			ids[m[1]] = true
		}
		for _, m := range control.FindAllStringSubmatch(body, -1) {
			if name := id.FindStringSubmatch(m[1]); (name == nil || !labels[name[1]]) && !strings.Contains(m[1], `aria-hidden="true"`) {
				t.Errorf("%s: a control without a label: %s", a.Request, m[0])
			}
		}
	}
}

func TestH173StaticFiles(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	page := string(b.get("/owner/login").Body)
	href := regexp.MustCompile(`href="(/static/style.css\?v=[0-9a-f]{12})"`).FindStringSubmatch(page)
	if href == nil {
		t.Fatalf("no stylesheet in %s", page)
	}
	a := b.get(href[1])
	if a.Status != 200 || a.Header.Get("Content-Type") != "text/css; charset=utf-8" || !strings.Contains(a.Header.Get("Cache-Control"), "immutable") {
		t.Errorf("the stylesheet: %d %v", a.Status, a.Header)
	}
	for _, path := range []string{"/static/", "/static/..%2fdoc.go", "/static/passkey.ts", "/static/%2e%2e/doc.go"} {
		if a := b.get(path); a.Status != http.StatusNotFound {
			t.Errorf("GET %s: %d, want 404", path, a.Status)
		}
	}
	script, err := os.ReadFile("static/passkey.js")
	if err != nil || strings.Contains(string(script), "innerHTML") {
		t.Errorf("the script writes HTML: %v", err)
	}
}
