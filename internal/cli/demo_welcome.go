package cli

import (
	"context"
	"net"
	"net/url"
	"strings"
	"time"

	"pdpp/internal/signin"
)

// demoLinkLife is how long the link to the owner's pages works.
const demoLinkLife = time.Hour

// welcome returns the text that the demo prints: what it is, a link to the owner's pages,
// how to connect an assistant, and five commands. The long form is the tour.
func (t tour) welcome(ctx context.Context, svc *service) (string, error) {
	link, err := t.ownerLink(ctx, svc)
	if err != nil {
		return "", err
	}
	own := quote(t.program) + " --data " + quote(t.dir)
	var b strings.Builder
	b.WriteString("\n" + t.bold("The demo is running at "+t.url) + "\n")
	b.WriteString("Mara Lindqvist does not exist; her " + count(t.demo.records, "record", "records") + " are invented. You are her.\n")
	if link != "" {
		b.WriteString("\n" + t.bold("Her pages, signed in") + " (open the link in the browser that you use; it works once, for an hour, on this computer)\n    " + link + "\n")
	}
	b.WriteString("\n" + t.bold("Connect an assistant") + ": it opens your browser, and you choose what it may read\n")
	b.WriteString("    claude mcp add --transport http pdpp " + t.url + "/mcp" + "    (then /mcp in a session, Authenticate)\n")
	b.WriteString("    codex mcp add pdpp --url " + t.url + "/mcp" + " && codex mcp login pdpp\n")
	b.WriteString("\n" + t.bold("Commands to try in another terminal") + "\n")
	b.WriteString(table(
		[]string{"    " + quote(t.program) + " connect " + t.url, "approve in the browser, for pdpp mcp"},
		[]string{"    " + quote(t.program) + " setup claude-desktop --url " + t.url, "how to connect other assistants"},
		[]string{"    " + own + " grants list", "who can read what"},
		[]string{"    " + own + " grants activity", "what was read"},
		[]string{"    " + quote(t.program) + " demo --tour", "requests to try with curl, after Ctrl-C"},
	))
	b.WriteString("\nCtrl-C stops the demo.\n")
	return b.String(), nil
}

// ownerLink returns a link that signs the owner of the demo in. There is none when the
// demo listens on another address than this computer's own.
func (t tour) ownerLink(ctx context.Context, svc *service) (string, error) {
	u, err := url.Parse(t.url)
	if err != nil {
		return "", err
	}
	if ip := net.ParseIP(u.Hostname()); ip == nil || !ip.IsLoopback() {
		return "", nil
	}
	s, err := signin.New(signin.Config{Store: svc.store, Clock: svc.clock, Log: svc.log, Key: svc.key, Name: svc.providerName})
	if err != nil {
		return "", err
	}
	code, err := s.NewLink(ctx, t.demo.owner, signin.LinkSignIn, demoLinkLife)
	return t.url + "/owner/link?code=" + code, err
}
