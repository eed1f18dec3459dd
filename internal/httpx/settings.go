package httpx

import (
	"net"
	"net/netip"
	"strconv"
	"strings"

	"pdpp"
)

// ParsePublicURL parses --public-url: scheme, host, optional port, no path. It returns
// the zero Origin for "". Errors have pdpp.CodeUsage.
func ParsePublicURL(s string) (Origin, error) {
	if s == "" {
		return Origin{}, nil
	}
	o, ok := parseOrigin(strings.TrimSuffix(s, "/"))
	if !ok {
		return Origin{}, usage("--public-url", s, "write scheme and host only, such as https://data.example")
	}
	return o, nil
}

// ParseTrustedHosts parses --trusted-hosts. Errors have pdpp.CodeUsage.
func ParseTrustedHosts(list []string) ([]HostPattern, error) {
	var out []HostPattern
	for _, s := range entries(list) {
		rest, below := strings.CutPrefix(s, "*.")
		h, ok := parseHost(rest, "")
		if !ok || below && h.addr.IsValid() {
			return nil, usage("--trusted-hosts", s, "write name, name:port or *.suffix")
		}
		out = append(out, HostPattern{host: h, below: below})
	}
	return out, nil
}

// ParseTrustedProxies parses --trusted-proxies: networks, or single addresses.
// Errors have pdpp.CodeUsage.
func ParseTrustedProxies(list []string) ([]netip.Prefix, error) {
	var out []netip.Prefix
	for _, s := range entries(list) {
		p, err := netip.ParsePrefix(s)
		if addr, aerr := netip.ParseAddr(s); aerr == nil && addr.Zone() == "" {
			addr = addr.Unmap()
			p, err = netip.PrefixFrom(addr, addr.BitLen()), nil
		}
		// An IPv4-mapped IPv6 network would never match, because peer addresses are
		// converted to IPv4.
		if err != nil || p.Addr().Is4In6() {
			return nil, usage("--trusted-proxies", s, "write a network such as 10.0.0.0/8 or fd00::/8")
		}
		out = append(out, p.Masked())
	}
	return out, nil
}

// ParseAllowedOrigins parses --allowed-origins. Errors have pdpp.CodeUsage.
func ParseAllowedOrigins(list []string) ([]OriginPattern, error) {
	var out []OriginPattern
	for _, s := range entries(list) {
		if s == "*" {
			out = append(out, OriginPattern{any: true})
			continue
		}
		plain := strings.Replace(s, "://*.", "://", 1)
		o, ok := parseOrigin(plain)
		below := plain != s
		if !ok || below && o.host.addr.IsValid() {
			return nil, usage("--allowed-origins", s, "write https://app.example, https://*.example or *")
		}
		out = append(out, OriginPattern{origin: o, below: below})
	}
	return out, nil
}

// entries flattens the values of a list flag (H-10).
func entries(list []string) []string {
	var out []string
	for _, v := range list {
		for s := range strings.SplitSeq(v, ",") {
			if s = strings.TrimSpace(s); s != "" {
				out = append(out, s)
			}
		}
	}
	return out
}

func usage(flag, value, advice string) *pdpp.Error {
	return &pdpp.Error{
		Code: pdpp.CodeUsage, Param: flag,
		Message: flag + " does not accept \"" + value + "\": " + advice + ".",
	}
}

// Settings are the command-line settings whose combination CheckSettings checks (H-12).
type Settings struct {
	Listen         string // host:port
	TLS            bool   // the listener uses TLS
	AllowPlainHTTP bool
	Edge           *Edge
}

// CheckSettings rejects combinations that would send tokens unencrypted or trust a host
// name that a client chose (H-12), with pdpp.CodeNotConfigured. An invalid listen address
// has pdpp.CodeUsage.
func CheckSettings(s Settings) error {
	host, port, err := net.SplitHostPort(s.Listen)
	if err == nil {
		_, err = strconv.ParseUint(port, 10, 16)
	}
	if err != nil {
		return usage("--listen", s.Listen, "write host:port with a port up to 65535, such as 127.0.0.1:7663")
	}
	e := s.Edge
	proxied := len(e.TrustedProxies) > 0
	if proxied && e.PublicURL.IsZero() && len(e.TrustedHosts) == 0 {
		return refuse("--trusted-proxies needs --public-url or --trusted-hosts, because a proxy may forward any host name.",
			"Add --public-url with the address people use.")
	}
	if s.AllowPlainHTTP {
		return nil
	}
	if e.PublicURL.scheme == "http" && !e.PublicURL.host.loopback() {
		return refuse("--public-url "+e.PublicURL.text+" would send tokens and passwords unencrypted.",
			"Use https, or add --allow-plain-http when the network is trusted.")
	}
	localURL := !e.PublicURL.IsZero() && e.PublicURL.host.loopback()
	if !loopbackListener(host) && !s.TLS && !proxied && !localURL {
		return refuse("--listen "+s.Listen+" would serve other machines without encryption.",
			"Add --tls-cert and --tls-key, or --trusted-proxies for a proxy that has TLS, or --allow-plain-http when the network is trusted.")
	}
	return nil
}

func refuse(message, hint string) *pdpp.Error {
	return &pdpp.Error{Code: pdpp.CodeNotConfigured, Message: message, Hint: hint}
}

// loopbackListener reports whether only this machine can reach a listen host. An empty
// host listens on all addresses.
func loopbackListener(host string) bool {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.IsLoopback()
	}
	return strings.EqualFold(host, "localhost")
}
