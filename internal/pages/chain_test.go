package pages_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// The site of a client may redirect further, such as to an application. No policy of the
// consent page stops it.
func TestH174BrowserFollowsTheClient(t *testing.T) {
	if testing.Short() {
		t.Skip("make check runs it")
	}
	w := newWorld(t)
	last := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(rw, "<!doctype html><title>Done</title><p>Back in the program.")
	}))
	t.Cleanup(last.Close)
	elsewhere := strings.Replace(last.URL, "127.0.0.1", "localhost", 1)
	first := httptest.NewServer(http.RedirectHandler(elsewhere, http.StatusFound))
	t.Cleanup(first.Close)
	b := w.open(t, chromium(t))
	b.signIn(w.link())
	w.URL = b.base
	path := w.ask(w.register("Tally", first.URL+"/cb"), first.URL+"/cb")
	b.visit(path)
	b.do(chromedp.Click(chromedp.CSS("button[formaction$=deny]")))
	b.wantText("Back in the program.")
	b.noProblems()
}
