package as

import (
	"net/netip"
	"net/url"
	"slices"
	"strings"
)

const maxURI = 2048 // bytes of a redirect URI or another URI of a client

// forbiddenSchemes run code in a browser or open files, so that they are never redirect URIs
// (H-152).
var forbiddenSchemes = []string{"about", "blob", "data", "file", "filesystem", "javascript", "vbscript", "view-source"}

// loopbackHosts are the hosts of a program on the computer of the browser, as they are
// written in a URI.
var loopbackHosts = []string{"localhost", "127.0.0.1", "[::1]"}

// checkRedirect returns why a client may not register a redirect URI, or "" if it may
// (H-152): https, http on loopback, or a private-use scheme of a native application.
func checkRedirect(uri string) string {
	if uri == "" || len(uri) > maxURI || !isURIText(uri) {
		return "must be an absolute URI of at most 2048 ASCII characters"
	}
	if strings.Contains(uri, "#") {
		return "must not have a fragment"
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil || u.Scheme == "":
		return "must be an absolute URI"
	case u.User != nil:
		return "must not contain a user name"
	case slices.Contains(forbiddenSchemes, u.Scheme):
		return "must not have the scheme " + u.Scheme
	case !hasPlainHost(u):
		return "must name its host in ASCII, an international one in its xn-- form"
	case u.Scheme == "http":
		if _, _, ok := splitLoopback(uri); !ok {
			return "must be https; http is only for localhost, 127.0.0.1 and [::1]"
		}
	case u.Scheme == "https" && u.Hostname() == "":
		return "must name a host"
	case u.Opaque == "" && u.Host == "" && u.Path == "":
		return "must have more than a scheme"
	}
	return ""
}

// isURIText reports whether s has only visible ASCII characters, without those that
// programs treat differently in URIs.
func isURIText(s string) bool {
	for i := range len(s) {
		if c := s[i]; c <= ' ' || c > '~' || strings.IndexByte("\"<>\\^`{|}", c) >= 0 {
			return false
		}
	}
	return true
}

// hostLetters are the letters of host names in DNS and in hosts files.
const hostLetters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._"

// hasPlainHost reports whether the host of a URI, if it has one, is a name in ASCII or an
// address. Owners are shown the host, and a name with other letters, which a URI contains as
// escapes, can look like that of somebody else.
func hasPlainHost(u *url.URL) bool {
	host := u.Hostname()
	if strings.HasPrefix(u.Host, "[") {
		addr, err := netip.ParseAddr(host)
		return err == nil && addr.Is6() && addr.Zone() == ""
	}
	return strings.Trim(host, hostLetters) == ""
}

// matchRedirect reports whether uri is one of the registered redirect URIs: the same string
// or, for http on loopback, the same one except for the port (H-145, RFC 8252 §7.3).
func matchRedirect(registered []string, uri string) bool {
	if slices.Contains(registered, uri) {
		return true
	}
	host, rest, ok := splitLoopback(uri)
	return ok && slices.ContainsFunc(registered, func(r string) bool {
		h, tail, ok := splitLoopback(r)
		return ok && h == host && tail == rest
	})
}

// splitLoopback splits an http URI on loopback into its host and what follows the port. It
// compares text instead of parsing it, so that no two readings of a URI can differ.
func splitLoopback(uri string) (host, rest string, ok bool) {
	authority, found := strings.CutPrefix(uri, "http://")
	if !found || strings.Contains(uri, "#") {
		return "", "", false
	}
	for _, host := range loopbackHosts {
		rest, found := strings.CutPrefix(authority, host)
		if !found {
			continue
		}
		if port, found := strings.CutPrefix(rest, ":"); found {
			rest = strings.TrimLeft(port, "0123456789")
			if n := len(port) - len(rest); n == 0 || n > 5 {
				return "", "", false
			}
		}
		return host, rest, rest == "" || rest[0] == '/' || rest[0] == '?'
	}
	return "", "", false
}

// addQuery adds parameters to a redirect URI and keeps its own (H-144). Empty values are
// left out.
func addQuery(uri string, pairs ...string) string {
	var b strings.Builder
	b.WriteString(uri)
	separator := byte('?')
	if strings.Contains(uri, "?") {
		separator = '&'
	}
	for i := 0; i < len(pairs); i += 2 {
		if pairs[i+1] == "" {
			continue
		}
		b.WriteByte(separator)
		b.WriteString(pairs[i] + "=" + url.QueryEscape(pairs[i+1]))
		separator = '&'
	}
	return b.String()
}
