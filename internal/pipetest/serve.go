package pipetest

import (
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
)

// Serve serves h until the test ends and returns a transport that reaches it, whatever
// the host of the URL. Without protocols it speaks HTTP/1.
func Serve(t testing.TB, h http.Handler, protocols *http.Protocols) *http.Transport {
	t.Helper()
	l := &listener{conns: make(chan net.Conn), closed: make(chan struct{})}
	srv := &http.Server{Handler: h, Protocols: protocols}
	go func() { _ = srv.Serve(l) }() // returns after Close
	transport := &http.Transport{Protocols: protocols, DialContext: l.dial}
	t.Cleanup(func() {
		transport.CloseIdleConnections()
		_ = srv.Close()
	})
	return transport
}

// HTTP2 returns the protocols of a server without TLS that speaks only HTTP/2.
func HTTP2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// listener accepts one end of each pipe that dial opens.
type listener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   sync.Once
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.UnixAddr{Name: "pipe", Net: "pipe"} }

func (l *listener) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	client, server := net.Pipe()
	select {
	case l.conns <- server:
		return client, nil
	case <-l.closed:
		return nil, net.ErrClosed
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
