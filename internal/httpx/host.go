package httpx

import (
	"net/netip"
	"strconv"
	"strings"
)

// Host is a host[:port] in normal form (H-121): in lower case, without the default port
// of the scheme, with an IPv6 literal in brackets and in its shortest form.
type Host struct {
	name string
	port string     // "" for the scheme's default
	addr netip.Addr // valid when name is an IP literal
}

// String returns host[:port].
func (h Host) String() string {
	if h.port == "" {
		return h.name
	}
	return h.name + ":" + h.port
}

// loopback reports whether h is localhost, a name below .localhost, or a loopback
// address.
func (h Host) loopback() bool {
	if h.addr.IsValid() {
		return h.addr.IsLoopback()
	}
	return h.name == "localhost" || strings.HasSuffix(h.name, ".localhost")
}

// portOr returns the port, or the default one of the scheme.
func (h Host) portOr(scheme string) string {
	if h.port == "" {
		return defaultPort(scheme)
	}
	return h.port
}

func defaultPort(scheme string) string {
	switch scheme {
	case "http":
		return "80"
	case "https":
		return "443"
	}
	return ""
}

// parseHost parses host[:port]. It does not allocate for the common cases, a name in
// lower case and an IPv4 literal.
func parseHost(s, scheme string) (Host, bool) {
	name, port, ok := splitPort(s)
	if !ok {
		return Host{}, false
	}
	if port == defaultPort(scheme) {
		port = ""
	}
	if name[0] == '[' {
		addr, err := netip.ParseAddr(name[1 : len(name)-1])
		if err != nil || !addr.Is6() || addr.Zone() != "" {
			return Host{}, false
		}
		return Host{name: "[" + addr.String() + "]", port: port, addr: addr.Unmap()}, true
	}
	if !validName(name) {
		return Host{}, false
	}
	h := Host{name: strings.ToLower(name), port: port}
	if last := name[len(name)-1]; '0' <= last && last <= '9' {
		if addr, err := netip.ParseAddr(name); err == nil {
			h.addr = addr
		}
	}
	return h, true
}

// splitPort splits s into name and port. The name is not empty and keeps its brackets.
// A colon must be followed by a port.
func splitPort(s string) (name, port string, ok bool) {
	end := strings.IndexByte(s, ':')
	if strings.HasPrefix(s, "[") {
		end = strings.IndexByte(s, ']') + 1
		if end == 0 {
			return "", "", false
		}
	}
	if end < 0 || end == len(s) {
		return s, "", s != ""
	}
	name, port = s[:end], s[end+1:]
	return name, port, name != "" && s[end] == ':' && validPort(port)
}

func validPort(s string) bool {
	if s == "" || s[0] < '1' || s[0] > '9' {
		return false // no sign, no leading zero
	}
	_, err := strconv.ParseUint(s, 10, 16)
	return err == nil
}

// validName reports whether s is a name for DNS or a hosts file: dot-separated labels
// of letters, digits, hyphen and underscore, with an optional dot at the end.
func validName(s string) bool {
	s = strings.TrimSuffix(s, ".")
	if len(s) > 253 {
		return false
	}
	label := 0
	for i := range len(s) {
		switch c := s[i]; {
		case c == '.':
			if label == 0 {
				return false
			}
			label = 0
			continue
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			label++
		default:
			return false
		}
		if label > 63 {
			return false
		}
	}
	return label > 0
}

// HostPattern is one entry of --trusted-hosts: a name on any port, a name on
// one port, or every name below a suffix.
type HostPattern struct {
	host  Host
	below bool // *.suffix; the bare suffix does not match
}

// matches reports whether the pattern covers the effective host. A pattern with a port
// matches that port only, also when it is the implied default.
func (p HostPattern) matches(h Host, scheme string) bool {
	if p.host.port != "" && p.host.port != h.portOr(scheme) {
		return false
	}
	if p.below {
		return isBelow(h.name, p.host.name)
	}
	return h.name == p.host.name
}

// isBelow reports whether name is a proper subdomain of suffix.
func isBelow(name, suffix string) bool {
	rest, ok := strings.CutSuffix(name, suffix)
	return ok && len(rest) > 1 && rest[len(rest)-1] == '.'
}
