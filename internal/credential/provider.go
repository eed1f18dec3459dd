package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/url"
	"strings"

	"pdpp"
	"pdpp/internal/oauth"
)

// Provider returns the canonical URL of a provider (H-200): scheme, host, port and path,
// without a trailing slash or a default port. A missing scheme becomes https, or http for
// this machine. An invalid URL is CodeUsage.
func Provider(raw string) (string, error) {
	bad := func(why string) (string, error) {
		return "", pdpp.Errorf(pdpp.CodeUsage, "The provider URL is not valid: %s.", why)
	}
	if raw == "" {
		return bad("it is missing; write it like https://data.example")
	}
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
		if u, err := url.Parse(raw); err == nil && oauth.IsLoopback(u.Hostname()) {
			u.Scheme = "http"
			raw = u.String()
		}
	}
	u, err := url.Parse(raw)
	switch {
	case err != nil || u.Hostname() == "" || strings.ContainsAny(raw, " \t\r\n\\"):
		return bad("it is not a URL like https://data.example")
	case u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" || strings.HasSuffix(raw, "#"):
		return bad("it must not have a user, a query or a fragment")
	case u.Scheme != "https" && u.Scheme != "http":
		return bad("it must begin with https://")
	case u.Scheme == "http" && !oauth.IsLoopback(u.Hostname()):
		return bad("http is only for this machine; use https")
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == defaultPort[u.Scheme] {
		port = ""
	}
	return u.Scheme + "://" + joinHost(host, port) + strings.TrimRight(u.EscapedPath(), "/"), nil
}

var defaultPort = map[string]string{"https": "443", "http": "80"}

func joinHost(host, port string) string {
	if port != "" {
		return net.JoinHostPort(host, port)
	}
	if strings.Contains(host, ":") {
		return "[" + host + "]"
	}
	return host
}

// folderName returns the folder name for a canonical provider URL (H-202). Two providers
// can have the same name; the URL in the file decides.
func folderName(provider string) string {
	u, err := url.Parse(provider)
	if err != nil {
		return "_"
	}
	name := strings.Map(fileRune, u.Hostname())
	if u.Port() != "" {
		name += "_" + u.Port()
	}
	if u.Path != "" || u.Scheme == "http" && u.Port() == "" {
		sum := sha256.Sum256([]byte(provider))
		name += "-" + hex.EncodeToString(sum[:4])
	}
	if strings.HasPrefix(name, ".") { // not a valid host, but a name must not be a hidden or parent folder
		name = "_" + name
	}
	return name
}
