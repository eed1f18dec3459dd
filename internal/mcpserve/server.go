package mcpserve

import (
	"context"
	"encoding/json"
	"log/slog"
	"strings"
	"time"

	"pdpp/internal/mcp"
	"pdpp/internal/rawjson"
)

// The protocol revisions that the code treats specially: Modern is the first without a
// handshake, Batches is the only one with batches and without resource_link blocks.
const (
	Modern  = "2026-07-28"
	Batches = "2025-03-26"
)

// Versions returns the protocol revisions that are served, the newest first (MS-3).
func Versions() []string { return []string{Modern, "2025-11-25", "2025-06-18", Batches} }

// Config configures a Server.
type Config struct {
	Surface  *mcp.Surface
	Identity *Identity
	// RequestID is the id of the HTTP request, for the log; "" if there is none.
	RequestID string
	// Note adds facts about a call to the log line of the HTTP request. If it is nil, each
	// call has a line of its own.
	Note func(context.Context, ...slog.Attr)
	Log  *slog.Logger
	Now  func() time.Time
}

// Server answers the methods of MS-2. It keeps no state between requests.
type Server struct{ Config }

// New returns a server.
func New(c Config) *Server { return &Server{c} }

// Identity is the serverInfo of a server (MS-1).
type Identity struct{ info []byte } // JSON

// NewIdentity returns the identity of a build that serves a provider. icon is the URL of
// an SVG; "" if there is none.
func NewIdentity(provider, version, icon string) *Identity {
	type image struct {
		Source string   `json:"src"`
		Type   string   `json:"mimeType"`
		Sizes  []string `json:"sizes"`
	}
	info := struct {
		Name    string  `json:"name"`
		Title   string  `json:"title"`
		Version string  `json:"version"`
		Website string  `json:"websiteUrl,omitempty"`
		Icons   []image `json:"icons,omitempty"`
	}{Name: "pdpp", Title: "PDPP personal data (read-only)", Version: version, Website: provider}
	if icon != "" {
		info.Icons = []image{{icon, "image/svg+xml", []string{"any"}}}
	}
	text, err := json.Marshal(info)
	if err != nil {
		panic(err) // strings can always be encoded
	}
	return &Identity{text}
}

// describe is the beginning of the results of initialize and server/discover: the
// capabilities of MS-2 and the instructions.
var describe = `{"capabilities":{"resources":{},"tools":{}},"instructions":` + string(rawjson.AppendString(nil, mcp.Instructions))

// discovery is the result of server/discover (MS-3).
var discovery = []byte(describe + `,"supportedVersions":["` + strings.Join(Versions(), `","`) + `"]}`)

// noResources is the result of resources/list: resources are reached by templates (MS-2).
var noResources = []byte(`{"resources":[]}`)

// The cache hints of MS-14: for results that never change, and for reads.
const (
	cacheConstant = `"cacheScope":"private","ttlMs":300000`
	cacheNever    = `"cacheScope":"private","ttlMs":0`
)
