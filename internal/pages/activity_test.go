package pages_test

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"pdpp/internal/rs/resttest"
	"pdpp/internal/signin"
)

const entriesGrant = `{"source":{"connector_key":"ledgerly"},"streams":[{"name":"entries","fields":["id","memo","posted_at"]}]}`

// newLedger returns a world with two entries, and what signs its owner in.
func newLedger(t *testing.T) (w *resttest.World, session string) {
	t.Helper()
	w = resttest.New(t)
	w.ManifestFile("../manifest/testdata/ledgerly.json")
	w.Connect("ledgerly", "cin_a1", "Joint account")
	w.Ingest("cin_a1", "entries",
		`{"key":"ent_1","data":{"id":"ent_1","memo":"Zebrafink","posted_at":"2026-04-30T09:00:00Z"}}`,
		`{"key":"ent_2","data":{"id":"ent_2","memo":"Zebrafink","posted_at":"2026-03-30T09:00:00Z"}}`)
	return w, signIn(w)
}

// signIn returns the header that signs the owner of a world in.
func signIn(w *resttest.World) string {
	w.T.Helper()
	code, err := w.Server.SignIn.NewLink(w.T.Context(), w.Subject, signin.LinkSignIn, time.Hour)
	if err != nil {
		w.T.Fatal(err)
	}
	cookie, _, err := w.Server.SignIn.UseLink(w.T.Context(), code, signin.Visitor{})
	if err != nil {
		w.T.Fatal(err)
	}
	return "Cookie: pdpp_session=" + cookie
}

// pageText returns the text of a page, without tags, with single spaces.
func pageText(w *resttest.World, path, session string) string {
	w.T.Helper()
	a := w.Get("", path, session, "Accept: text/html")
	if a.Status != 200 {
		w.T.Fatalf("%s answers %d: %s", path, a.Status, a.Body)
	}
	text := regexp.MustCompile(`<[^>]*>`).ReplaceAllString(string(a.Body), " ")
	return strings.Join(strings.Fields(text), " ")
}

func expectText(t *testing.T, page, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%s does not show %q: %s", page, part, text)
		}
	}
}

// H-185, H-196: the pages show what was read by day, and the latest refusal; never
// content.
func TestH196PagesShowActivity(t *testing.T) {
	w, session := newLedger(t)
	tok, g := w.Grant(entriesGrant)
	path := "/owner/grants/" + string(g)
	expectText(t, "a grant without reads", pageText(w, path, session), "Nothing in the last 30 days.")
	if text := pageText(w, "/owner", session); strings.Contains(text, "last 30 days") {
		t.Errorf("there is a chart without reads: %s", text)
	}
	w.Get(tok, "/v1/streams/entries/records?limit=1").OK()
	w.Advance(24 * time.Hour)
	session = signIn(w)
	w.Get(tok, "/v1/streams/entries/records").OK()
	w.Get(tok, "/v1/streams/entries/records").OK()
	w.Get(tok, "/v1/streams/entries/records?fields=amount_minor")
	w.Reads() // stores what the server has recorded
	refused := "Latest refusal: 2 May 2026, 08:00 UTC, by /v1/streams/{stream}/records: it asked for a field that it may not read"
	expectText(t, "home", pageText(w, "/owner", session), "3 reads in the last 30 days")
	expectText(t, "the clients", pageText(w, "/owner/grants", session), "3 reads in the last 30 days", "1 May: 1 read", "2 May: 2 reads", refused)
	text := pageText(w, path, session)
	expectText(t, "the grant", text, "3 reads in the last 30 days", refused,
		"2 May 2026 /v1/streams/{stream}/records entries 2 4 1", "1 May 2026 /v1/streams/{stream}/records entries 1 1 0")
	if strings.Contains(text, "Zebrafink") {
		t.Errorf("the page shows content: %s", text)
	}
	w.Advance(40 * 24 * time.Hour)
	session = signIn(w)
	expectText(t, "the grant after 40 days", pageText(w, path, session), "Nothing in the last 30 days.")
}

// H-196: the pages of an owner show nothing of what was read of another owner.
func TestH196PagesHideOthers(t *testing.T) {
	w, session := newLedger(t)
	tok, g := w.Grant(entriesGrant)
	bea := w.As(w.Owner("bea"))
	hers := signIn(bea)
	w.Get(tok, "/v1/streams/entries/records").OK()
	w.Get(tok, "/v1/streams/entries/records?fields=amount_minor")
	w.Reads()
	expectText(t, "home", pageText(w, "/owner", session), "1 read in the last 30 days")
	for _, path := range []string{"/owner", "/owner/grants"} {
		if text := pageText(bea, path, hers); strings.Contains(text, "30 days") || strings.Contains(text, "refusal") {
			t.Errorf("%s shows another owner's activity: %s", path, text)
		}
	}
	if a := bea.Get("", "/owner/grants/"+string(g), hers); a.Status != 404 {
		t.Errorf("the grant of another owner answers %d", a.Status)
	}
}
