package credential

import (
	"crypto/sha256"
	"encoding/hex"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"pdpp"
)

// Provider makes the one form of a provider's URL (H-200): scheme, host, port and
// path, without a trailing slash or a port that goes without saying. A missing scheme
// is https, on this machine http. CodeUsage for anything else.
func Provider(raw string) (string, error) {
	bad := func(why string) (string, error) {
		return "", pdpp.Errorf(pdpp.CodeUsage, "The provider URL is not accepted: %s.", why)
	}
	if raw == "" {
		return bad("it is missing; write it like https://data.example")
	}
	if !strings.Contains(raw, "://") {
		raw = "https://" + raw
		if u, err := url.Parse(raw); err == nil && isLoopback(u.Hostname()) {
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
	case u.Scheme == "http" && !isLoopback(u.Hostname()):
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

// isLoopback reports whether a host name is this machine.
func isLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// folderName is the folder of a provider, given in its one form (H-202). Two
// providers can share a name; what counts is the URL in the file.
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
	if strings.HasPrefix(name, ".") { // no host is called so, but no name may lead away
		name = "_" + name
	}
	return name
}

// safeEndpoint reports whether a secret may be sent to a URL (MS-267).
func safeEndpoint(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && u.Hostname() != "" &&
		(u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname()))
}

// shownURL is a URL as messages show it: without what may be secret, which is its user,
// query and fragment.
func shownURL(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "a URL that cannot be read"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
