package oauth

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"pdpp"
	"pdpp/internal/pipetest"
)

const deviceServer = "https://as.example"

// polling is a server whose token endpoint answers polls in turn. It records their times.
type polling struct {
	answers []string // "ok", "away", or an error code
	start   time.Time
	polls   []time.Duration
	device  map[string]any
}

func (p *polling) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.URL.Path == "/device" {
		_ = json.NewEncoder(w).Encode(p.device)
		return
	}
	p.polls = append(p.polls, time.Since(p.start))
	answer := p.answers[min(len(p.polls), len(p.answers))-1]
	switch answer {
	case "ok":
		_, _ = w.Write([]byte(`{"access_token":"at","token_type":"bearer"}`))
	case "away":
		panic(http.ErrAbortHandler)
	default:
		w.WriteHeader(http.StatusBadRequest)
		_ = json.NewEncoder(w).Encode(map[string]string{"error": answer})
	}
}

func newPolling(answers ...string) *polling {
	return &polling{answers: answers, device: map[string]any{
		"device_code": "dc", "user_code": "WDJB-MJHT", "verification_uri": deviceServer + "/device", "verification_uri_complete": deviceServer + "/device?user_code=WDJB-MJHT",
		"expires_in": 900, "interval": 5,
	}}
}

// run runs the flow on a fake clock.
func (p *polling) run(t *testing.T, timeout time.Duration) (shown Prompt, err error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		p.start = time.Now()
		c := &Client{Transport: pipetest.Serve(t, p, nil)}
		ctx, cancel := context.WithTimeout(t.Context(), timeout)
		defer cancel()
		// Requests over pipes need no TLS; the scheme only has to be allowed.
		s := &Server{Provider: "http://localhost", Issuer: "http://localhost", Device: "http://localhost/device", Token: "http://localhost/token"}
		_, err = c.AuthorizeDevice(ctx, s, forClient, func(p Prompt) { shown = p })
	})
	return shown, err
}

func seconds(list ...int) (out []time.Duration) {
	for _, s := range list {
		out = append(out, time.Duration(s)*time.Second)
	}
	return out
}

func TestH200DeviceFlow(t *testing.T) {
	for _, c := range []struct {
		name     string
		answers  []string
		interval any
		polls    []time.Duration
		code     pdpp.Code
	}{
		{"approved", []string{"authorization_pending", "authorization_pending", "ok"}, 5, seconds(5, 10, 15), ""},
		{"the interval is in seconds", []string{"authorization_pending", "ok"}, 7, seconds(7, 14), ""},
		{"no interval", []string{"authorization_pending", "ok"}, nil, seconds(5, 10), ""},
		{"slow_down adds 5 s for good", []string{"slow_down", "authorization_pending", "slow_down", "ok"}, 5, seconds(5, 15, 25, 40), ""},
		{"no answer slows down too", []string{"away", "ok"}, 5, seconds(5, 15), ""},
		{"a long interval is bounded", []string{"authorization_pending", "ok"}, 86400, seconds(60, 120), ""},
		{"declined", []string{"authorization_pending", "access_denied"}, 5, seconds(5, 10), pdpp.CodeApprovalDenied},
		{"expired", []string{"expired_token"}, 5, seconds(5), pdpp.CodeApprovalExpired},
		{"another error", []string{"invalid_grant"}, 5, seconds(5), pdpp.CodeTokenRequest},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPolling(c.answers...)
			if p.device["interval"] = c.interval; c.interval == nil {
				delete(p.device, "interval")
			}
			shown, err := p.run(t, time.Hour)
			wantCode(t, err, c.code)
			if diff := cmp.Diff(c.polls, p.polls); diff != "" {
				t.Errorf("polls (-want +got)\n%s", diff)
			}
			if want := (Prompt{"WDJB-MJHT", deviceServer + "/device", deviceServer + "/device?user_code=WDJB-MJHT"}); shown != want {
				t.Errorf("shown %+v", shown)
			}
		})
	}
}

func TestH200DeviceCodeEnds(t *testing.T) {
	p := newPolling("authorization_pending")
	p.device["expires_in"] = 12
	_, err := p.run(t, time.Hour)
	wantCode(t, err, pdpp.CodeApprovalExpired)
	if len(p.polls) != 2 {
		t.Errorf("polls at %v", p.polls)
	}
	p = newPolling("authorization_pending")
	_, err = p.run(t, 7*time.Second)
	wantCode(t, err, pdpp.CodeApprovalExpired)
	if len(p.polls) != 1 {
		t.Errorf("polls at %v", p.polls)
	}
}

func TestH200DeviceAnswersThatAreRefused(t *testing.T) {
	for name, change := range map[string]map[string]any{
		"no device code":               {"device_code": ""},
		"a user code with an escape":   {"user_code": "\x1b[2J"},
		"no expiry":                    {"expires_in": 0},
		"a page without TLS":           {"verification_uri": "http://elsewhere.example/device"},
		"a page that is not a page":    {"verification_uri": "javascript:alert(1)"},
		"a page that is not a URL":     {"verification_uri": ""},
		"numbers that are not numbers": {"expires_in": "soon"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPolling("ok")
			for key, value := range change {
				p.device[key] = value
			}
			shown, err := p.run(t, time.Hour)
			wantCode(t, err, pdpp.CodeTokenRequest)
			if shown != (Prompt{}) {
				t.Errorf("shown %+v", shown)
			}
		})
	}
	p := newPolling("ok")
	p.device["verification_uri_complete"] = "http://elsewhere.example/"
	if shown, err := p.run(t, time.Hour); err != nil || shown.Complete != "" {
		t.Errorf("%+v, %v", shown, err)
	}
	_, err := new(Client).AuthorizeDevice(t.Context(), &Server{Provider: "https://data.example"}, forClient, nil)
	wantCode(t, err, pdpp.CodeConnectUnsupported)
}
