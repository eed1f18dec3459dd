package httpx

import "strings"

// Origin is a scheme and a host in normal form: the public origin R of this instance, or
// the origin that a browser sends. The zero value is no origin.
type Origin struct {
	scheme string
	host   Host
	text   string
}

// String returns scheme://host[:port] without a trailing slash, or "" for the zero
// value.
func (o Origin) String() string { return o.text }

// IsZero reports whether o is the zero value.
func (o Origin) IsZero() bool { return o.scheme == "" }

// parseOrigin parses scheme://host[:port] with scheme http or https and nothing
// after it.
func parseOrigin(s string) (Origin, bool) {
	scheme, rest, ok := strings.Cut(s, "://")
	scheme = strings.ToLower(scheme)
	if !ok || defaultPort(scheme) == "" {
		return Origin{}, false
	}
	h, ok := parseHost(rest, scheme)
	if !ok {
		return Origin{}, false
	}
	return makeOrigin(scheme, h), true
}

func makeOrigin(scheme string, h Host) Origin {
	return Origin{scheme: scheme, host: h, text: scheme + "://" + h.String()}
}

// OriginPattern is one entry of --allowed-origins.
type OriginPattern struct {
	origin Origin
	below  bool // https://*.suffix
	any    bool // *
}

func (p OriginPattern) matches(o Origin) bool {
	switch {
	case p.any:
		return true
	case p.below:
		return o.scheme == p.origin.scheme && o.host.port == p.origin.host.port &&
			isBelow(o.host.name, p.origin.host.name)
	}
	return o.text == p.origin.text
}

// browserLoopback reports whether the host is one of the three loopback names of H-55,
// on any port.
func (o Origin) browserLoopback() bool {
	switch o.host.name {
	case "localhost", "127.0.0.1", "[::1]":
		return true
	}
	return false
}
