package bench

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"time"

	"pdpp/internal/as"
	"pdpp/internal/consent"
	"pdpp/internal/httpx"
	"pdpp/internal/signin"
)

// The client of the code flow is the command-line program, which every server knows. The
// verifier and its challenge are those of RFC 7636, appendix B.
const (
	flowClient    = "pdpp_cli"
	flowRedirect  = "http://127.0.0.1/callback"
	flowVerifier  = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
	flowChallenge = "E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM"
	flowBase      = "http://127.0.0.1"
)

// flow does what precedes a measurement, for the client and for the owner: it uses the
// authorization server of this process over the store of the measured server.
type flow struct {
	*World
	as   *as.Server
	next netip.Addr // that the next request comes from: the requests of an address are limited
}

func newFlow(ctx context.Context, dir string) (*flow, error) {
	w, err := OpenWorld(ctx, dir)
	if err != nil {
		return nil, err
	}
	server := as.New(as.Config{Store: w.Store, Edge: &httpx.Edge{}, Clock: time.Now, Log: slog.New(slog.DiscardHandler)})
	return &flow{World: w, as: server, next: netip.MustParseAddr("10.0.0.1")}, nil
}

// authorize sends an authorization request and returns its id.
func (f *flow) authorize(ctx context.Context) (string, error) {
	query := url.Values{
		"client_id": {flowClient}, "redirect_uri": {flowRedirect}, "response_type": {"code"},
		"code_challenge": {flowChallenge}, "code_challenge_method": {"S256"},
	}
	r := httptest.NewRequestWithContext(ctx, http.MethodGet, as.AuthorizePath+"?"+query.Encode(), http.NoBody)
	r.RemoteAddr = netip.AddrPortFrom(f.next, 1).String()
	f.next = f.next.Next()
	answer := httptest.NewRecorder()
	f.as.Handler().ServeHTTP(answer, r)
	id, found := strings.CutPrefix(answer.Header().Get("Location"), "/consent/")
	if !found {
		return "", fmt.Errorf("authorization request: %d %.300s", answer.Code, answer.Body)
	}
	return id, nil
}

// code takes a request through the consent of the owner, to the first stream for a week, and
// returns the code.
func (f *flow) code(ctx context.Context) (string, error) {
	id, err := f.authorize(ctx)
	if err != nil {
		return "", err
	}
	if _, err := f.as.Request(ctx, id, f.Subject); err != nil {
		return "", err
	}
	choice := consent.Choice{Streams: []consent.StreamChoice{{N: 1}}, Duration: consent.Duration7d}
	if err := f.as.Choose(ctx, id, f.Subject, choice); err != nil {
		return "", err
	}
	decision, faults, err := f.as.Review(ctx, id, f.Subject, choice)
	if err != nil || len(faults) > 0 {
		return "", errors.Join(err, fmt.Errorf("review: %v", faults))
	}
	next, err := f.as.Approve(ctx, as.Approval{Request: id, Subject: f.Subject, Base: flowBase, Digest: decision.Digest()})
	if err != nil {
		return "", err
	}
	u, err := url.Parse(next)
	if err != nil {
		return "", err
	}
	return u.Query().Get("code"), nil
}

// signIn returns the cookie of a new session of the owner.
func (f *flow) signIn(ctx context.Context) (string, error) {
	service, err := signin.New(signin.Config{Store: f.Store, Clock: time.Now, Log: slog.New(slog.DiscardHandler), Key: instanceKey, Name: "bench"})
	if err != nil {
		return "", err
	}
	code, err := service.NewLink(ctx, f.Subject, signin.LinkSignIn, time.Minute)
	if err != nil {
		return "", err
	}
	cookie, _, err := service.UseLink(ctx, code, signin.Visitor{Address: f.next})
	return cookie, err
}

// tokenRequest returns a request of the token endpoint.
func tokenRequest(form url.Values) []byte {
	form.Set("client_id", flowClient)
	body := form.Encode()
	return fmt.Appendf(nil, "POST /oauth/token HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: %d\r\n\r\n%s", len(body), body)
}

func redemption(code string) []byte {
	return tokenRequest(url.Values{"grant_type": {"authorization_code"}, "redirect_uri": {flowRedirect}, "code": {code}, "code_verifier": {flowVerifier}})
}

func refresh(token string) []byte {
	return tokenRequest(url.Values{"grant_type": {"refresh_token"}, "refresh_token": {token}})
}
