package pages

import (
	"cmp"
	"net/url"
	"slices"
	"strings"

	"pdpp/internal/as"
	"pdpp/internal/store"
)

// requestBody describes a request and its client.
type requestBody struct {
	ID, Client, Known, Goes, Purpose, Through string
	Held                                      []string // what the client can read now
}

// describeRequest describes the client, and says where the answer goes (H-180).
func describeRequest(req *as.Request) requestBody {
	b := requestBody{
		ID: req.ID, Client: clean(cmp.Or(req.Client.Name, string(req.Client.ID)), nameLength), Known: knownAs(req.Client.Mode, req.Client.Host),
		Purpose: purposeText(req.Offer.Purpose, req.Offer.PurposeDescription), Through: throughText(req.Audience),
	}
	if req.Device {
		b.Goes = "The device that shows " + req.UserCode
	} else {
		b.Goes = redirectText(req.RedirectURI)
	}
	return b
}

func knownAs(mode store.RegistrationMode, host string) string {
	switch mode {
	case store.ModeOperator:
		return "Set up by you"
	case store.ModeDocument:
		return "Identified by " + host
	case store.ModePreRegistered:
		return "The command-line program of this server"
	}
	return "It registered itself. Nobody has checked its name."
}

func redirectText(uri string) string {
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme == "":
		return "An unknown address"
	case !isWeb(u):
		return "A program on this device that opens " + clean(u.Scheme, nameLength) + ": links"
	case slices.Contains([]string{"localhost", "127.0.0.1", "::1"}, u.Hostname()):
		return "A program on this device"
	}
	return clean(u.Host, nameLength)
}

const purposePrefix = "https://pdpp.dev/purpose/"

func purposeText(code, description string) string {
	text := "A purpose it calls " + clean(code, nameLength)
	if name, ok := strings.CutPrefix(code, purposePrefix); ok {
		text = strings.ReplaceAll(clean(name, nameLength), "_", " ")
		text = strings.ReplaceAll(strings.ToUpper(text[:min(1, len(text))])+text[min(1, len(text)):], " ai ", " AI ")
	}
	if description != "" {
		text += ": “" + clean(description, textLength) + "”"
	}
	return text
}

func throughText(audience []string) string {
	switch {
	case slices.Contains(audience, "mcp-developer"):
		return "Through the developer tools. It may also manage event subscriptions."
	case slices.Contains(audience, "mcp") && slices.Contains(audience, "rest"):
		return "Through an assistant's tools, and directly as an app"
	case slices.Contains(audience, "mcp"):
		return "Through an assistant's tools"
	}
	return "Directly, as an app"
}
