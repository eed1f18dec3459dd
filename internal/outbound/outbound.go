package outbound

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"io"
	"net"
	"net/http"
	"net/netip"
	"os"
	"strings"
	"time"
)

const (
	// maxAddresses is the largest number of addresses of a host. More of them would make
	// an attempt long, and are a sign of an attack.
	maxAddresses = 8

	dialTimeout    = 2 * time.Second  // per address
	connectTimeout = 10 * time.Second // of a look-up and its connections
	maxHeaderBytes = 16 << 10
)

// Policy says which requests are made. The zero value is for production.
type Policy struct {
	// AllowLoopback also allows localhost, 127.0.0.1 and [::1], with http or https. It is
	// for tests and for H-192.
	AllowLoopback bool
	// RootCAs are the trusted authorities; nil means those of the system.
	RootCAs *x509.CertPool
	// Resolver looks up the addresses of hosts; nil means that of the system.
	Resolver Resolver
}

// Resolver looks up addresses. *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Error says why a request was not made or not answered. Its text contains the host of
// the request and no address that was looked up, so that it can be shown to the client
// that named the host. The cause is for logs.
type Error struct {
	Host    string
	Reason  string
	Refused bool // by the policy; the host was not contacted
	Err     error
}

func (e *Error) Error() string { return e.Host + " " + e.Reason }

func (e *Error) Unwrap() error { return e.Err }

// Client returns a client that follows the policy. It has no cookies, uses no proxy and
// returns a redirect as the response. Each request with its body ends after timeout; that
// error reports Timeout and has no addresses either.
func (p Policy) Client(timeout time.Duration) *http.Client {
	return &http.Client{
		Transport:     p.Transport(),
		Timeout:       timeout,
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
}

// Transport returns a RoundTripper that follows the policy. Its errors are of type *Error.
func (p Policy) Transport() http.RoundTripper {
	dialer := net.Dialer{Timeout: dialTimeout}
	return p.transport(dialer.DialContext)
}

// dialFunc connects to a literal address.
type dialFunc func(ctx context.Context, network, address string) (net.Conn, error)

func (p Policy) transport(dial dialFunc) *transport {
	if p.Resolver == nil {
		p.Resolver = net.DefaultResolver
	}
	t := &transport{policy: p, dial: dial}
	// A kept connection would skip the check of the next attempt. The name in the TLS
	// handshake is the host of the URL, because DialContext is only about the connection.
	t.base = &http.Transport{
		Proxy:                  nil,
		DialContext:            t.dialContext,
		TLSClientConfig:        &tls.Config{RootCAs: p.RootCAs, MinVersion: tls.VersionTLS12},
		DisableKeepAlives:      true,
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	return t
}

type transport struct {
	policy Policy
	dial   dialFunc
	base   *http.Transport
}

// RoundTrip implements http.RoundTripper.
func (t *transport) RoundTrip(r *http.Request) (*http.Response, error) {
	host := r.URL.Hostname()
	if reason := t.policy.refuse(r); reason != "" {
		return nil, &Error{Host: host, Reason: reason, Refused: true}
	}
	resp, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, failure(host, "did not answer", err)
	}
	resp.Body = body{resp.Body, host}
	return resp, nil
}

// refuse returns why a request is not made, independent of the addresses of its host; ""
// if nothing is against it.
func (p Policy) refuse(r *http.Request) string {
	local := p.AllowLoopback && isLocal(r.URL.Hostname())
	switch {
	case r.URL.Scheme != "https" && (r.URL.Scheme != "http" || !local):
		return "must be requested with https"
	case r.URL.User != nil || r.Header.Get("Authorization") != "" || r.Header.Get("Cookie") != "":
		return "must be requested without credentials"
	}
	return ""
}

// isLocal reports whether a host of a URL names this computer.
func isLocal(host string) bool {
	return strings.EqualFold(host, "localhost") || host == "127.0.0.1" || host == "::1"
}

// dialContext connects to one of the addresses of a host after it has checked all.
func (t *transport) dialContext(ctx context.Context, network, hostPort string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(hostPort)
	if err != nil {
		return nil, &Error{Host: hostPort, Reason: "is not a host with a port", Refused: true, Err: err}
	}
	// The transport detaches this context from the request, so that it needs its own end.
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	addrs, err := t.policy.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	var errs []error
	for _, addr := range addrs {
		conn, err := t.dial(ctx, network, net.JoinHostPort(addr.String(), port))
		if err == nil {
			return conn, nil
		}
		errs = append(errs, err)
	}
	return nil, failure(host, "could not be reached", errors.Join(errs...))
}

// resolve returns the addresses of a host, all of which are allowed.
func (p Policy) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	addrs := []netip.Addr{}
	if addr, err := netip.ParseAddr(host); err == nil {
		addrs = append(addrs, addr)
	} else if addrs, err = p.Resolver.LookupNetIP(ctx, "ip", host); err != nil {
		return nil, &Error{Host: host, Reason: "could not be resolved", Err: err}
	}
	switch {
	case len(addrs) == 0:
		return nil, &Error{Host: host, Reason: "has no address"}
	case len(addrs) > maxAddresses:
		return nil, &Error{Host: host, Reason: "has too many addresses", Refused: true}
	}
	for _, addr := range addrs {
		if !isPublic(addr) && !(p.AllowLoopback && isLocal(host) && addr.Unmap().IsLoopback()) {
			return nil, &Error{Host: host, Reason: "has an address that is not public", Refused: true}
		}
	}
	return addrs, nil
}

// failure returns the error of a request without the addresses in its text. reason is for
// errors without a better one.
func failure(host, reason string, err error) *Error {
	var known *Error
	if errors.As(err, &known) {
		return known
	}
	var certificate *tls.CertificateVerificationError
	switch {
	case errors.Is(err, context.Canceled):
		reason = "did not answer before the request was canceled"
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, os.ErrDeadlineExceeded):
		reason = "did not answer in time"
	case errors.As(err, &certificate):
		reason = "has no valid certificate"
	}
	return &Error{Host: host, Reason: reason, Err: err}
}

// body is the body of a response. Its errors have no addresses either.
type body struct {
	io.ReadCloser
	host string
}

func (b body) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = failure(b.host, "did not send a complete answer", err)
	}
	return n, err
}
