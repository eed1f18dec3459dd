package setup

import (
	"net/netip"
	"net/url"
	"strings"
)

// Texts that every recipe ends with.
const (
	Try  = "What can you read of my data?"
	Note = "A program keeps the list of tools from when the server was added. After an upgrade, refresh the list or add the server again."
)

// Client is an assistant, or a program that runs assistants.
type Client struct {
	Name  string // for commands and URLs
	Title string
}

// Place is the server to connect to, and the machine of the assistant as far as it is known.
type Place struct {
	Base      string // R: the public URL of the server
	Program   string // path of this program; "": found by its name
	CacheRoot string // folder of the saved credentials; "": the default
	Connected bool   // a usable credential for the server is saved
}

// Step is one step of a recipe.
type Step struct {
	Text    string `json:"text"`
	Snippet string `json:"snippet,omitempty"` // to copy
}

// Kinds of recipes: what their first own step is.
const (
	KindCommand = "command"
	KindFile    = "file"
	KindUI      = "ui"
	KindLink    = "link" // the snippet is a link that opens the program
)

// Recipe is one way to connect a client.
type Recipe struct {
	Kind  string `json:"kind"`
	Path  string `json:"path,omitempty"` // of the file to edit
	Steps []Step `json:"steps"`
}

// Answer is how a client is connected: the recommended way, and others.
type Answer struct {
	Client       string   `json:"client"`
	Title        string   `json:"-"`
	Recommended  Recipe   `json:"recommended"`
	Alternatives []Recipe `json:"alternatives"`
	CheckedOn    *string  `json:"checked_on"` // nil: not tested with the program itself
	Unreachable  bool     `json:"-"`          // there is no way; Recommended says what is missing
}

// Clients returns the clients in the order in which they are listed.
func Clients() []Client {
	var out []Client
	for _, h := range hosts {
		out = append(out, h.Client)
	}
	return out
}

// For returns how a client is connected; false when the client is unknown.
//
// The address of the server is recommended wherever the client can reach it, because the
// client then asks the owner itself. The adapter is recommended when a credential for it is
// saved, and for clients that connect from their own cloud when the server cannot be
// reached from there.
func For(name string, at Place) (Answer, bool) {
	for _, h := range hosts {
		if h.Name == name {
			return h.answer(at), true
		}
	}
	return Answer{}, false
}

// host is a client with its recipes.
type host struct {
	Client
	cloud   bool // it connects from its own cloud
	hosted  []recipeFunc
	adapter []recipeFunc
}

type recipeFunc func(Place) Recipe

func (h host) answer(at Place) Answer {
	first, then := h.hosted, h.adapter
	switch {
	case h.cloud && !isPublic(at.Base):
		first, then = h.adapter, nil
	case at.Connected && len(h.adapter) > 0:
		first, then = h.adapter, h.hosted
	}
	a := Answer{Client: h.Name, Title: h.Title, Recommended: needsPublicURL(h.Title), Alternatives: []Recipe{}, Unreachable: len(first)+len(then) == 0}
	for i, recipe := range append(append([]recipeFunc{}, first...), then...) {
		if i == 0 {
			a.Recommended = recipe(at)
		} else {
			a.Alternatives = append(a.Alternatives, recipe(at))
		}
	}
	return a
}

// needsPublicURL is the recipe for a client that connects from its own cloud, which cannot
// reach the server.
func needsPublicURL(title string) Recipe {
	return Recipe{Kind: KindUI, Steps: []Step{{
		Text:    title + " connects from its own cloud, which cannot reach this address. Serve the data at a public https address, and name that address when the server starts:",
		Snippet: "pdpp serve --public-url https://data.example\n",
	}}}
}

// isPublic reports whether a server can be reached from the Internet, as far as its URL
// shows.
func isPublic(base string) bool {
	u, err := url.Parse(base)
	if err != nil || u.Scheme != "https" {
		return false
	}
	name := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if addr, err := netip.ParseAddr(name); err == nil {
		return !addr.IsLoopback() && !addr.IsPrivate() && !addr.IsLinkLocalUnicast() && !addr.IsUnspecified()
	}
	return name != "localhost" && !strings.HasSuffix(name, ".localhost") && !strings.HasSuffix(name, ".local") && strings.Contains(name, ".")
}
