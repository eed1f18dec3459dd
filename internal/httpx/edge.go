package httpx

import (
	"context"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strings"

	"pdpp"
)

// Edge holds the addresses under which this instance is reached, and the proxies that it
// trusts. It is immutable once it serves.
type Edge struct {
	PublicURL      Origin         // the public origin R; if zero, R is derived from each request
	TrustedHosts   []HostPattern  // accepted besides the host of PublicURL
	TrustedProxies []netip.Prefix // peers whose forwarded headers count
	AllowedOrigins []OriginPattern
}

// The probes are answered on any host and under any load (H-11, H-126).
const (
	healthPath = "/healthz"
	readyPath  = "/readyz"
)

// IsProbe reports whether r is a request to one of the probes.
func IsProbe(r *http.Request) bool {
	path := r.URL.EscapedPath()
	return path == healthPath || path == readyPath
}

// Gate rejects requests for an unknown host before cookies and bearer tokens are read
// (H-126), which stops DNS rebinding. It stores R in the state of the request.
func (e *Edge) Gate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if IsProbe(r) {
			next.ServeHTTP(w, r)
			return
		}
		scheme, host, err := e.effective(r)
		if err == nil && !e.admits(r, scheme, host) {
			err = errMisdirected
		}
		if err != nil {
			WriteError(w, r, err)
			return
		}
		update(r.Context(), func(st *state) { st.base = e.origin(scheme, host) })
		next.ServeHTTP(w, r)
	})
}

var (
	errMisdirected = &pdpp.Error{
		Code:    pdpp.CodeMisdirected,
		Message: "This server does not answer for that host name. Its operator can add it with --public-url or --trusted-hosts.",
	}
	errBadHost = &pdpp.Error{
		Code:    pdpp.CodeInvalidRequest,
		Message: "The host of the request is not of the form host or host:port.",
	}
	errBadProto = &pdpp.Error{
		Code:    pdpp.CodeInvalidRequest,
		Message: "The forwarded protocol of the request is neither http nor https.",
	}
)

// admits reports whether this instance serves the host (H-126).
func (e *Edge) admits(r *http.Request, scheme string, h Host) bool {
	if !e.PublicURL.IsZero() && h.name == e.PublicURL.host.name {
		return true
	}
	if slices.ContainsFunc(e.TrustedHosts, func(p HostPattern) bool { return p.matches(h, scheme) }) {
		return true
	}
	if h.loopback() {
		return peerAddr(r).IsLoopback()
	}
	return h.addr.IsValid() && h.addr == localAddr(r)
}

// effective returns the scheme and host that the client used (H-121).
func (e *Edge) effective(r *http.Request) (scheme string, h Host, err error) {
	scheme, host := "http", r.Host
	if r.TLS != nil {
		scheme = "https"
	}
	if e.trusts(peerAddr(r)) {
		if v := rightmost(r.Header[keyForwardedHost]); v != "" {
			host = v
		}
		if v := rightmost(r.Header[keyForwardedProto]); v != "" {
			scheme = strings.ToLower(v)
		}
	}
	if defaultPort(scheme) == "" {
		return "", Host{}, errBadProto
	}
	h, ok := parseHost(host, scheme)
	if !ok {
		return "", Host{}, errBadHost
	}
	return scheme, h, nil
}

// origin returns R (H-122).
func (e *Edge) origin(scheme string, h Host) string {
	if !e.PublicURL.IsZero() {
		return e.PublicURL.text
	}
	return scheme + "://" + h.String()
}

// Base returns R for a request (H-122), without a trailing slash. It returns "" if R is
// derived and the request has no valid host; Gate rejects such requests.
func (e *Edge) Base(r *http.Request) string {
	if !e.PublicURL.IsZero() {
		return e.PublicURL.text
	}
	if base := Base(r.Context()); base != "" {
		return base
	}
	scheme, h, err := e.effective(r)
	if err != nil {
		return ""
	}
	return e.origin(scheme, h)
}

// IsOwn reports whether an origin such as https://data.example is one of this instance
// (H-142): R, or an origin whose host Gate admits for the peer of this request.
func (e *Edge) IsOwn(r *http.Request, origin string) bool {
	o, ok := parseOrigin(origin)
	return ok && (o.text == e.Base(r) || e.admits(r, o.scheme, o.host))
}

// Vary returns the request headers that R depends on, for responses that contain R and
// may be cached (H-130).
func (e *Edge) Vary() []string {
	if len(e.TrustedProxies) > 0 {
		return []string{"Host, " + keyForwardedHost + ", " + keyForwardedProto}
	}
	return []string{"Host"}
}

// Base returns R of the request that ctx belongs to, or "" before Gate.
func Base(ctx context.Context) string {
	st := stateOf(ctx)
	if st == nil {
		return ""
	}
	st.mu.Lock()
	defer st.mu.Unlock()
	return st.base
}

// ClientAddr returns the address of the client (H-120): the socket peer, or the address
// that trusted proxies report. The zero Addr means that it is unknown.
func (e *Edge) ClientAddr(r *http.Request) netip.Addr {
	addr := peerAddr(r)
	lists := r.Header[keyForwardedFor]
	for i := len(lists) - 1; i >= 0; i-- {
		list, more := lists[i], true
		for more {
			if !e.trusts(addr) {
				return addr
			}
			var entry string
			list, entry, more = cutLast(list)
			hop, ok := parseHop(entry)
			if !ok {
				return addr // entries before an invalid one cannot be trusted
			}
			addr = hop
		}
	}
	return addr
}

// trusts reports whether the forwarded headers of this peer count.
func (e *Edge) trusts(addr netip.Addr) bool {
	for _, p := range e.TrustedProxies {
		if p.Contains(addr) {
			return true
		}
	}
	return false
}

// Challenge adds a challenge to the 401 and 403 responses of the handlers that it wraps
// (C-19, H-50). The challenge points to the metadata document of a resource: "" for /v1,
// else the path of the resource, such as "/mcp".
func (e *Edge) Challenge(resource string) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			base := e.Base(r)
			update(r.Context(), func(st *state) { st.base, st.resource, st.challenged = base, resource, base != "" })
			next.ServeHTTP(w, r)
		})
	}
}

// rightmost returns the last value of a list header, which the nearest proxy wrote.
func rightmost(values []string) string {
	if len(values) == 0 {
		return ""
	}
	_, last, _ := cutLast(values[len(values)-1])
	return last
}

// cutLast splits the last comma-separated entry off a list.
func cutLast(list string) (rest, last string, more bool) {
	if i := strings.LastIndexByte(list, ','); i >= 0 {
		return list[:i], strings.TrimSpace(list[i+1:]), true
	}
	return "", strings.TrimSpace(list), false
}

// parseHop parses an X-Forwarded-For entry. Some proxies add the port.
func parseHop(s string) (netip.Addr, bool) {
	if addr, err := netip.ParseAddr(s); err == nil {
		return addr.Unmap().WithZone(""), true
	}
	if ap, err := netip.ParseAddrPort(s); err == nil {
		return ap.Addr().Unmap().WithZone(""), true
	}
	return netip.Addr{}, false
}

// peerAddr returns the remote address of the socket.
func peerAddr(r *http.Request) netip.Addr {
	ap, err := netip.ParseAddrPort(r.RemoteAddr)
	if err != nil {
		return netip.Addr{}
	}
	return ap.Addr().Unmap().WithZone("")
}

// localAddr returns the local address of the socket.
func localAddr(r *http.Request) netip.Addr {
	a, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return a.AddrPort().Addr().Unmap().WithZone("")
}
