package oauth

import (
	"net/netip"
	"net/url"
	"strings"
)

// IsLoopback reports whether a host is this machine.
func IsLoopback(host string) bool {
	if strings.EqualFold(host, "localhost") {
		return true
	}
	addr, err := netip.ParseAddr(host)
	return err == nil && addr.IsLoopback()
}

// IsSafe reports whether a secret may be sent to a URL (MS-267): over TLS, or to this
// machine.
func IsSafe(raw string) bool {
	u, err := url.Parse(raw)
	return err == nil && u.User == nil && u.Hostname() != "" && u.Fragment == "" &&
		(u.Scheme == "https" || u.Scheme == "http" && IsLoopback(u.Hostname()))
}

// Shown returns a URL for messages: without user, query and fragment, which may be secret.
func Shown(raw string) string {
	u, err := url.Parse(raw)
	if err != nil || u.Host == "" {
		return "an invalid URL"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}

// wellKnown returns the address of a well-known document: its name is inserted before the
// path (RFC 8414 §3.1, RFC 9728 §3.1).
func wellKnown(base, name string) string {
	u, err := url.Parse(base)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host + "/.well-known/" + name + strings.TrimSuffix(u.EscapedPath(), "/")
}

// origin returns the scheme and host of a URL.
func origin(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}
