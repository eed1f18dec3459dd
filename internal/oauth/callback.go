package oauth

import (
	"context"
	"crypto/subtle"
	"io"
	"net"
	"net/http"
	"net/url"
	"sync/atomic"
	"time"

	"pdpp"
	"pdpp/internal/secret"
)

const (
	callbackHost = "127.0.0.1" // not localhost: RFC 8252 §8.3
	callbackPath = "/callback"

	callbackHeaderMax = 32 << 10
	callbackTimeout   = 10 * time.Second
)

// callback receives the answer of the authorization server through the browser.
type callback struct {
	server  *Server
	address string // host and port
	state   string
	taken   atomic.Bool
	result  chan codeOrError // receives one value
}

type codeOrError struct {
	code string
	err  error
}

func newCallback(s *Server, address string) *callback {
	return &callback{server: s, address: address, state: secret.Token(""), result: make(chan codeOrError, 1)}
}

func (cb *callback) uri() string { return "http://" + cb.address + callbackPath }

// serve serves the callback until stop is called. stop waits for a page that is being sent.
func (cb *callback) serve(l net.Listener) (stop func()) {
	srv := &http.Server{
		Handler: cb, MaxHeaderBytes: callbackHeaderMax,
		ReadTimeout: callbackTimeout, WriteTimeout: callbackTimeout, IdleTimeout: callbackTimeout,
	}
	srv.SetKeepAlivesEnabled(false)
	go func() { _ = srv.Serve(l) }() // returns after stop
	return func() {
		ctx, cancel := context.WithTimeout(context.Background(), callbackTimeout)
		defer cancel()
		if srv.Shutdown(ctx) != nil {
			_ = srv.Close() // a browser that does not read its page is cut off
		}
	}
}

// ServeHTTP implements http.Handler. Only the first request to the path counts.
func (cb *callback) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch {
	case r.Host != cb.address || r.URL.Path != callbackPath: // another host: DNS rebinding
		page(w, http.StatusNotFound, "Not found", "There is nothing at this address.")
	case r.Method != http.MethodGet:
		page(w, http.StatusMethodNotAllowed, "Not allowed", "This address accepts only the answer of a browser.")
	case cb.taken.Swap(true):
		page(w, http.StatusGone, "Already used", "This answer was already received. You can close this page.")
	default:
		code, err := cb.check(r.URL.Query())
		if err != nil {
			page(w, http.StatusBadRequest, "Not connected", "The reason is shown in the terminal. You can close this page.")
		} else {
			page(w, http.StatusOK, "Approved", "Go back to the terminal. You can close this page.")
		}
		cb.result <- codeOrError{code, err}
	}
}

// check returns the code of an answer to this request (RFC 6749 §4.1.2, RFC 9207 §2.4).
func (cb *callback) check(q url.Values) (code string, err error) {
	for _, name := range []string{"state", "iss", "code", "error"} {
		if len(q[name]) > 1 {
			return "", &pdpp.Error{
				Code: pdpp.CodeStateMismatch, Message: "The answer of the browser is not valid: it has several values of " + name + ".", Hint: connectAgain,
			}
		}
	}
	iss, hasIssuer := q["iss"]
	switch {
	case subtle.ConstantTimeCompare([]byte(q.Get("state")), []byte(cb.state)) != 1:
		return "", &pdpp.Error{
			Code: pdpp.CodeStateMismatch, Message: "The answer of the browser does not belong to this request. Another page may have sent it.",
			Hint: connectAgain,
		}
	case cb.server.SendsIssuer && !hasIssuer, hasIssuer && iss[0] != cb.server.Issuer:
		return "", &pdpp.Error{
			Code: pdpp.CodeIssuerMismatch, Message: "The answer of the browser does not come from " + cb.server.Issuer + ".",
			Hint: "Nothing was saved. Do not use this server until its operator has explained this.",
		}
	case q.Get("error") == "access_denied":
		return "", errDenied
	case q.Get("error") != "":
		return "", notIssued(cb.server, refusalOf(q.Get("error"), q.Get("error_description")))
	case q.Get("code") == "":
		return "", &pdpp.Error{Code: pdpp.CodeTokenRequest, Message: "The answer of the browser has no code.", Hint: connectAgain}
	}
	return q.Get("code"), nil
}

// page writes a small page. Its address contains a code, which must not be cached or reach
// another site.
func page(w http.ResponseWriter, status int, title, text string) {
	h := w.Header()
	h.Set("Content-Type", "text/html; charset=utf-8")
	h.Set("Content-Security-Policy", "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = io.WriteString(w, "<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'><title>"+title+
		"</title><style>:root{color-scheme:light dark}body{font:1.1rem/1.5 system-ui,sans-serif;max-width:32rem;margin:20vh auto;padding:0 1rem}</style><h1>"+
		title+"</h1><p>"+text+"</p></html>\n") // the browser may be gone
}
