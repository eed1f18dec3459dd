package pages_test

import (
	"html"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pdpp/internal/setup"
)

// The pages are public, show one recommended way before the others, and nothing that only
// developers or owners need.
func TestH185bSetup(t *testing.T) {
	w := newWorld(t)
	b := w.browser()
	list := string(b.get("/setup").Body)
	if !strings.Contains(list, w.URL+"/mcp") || strings.Contains(list, "cin_") {
		t.Errorf("the list is\n%s", list)
	}
	foreign := regexp.MustCompile(`(?i)pdpp_|bearer|profile|subscription|/developer|mcp-developer|Work mail`)
	for _, c := range setup.Clients() {
		t.Run("SETUP-1 "+c.Name, func(t *testing.T) {
			if !strings.Contains(list, `href="/setup/`+c.Name+`"`) {
				t.Error("it is not in the list")
			}
			a := b.get("/setup/" + c.Name)
			page := html.UnescapeString(string(a.Body))
			if a.Status != http.StatusOK || !strings.Contains(page, "Connect "+c.Title) {
				t.Fatalf("status %d\n%s", a.Status, page)
			}
			answer, _ := setup.For(c.Name, setup.Place{Base: w.URL})
			if closes := strings.Contains(page, setup.Try) && strings.Contains(page, setup.Note); closes == answer.Unreachable {
				t.Errorf("it says what to try: %v, although it cannot be connected: %v", closes, answer.Unreachable)
			}
			first, others, _ := strings.Cut(page, "Other ways")
			if !strings.Contains(first, answer.Recommended.Steps[0].Snippet) || len(answer.Alternatives) > 0 && !strings.Contains(others, answer.Alternatives[0].Steps[0].Snippet) {
				t.Errorf("the ways of %+v are not in this order:\n%s", answer, page)
			}
			if found := foreign.FindString(page); found != "" {
				t.Errorf("%q is shown", found)
			}
		})
	}
	if page := string(b.get("/setup/cursor").Body); !strings.Contains(page, `href="cursor://anysphere.cursor-deeplink/mcp/install?name=pdpp`) {
		t.Errorf("no link in\n%s", page)
	}
	if a := b.get("/setup/nobody"); a.Status != http.StatusNotFound {
		t.Errorf("an unknown assistant: status %d", a.Status)
	}
}
