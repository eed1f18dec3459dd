package oauth

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"time"
)

const (
	pollInterval = 5 * time.Second // RFC 8628 §3.2: the default
	slowDown     = 5 * time.Second // RFC 8628 §3.5
	maxInterval  = time.Minute
	maxUserCode  = 64
)

// Prompt is what the owner needs to approve on another device.
type Prompt struct {
	UserCode string
	Address  string // of the page where the code is entered
	Complete string // the same page with the code in its address; may be ""
}

// deviceAnswer is the answer to a device authorization request (RFC 8628 §3.2).
type deviceAnswer struct {
	DeviceCode string `json:"device_code"`
	UserCode   string `json:"user_code"`
	Address    string `json:"verification_uri"`
	Complete   string `json:"verification_uri_complete"`
	ExpiresIn  int64  `json:"expires_in"`
	Interval   int64  `json:"interval"` // seconds
}

// AuthorizeDevice obtains a token with the owner's approval on any device (RFC 8628). It
// ends with ctx or with the code. The errors are those of Authorize.
func (c *Client) AuthorizeDevice(ctx context.Context, s *Server, r Request, show func(Prompt)) (*Token, error) {
	if s.Device == "" {
		return nil, unsupported(s.Provider, "its authorization server has no codes for devices")
	}
	d, err := c.device(ctx, s, r)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(d.ExpiresIn)*time.Second)
	defer cancel()
	show(Prompt{d.UserCode, d.Address, d.Complete})
	return c.poll(ctx, s, r, d)
}

// device starts the flow.
func (c *Client) device(ctx context.Context, s *Server, r Request) (*deviceAnswer, error) {
	a, err := c.post(ctx, s.Device, s.form(r))
	if err != nil {
		return nil, notIssued(s, err)
	}
	if refusal := a.refusal(); refusal != nil {
		return nil, notIssued(s, refusal)
	}
	d := new(deviceAnswer)
	if a.status != http.StatusOK || json.Unmarshal(a.body, d) != nil || d.DeviceCode == "" || d.UserCode == "" || d.ExpiresIn <= 0 ||
		printable(d.UserCode, maxUserCode) != d.UserCode || !isAllowed(s.Provider, d.Address) {
		return nil, notIssued(s, failure(s.Device, "it returned no usable code ("+a.text+")", nil))
	}
	if !isAllowed(s.Provider, d.Complete) {
		d.Complete = ""
	}
	d.ExpiresIn = min(d.ExpiresIn, int64(24*time.Hour/time.Second))
	return d, nil
}

// poll asks for the token until the owner has decided. A poll without an answer slows the
// next ones down too, because the server may be overloaded.
func (c *Client) poll(ctx context.Context, s *Server, r Request, d *deviceAnswer) (*Token, error) {
	interval := pollInterval
	if d.Interval > 0 {
		interval = min(time.Duration(d.Interval)*time.Second, maxInterval)
	}
	form := map[string][]string{"grant_type": {grantDevice}, "device_code": {d.DeviceCode}, "client_id": {r.ClientID}}
	for {
		wait := time.NewTimer(interval)
		select {
		case <-wait.C:
		case <-ctx.Done():
			wait.Stop()
			return nil, notApproved(ctx.Err())
		}
		t, err := c.request(ctx, s.Token, form)
		var f *Failure
		switch {
		case err == nil:
			return t, nil
		case ctx.Err() != nil:
			return nil, notApproved(ctx.Err())
		case IsRefusal(err, "authorization_pending"):
		case IsRefusal(err, "slow_down"), errors.As(err, &f) && f.Err != nil:
			interval = min(interval+slowDown, maxInterval)
		case IsRefusal(err, "access_denied"):
			return nil, errDenied
		case IsRefusal(err, "expired_token"):
			return nil, notApproved(context.DeadlineExceeded)
		default:
			return nil, notIssued(s, err)
		}
	}
}
