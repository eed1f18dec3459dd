package pages_test

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"pdpp/internal/store"
)

func TestH180Choose(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	b.get(w.ask(w.register("Tally", callback), callback)).wants(200,
		"“Tally” wants to read your data", "The answer goes to app.example", "It registered itself. Nobody has checked its name.",
		"Directly, as an app", "Work mail", "Mail · 2 records, the latest of 20 April 2026", "2 records, 1 April 2026 to 20 April 2026", "0 records",
		"For how long?", "Once, for 24 hours", "Until I revoke it", "It can only read").lacks("Already has", "Replace")
	for redirect, want := range map[string]string{
		"http://127.0.0.1:4711/cb": "A program on this device", "http://localhost/cb": "A program on this device",
		"https://localhost.evil.example/": "The answer goes to localhost.evil.example", "cursor://anysphere/x": "A program on this device that opens cursor: links",
	} {
		b.get(w.ask(w.register("Tally", redirect), redirect)).wants(200, want)
	}
	b.get(w.ask(w.register("Tally", callback), callback, "resource", w.URL+"/mcp")).wants(200, "Through an assistant's tools")
	b.get(w.ask(w.register("Tally", callback), callback, "authorization_details", details(`"purpose_code":"https://pdpp.dev/purpose/personal_analytics","purpose_description":"Charts"`))).
		wants(200, "Personal analytics: “Charts”", "It asked for what is listed below")
}

// details returns authorization_details for the messages of mail accounts.
func details(members string) string {
	if !strings.Contains(members, "purpose_code") {
		members = `"purpose_code":"https://pdpp.dev/purpose/personal_analytics",` + members
	}
	return `[{"type":"https://pdpp.dev/data-access","source":{"id":"https://registry.example/connectors/mail"},` + strings.TrimSuffix(members, ",") + `,"streams":[{"name":"messages"}]}]`
}

// The streams of two accounts share what was rendered for one of them, except its numbers.
func TestH182AccountsWithTheSameStreams(t *testing.T) {
	w := newWorld(t)
	w.Manifest(strings.Replace(mailManifest, `"body": {"type": "string"}`, `"body": {"type": "string", "description": "Text of <n> letters"}`, 1))
	b := w.signedIn(w.Subject)
	body := string(b.get(w.ask(w.register("Tally", callback), callback)).wants(200, "Text of <n> letters").Body)
	for _, control := range []string{
		`name="field.1" value="subject"`, `name="field.3" value="subject"`, `id="since.1" name="since.1"`, `id="since.3" name="since.3"`, `id="field-4-1" name="field.4" value="name"`,
	} {
		if strings.Count(body, control) != 1 {
			t.Errorf("%s occurs %d times, want 1", control, strings.Count(body, control))
		}
	}
	if strings.Contains(body, "<n>") {
		t.Error("a number is missing")
	}
}

func TestH180GrantsThatTheClientHas(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	client, _ := b.connect("Tally", "stream", "3", "duration", "forever")
	b.get(w.ask(client, callback)).wants(200, "Already has", "mail: messages, until you revoke it", "Replace what it has now?")
}

func TestH181NothingIsPreselected(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	for _, request := range []string{
		w.ask(w.register("Tally", callback), callback),
		w.ask(w.register("Tally", callback), callback, "authorization_details", details(`"access_mode":"single_use",`)),
		w.ask(w.register("Tally", callback), callback, "authorization_details", details(`"purpose_code":"https://pdpp.dev/purpose/ai_training",`)),
	} {
		body := string(b.get(request).wants(200).Body)
		for _, input := range regexp.MustCompile(`<input type="(?:checkbox|radio|date)"[^>]*>`).FindAllString(body, -1) {
			if strings.Contains(input, " checked") && !strings.Contains(input, " disabled") || strings.Contains(input, `type="date"`) && !strings.Contains(input, `value=""`) {
				t.Errorf("%s is pre-selected", input)
			}
		}
		b.submit(request+"/review").wants(400, "Nothing is chosen", "Choose for how long")
		if strings.Contains(body, "<details open") {
			t.Error("details are open")
		}
	}
}

func TestH181SingleUseAndTraining(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	once := w.ask(w.register("Tally", callback), callback, "authorization_details", details(`"access_mode":"single_use",`))
	b.get(once).wants(200, "Once, for 24 hours").lacks("30 days", "until_date")
	b.submit(once+"/review", "stream", "1", "duration", "30d").wants(400, "single use")
	training := w.ask(w.register("Tally", callback), callback, "authorization_details", details(`"purpose_code":"https://pdpp.dev/purpose/ai_training",`))
	b.get(training).wants(200, "train AI models")
	b.submit(training+"/review", "stream", "1", "duration", "30d").wants(400, "This program wants to train AI models. Agree to that, or deny")
	b.choose(training, "stream", "1", "duration", "30d", "training", "yes").wants(200, "It will use the data to train AI models")
}

// The owner comes back to the choice with everything as it was.
func TestH181BackKeepsTheChoice(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	path := w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "field.3", "subject", "since.3", "2026-04-01", "until.3", "2026-04-30", "duration", "date", "until_date", "2026-12-31").
		wants(200, "until 31 December 2026", "From 1 April 2026 until 30 April 2026", "2 fields", "Left out body, sent_at")
	body := string(b.get(path).Body)
	for _, want := range []string{
		`name="stream" value="3" aria-describedby="about-3" checked`, `name="field.3" value="subject" checked`, `name="since.3" value="2026-04-01"`,
		`name="until.3" value="2026-04-30"`, `value="date" checked`, `name="until_date" value="2026-12-31"`, "<details open>",
	} {
		if !strings.Contains(body, want) {
			t.Errorf("the choice lacks %s", want)
		}
	}
}

func TestH182Tampering(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	_, kept := b.connect("Another", "stream", "3", "duration", "30d")
	foreign := string(w.grants()[0].ID)
	path := w.ask(w.register("Tally", callback), callback)
	for name, form := range map[string][]string{
		"index 0":                  {"stream", "0"},
		"index outside":            {"stream", "3", "stream", "99"},
		"negative index":           {"stream", "-1"},
		"another spelling":         {"stream", "03", "field.3", "subject"},
		"no number":                {"stream", "messages"},
		"the id of a connection":   {"stream", "cin_work"},
		"an index twice":           {"stream", "3", "stream", "3"},
		"a huge index":             {"stream", "99999999999999999999"},
		"a field of another":       {"stream", "3", "field.3", "name"},
		"an undeclared field":      {"stream", "3", "field.3", "secret"},
		"a field of no stream":     {"stream", "3", "field.99", "subject"},
		"no date":                  {"stream", "3", "since.3", "yesterday"},
		"dates exchanged":          {"stream", "3", "since.3", "2026-04-02", "until.3", "2026-04-01"},
		"dates without a time":     {"stream", "4", "since.4", "2026-04-02"},
		"a date in the past":       {"stream", "3", "duration", "date", "until_date", "2020-01-01"},
		"a duration not offered":   {"stream", "3", "duration", "100y"},
		"replaces another's grant": {"stream", "3", "replace", foreign},
		"replaces nothing":         {"stream", "3", "replace", "grt_none"},
	} {
		t.Run(name, func(t *testing.T) {
			b.get(path).wants(200)
			if !strings.Contains(strings.Join(form, " "), "duration") {
				form = append(form, "duration", "30d")
			}
			a := b.submit(path+"/review", form...).wants(http.StatusBadRequest, "needs your attention", "wants to read your data")
			if !strings.Contains(string(a.Body), "autofocus") || !strings.Contains(string(a.Body), "<title>Error: ") {
				t.Error("the errors are not in focus")
			}
			for _, m := range regexp.MustCompile(`<li><a href="#([^"]+)"`).FindAllStringSubmatch(string(a.Body), -1) {
				if !strings.Contains(string(a.Body), ` id="`+m[1]+`"`) {
					t.Errorf("an error links to %q, which is not there", m[1])
				}
			}
			b.get(path + "/review").leadsTo(path)
		})
	}
	if len(w.grants()) != 1 || !w.isLive(kept) {
		t.Errorf("grants: %+v", w.grants())
	}
}

func TestH182FieldsOfAnUntickedStream(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	path := w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "field.1", "subject", "since.1", "2026-01-01", "until.2", "", "duration", "30d").
		wants(200, "You chose fields or dates of messages, but did not tick it. Nothing of it is shared. Go back to change that.").lacks("Home mail")
	b.get(path + "/review").wants(200).lacks("did not tick")
	b.approve(path)
	if g := w.grants(); len(g) != 1 || strings.Contains(string(g[0].Document), "cin_home") {
		t.Errorf("grants: %+v", g)
	}
}

func TestH183Review(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	path := w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "stream", "4", "field.3", "subject", "duration", "30d").wants(200,
		"This is what “Tally” will be able to read", "It can read this until 31 May 2026", "Work mail", "2 fields id, subject", "Left out body, sent_at",
		"Dates All, past and future", "The newest record, with the fields that it would see (long texts are shortened here): id m2 subject Lunch", "It has no records at the moment.", "Approve", "Back", "Deny").
		lacks("At noon", "Secret plans", "Budget", "Home mail")
	if digest := b.last.value("digest"); !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(digest) {
		t.Errorf("digest %q", digest)
	}
	// The sample is within the dates of the grant.
	b.choose(path, "stream", "3", "until.3", "2026-04-10", "duration", "30d").wants(200, "Budget").lacks("Lunch")
}

func TestH184Approve(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	client := w.register("Tally", callback)
	path := w.ask(client, callback)
	b.choose(path, "stream", "3", "field.3", "subject", "duration", "30d")
	review := b.last
	u := b.approve(path).location()
	if got := u.Scheme + "://" + u.Host + u.Path; got != callback || u.Query().Get("state") != "s1" || u.Query().Get("iss") != w.URL || u.Query().Get("code") == "" {
		t.Fatalf("the code arrives at %s", u)
	}
	// A double click yields another code for the same grant, and the first one is void.
	b.last = review
	second := b.approve(path).location().Query().Get("code")
	if second == "" || second == u.Query().Get("code") || len(w.grants()) != 1 {
		t.Errorf("second code %q, %d grants", second, len(w.grants()))
	}
	token := w.redeem(client, second)
	a := w.Get(token, "/v1/streams/messages/records").OK()
	if body := string(a.Body); !strings.Contains(body, "Lunch") || strings.Contains(body, "At noon") {
		t.Errorf("the client reads %s", body)
	}
	b.last = review
	b.approve(path).wants(200, "You have already approved this request", "start again from the program that asked")
	b.get(path).wants(200, "You have already approved this request")
	b.submit(path+"/review", "stream", "3", "duration", "30d").wants(200, "already approved")
	b.submit(path+"/deny").wants(200, "already approved")
	if !w.isLive(token) {
		t.Error("the token ended")
	}
}

func TestH184Deny(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	for _, form := range [][]string{nil, {"stream", "99", "since.1", "never"}} { // it needs no other input
		path := w.ask(w.register("Tally", callback), callback)
		b.get(path)
		page := b.last
		first := b.submit(path+"/deny", form...).location()
		if q := first.Query(); q.Get("error") != "access_denied" || q.Get("state") != "s1" || q.Get("iss") != w.URL || first.Host != "app.example" {
			t.Errorf("denied: %s", first)
		}
		b.last = page
		if again := b.submit(path + "/deny").location(); *again != *first {
			t.Errorf("denied again: %s, want %s", again, first)
		}
		b.get(path).wants(200, "You have already denied this request")
		b.last = page
		b.submit(path+"/approve", "digest", "x").wants(200, "already denied")
	}
	if len(w.grants()) != 0 {
		t.Errorf("grants: %+v", w.grants())
	}
}

func TestH184ForgedDigest(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	path := w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "duration", "30d")
	narrow := b.last.value("digest")
	b.choose(path, "stream", "3", "stream", "1", "duration", "forever")
	for _, digest := range []string{"", "x", strings.Repeat("0", 64), narrow, strings.ToUpper(b.last.value("digest"))} {
		b.submit(path+"/approve", "digest", digest).wants(http.StatusConflict, "Nothing was shared. Please look again.", "will be able to read")
	}
	if len(w.grants()) != 0 {
		t.Errorf("grants: %+v", w.grants())
	}
	if code := b.approve(path).location().Query().Get("code"); code == "" {
		t.Error("the second review cannot be approved")
	}
}

// The manifest changes between the review and the approval: nothing is granted, and the
// owner looks again.
func TestH184RaceWithAManifest(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	path := w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "field.3", "subject", "duration", "30d")
	w.Manifest(strings.Replace(mailManifest, `"body": {"type": "string"},`, `"text": {"type": "string"},`, 1))
	b.approve(path).wants(http.StatusConflict, "Something has changed since you looked at this. Nothing was shared.", "Left out text, sent_at")
	if len(w.grants()) != 0 {
		t.Fatalf("grants: %+v", w.grants())
	}
	b.approve(path).location()

	// What was chosen is gone: the choice is shown again.
	path = w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "field.3", "subject", "duration", "30d")
	w.Manifest(strings.Replace(mailManifest, `"subject": {"type": "string"},`, `"title": {"type": "string"},`, 1))
	b.approve(path).wants(http.StatusConflict, "no longer exists", "wants to read your data")
	if len(w.grants()) != 1 {
		t.Errorf("grants: %+v", w.grants())
	}
}

func TestH182AnotherOwnersRequest(t *testing.T) {
	w := newWorld(t)
	b, other := w.signedIn(w.Subject), w.signedIn(w.Owner("grace"))
	path := w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "duration", "30d")
	digest := b.last.value("digest")
	other.get("/owner")
	for _, target := range []string{path, path + "/review"} {
		if a := other.get(target).wants(http.StatusNotFound); strings.Contains(a.text(), "Tally") {
			t.Errorf("another owner sees %s", a.text())
		}
	}
	for _, action := range []string{"/review", "/approve", "/deny"} {
		other.submit(path+action, "digest", digest, "stream", "1", "duration", "30d").wants(http.StatusNotFound)
	}
	if a := b.approve(path).location(); a.Query().Get("code") == "" {
		t.Errorf("the owner cannot approve any more: %s", a)
	}
}

func TestH184Expired(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	path := w.ask(w.register("Tally", callback), callback)
	b.choose(path, "stream", "3", "duration", "30d")
	w.Advance(30 * time.Minute)
	b.approve(path).wants(200, "This request has expired", "start again")
	b.get(path).wants(200, "This request has expired")
	if len(w.grants()) != 0 {
		t.Errorf("grants: %+v", w.grants())
	}
}

func TestH182Replace(t *testing.T) {
	w := newWorld(t)
	b := w.signedIn(w.Subject)
	client, token := b.connect("Tally", "stream", "3", "duration", "forever")
	former := string(w.grants()[0].ID)
	path := w.ask(client, callback)
	b.choose(path, "stream", "3", "duration", "30d", "replace", former).wants(200, "This ends when you approve", "until you revoke it")
	if !w.isLive(token) {
		t.Fatal("the grant ended before the approval")
	}
	b.approve(path).location()
	if w.isLive(token) {
		t.Error("the replaced grant still reads")
	}
}

func TestH173HostileNames(t *testing.T) {
	w := newWorld(t)
	w.Connect("mail", "cin_evil", "Mail\u202e <b>moc.elpmaxe</b>\x07")
	b := w.signedIn(w.Subject)
	for _, name := range []string{
		"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "Safe\u202egnp.exe", "Line\nBreak\x1b[31m", "{{.CSRF}}", "\u2066Bank\u2069\u200b", strings.Repeat("Long name ", 1000),
	} {
		path := w.ask(w.hostile(name), callback)
		for _, a := range []answer{b.get(path), b.choose(path, "stream", "3", "stream", "5", "duration", "30d")} {
			raw := string(a.Body)
			if strings.ContainsAny(raw, "\u202e\u2066\u2069\u200b\x07\x1b") || strings.Contains(raw, "<script>alert") || strings.Contains(raw, "<img src=x") || strings.Contains(raw, "<b>moc") {
				t.Errorf("name %.40q reaches the page: %s", name, raw)
			}
			if len(raw) > 100_000 || strings.Count(a.text(), "Long name") > 15 {
				t.Errorf("name %.40q fills the page: %d bytes", name, len(raw))
			}
		}
	}
}

// hostile returns a client whose name is stored as it is, whatever registration would do
// with it.
func (w *world) hostile(name string) string {
	w.T.Helper()
	id := w.register("Tally", callback)
	quoted, err := json.Marshal(name)
	if err != nil {
		w.T.Fatal(err)
	}
	w.Update(func(tx store.Tx) error {
		e, err := tx.Entry(store.EntryClient, id)
		if err != nil {
			return err
		}
		e.Body = []byte(strings.Replace(string(e.Body), `"Tally"`, string(quoted), 1))
		return tx.PutEntry(e)
	})
	return id
}
