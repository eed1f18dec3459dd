package as

import (
	"context"
	"crypto/rand"
	"errors"
	"math/big"
	"net/netip"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// The rules of the device flow (H-156, H-158).
const (
	deviceLife       = 900 * time.Second
	deviceInterval   = 5  // seconds between polls
	slowDown         = 5  // seconds added for polling too soon
	maxDevices       = 20 // pending ones of an address
	userCodeAlphabet = "BCDFGHJKLMNPQRSTVWXZ"
	userCodeLength   = 8
)

// deviceBody is the body of an EntryDevice, whose key is the hash of the device code. Its
// parent is the address of the device while the request is pending.
type deviceBody struct {
	Request   string        `json:"request"`
	Client    pdpp.ClientID `json:"client"`
	ExpiresAt time.Time     `json:"expires_at"`
	Interval  int           `json:"interval"` // seconds
	PolledAt  time.Time     `json:"polled_at,omitzero"`
	Delivered bool          `json:"delivered,omitempty"`
}

// userCodeBody is the body of an EntryUserCode, whose key is the hash of the user code.
type userCodeBody struct {
	Request string `json:"request"`
}

// deviceCodes are the secrets of a device request.
type deviceCodes struct{ device, user string }

// newUserCode returns a user code such as WDJB-MJHT. Its letters cannot form words.
func newUserCode() (string, error) {
	letters := make([]byte, userCodeLength)
	for i := range letters {
		n, err := rand.Int(rand.Reader, big.NewInt(int64(len(userCodeAlphabet))))
		if err != nil {
			return "", err
		}
		letters[i] = userCodeAlphabet[n.Int64()]
	}
	return formatUserCode(string(letters)), nil
}

func formatUserCode(letters string) string { return letters[:4] + "-" + letters[4:] }

// parseUserCode returns a user code in its usual form. It ignores case, spaces and dashes.
func parseUserCode(s string) (string, bool) {
	letters := strings.Map(func(r rune) rune {
		if r == '-' || r == ' ' || r == '\t' || r == '\u2010' || r == '\u2011' || r == '\u2013' {
			return -1
		}
		return r
	}, strings.ToUpper(s))
	if len(letters) != userCodeLength || strings.Trim(letters, userCodeAlphabet) != "" {
		return "", false
	}
	return formatUserCode(letters), true
}

// beginDevice stores the request of a device (H-156).
func (s *Server) beginDevice(ctx context.Context, p *params, addr netip.Addr) (codes deviceCodes, err error) {
	if codes.user, err = newUserCode(); err != nil {
		return codes, err
	}
	codes.device = secret.Token("pdpp_dc_")
	now := s.now()
	return codes, s.Store.Update(ctx, func(tx store.Tx) error {
		if err := requestQuota.take(tx, addr, now); err != nil {
			return err
		}
		network := "device " + httpx.Network(addr).String()
		if err := checkPendingDevices(tx, network, now); err != nil {
			return err
		}
		end := now.Add(deviceLife)
		key := secret.Hash(codes.device)
		id, err := newRequest(tx, &requestBody{params: *p, Device: key, Address: addr.String(), ExpiresAt: end}, now)
		if err != nil {
			return err
		}
		err = write(tx, store.Entry{Kind: store.EntryDevice, Key: key, Parent: network, CreatedAt: now, DeleteAfter: end.Add(deviceLife)},
			deviceBody{Request: id, Client: p.Client, ExpiresAt: end, Interval: deviceInterval})
		if err != nil {
			return err
		}
		return write(tx, store.Entry{Kind: store.EntryUserCode, Key: secret.Hash(codes.user), CreatedAt: now, DeleteAfter: end}, userCodeBody{id})
	})
}

// checkPendingDevices refuses a further request of an address that has many pending ones.
func checkPendingDevices(tx store.Tx, network string, now time.Time) error {
	devices, err := tx.Children(store.EntryDevice, network)
	if err != nil {
		return err
	}
	pending := 0
	for _, e := range devices {
		if now.Before(e.CreatedAt.Add(deviceLife)) {
			pending++
		}
	}
	if pending >= maxDevices {
		return tooMany("Too many device requests from this address are pending. Try again later.", int(deviceLife.Seconds()))
	}
	return nil
}

// settleDevice removes a decided request from the pending ones of its address, so that it
// no longer counts against maxDevices.
func settleDevice(tx store.Tx, key string) error {
	e, err := tx.Entry(store.EntryDevice, key)
	if isMissing(err) {
		return nil
	}
	if err != nil {
		return err
	}
	e.Parent = ""
	return tx.PutEntry(e)
}

// FindUserCode finds the pending request of a device by the user code that an owner entered
// (H-157), and opens it for them. CodeNotFound for a wrong code; the caller counts those.
func (s *Server) FindUserCode(ctx context.Context, code string, subject pdpp.SubjectID) (*Request, error) {
	canonical, ok := parseUserCode(code)
	if !ok {
		return nil, errNoRequest
	}
	var o *openRequest
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		_, u, err := read[userCodeBody](tx, store.EntryUserCode, secret.Hash(canonical))
		if isMissing(err) {
			return errNoRequest
		}
		if err != nil {
			return err
		}
		if o, err = s.open(tx, u.Request, subject); err != nil {
			return err
		}
		if o.body.outcome(s.now()) != Pending {
			return errNoRequest
		}
		o.body.UserCode = canonical // no secret any more: the request belongs to this owner
		return o.save(tx)
	})
	if err != nil {
		return nil, err
	}
	return o.request(s.now())
}

var (
	errDeviceCode = invalidGrant("The device code is unknown, already used, or of another client. Start again.")
	errPending    = refusal("authorization_pending", "The owner has not decided yet. Poll again after the interval.")
	errSlowDown   = refusal("slow_down", "The device polls too often. Wait 5 seconds longer between polls from now on.")
	errDenied     = refusal("access_denied", "The owner declined.")
	errExpired    = refusal("expired_token", "The device code has expired. Start again.")
)

// poll answers a device that asks for its tokens (H-158). A refusal is not returned as
// err, because the changes of a refused request must be committed.
func (s *Server) poll(tx store.Tx, code string, client *Client, requested []string) (answer *tokenAnswer, refused, err error) {
	now := s.now()
	e, d, err := read[deviceBody](tx, store.EntryDevice, secret.Hash(code))
	if isMissing(err) || err == nil && (d.Client != client.ID || d.Delivered) {
		return nil, errDeviceCode, nil
	}
	if err != nil {
		return nil, nil, err
	}
	re, b, err := read[requestBody](tx, store.EntryRequest, d.Request)
	if isMissing(err) {
		return nil, errExpired, nil
	}
	if err != nil {
		return nil, nil, err
	}
	switch b.outcome(now) {
	case Approved:
		return s.deliver(tx, e, d, &openRequest{re, b, client}, requested)
	case Denied:
		return nil, errDenied, nil
	case Expired:
		return nil, errExpired, nil
	}
	refused = errPending
	if !d.PolledAt.IsZero() && now.Before(d.PolledAt.Add(time.Duration(d.Interval)*time.Second)) {
		d.Interval += slowDown
		refused = errSlowDown
	}
	d.PolledAt = now
	return nil, refused, write(tx, e, d)
}

// deliver issues the tokens of an approved device request, once.
func (s *Server) deliver(tx store.Tx, e store.Entry, d *deviceBody, o *openRequest, requested []string) (answer *tokenAnswer, refused, err error) {
	now := s.now()
	if !now.Before(d.ExpiresAt.Add(deviceLife)) {
		return nil, errExpired, nil
	}
	audience, refused := narrowed(o.body.Audience, requested)
	if refused != nil {
		return nil, refused, nil
	}
	r, err := o.body.Access.load(tx, o.entry.Subject, now)
	if errors.Is(err, errEnded) {
		return nil, errDeviceCode, nil
	}
	if err != nil {
		return nil, nil, err
	}
	d.Delivered = true
	if err := write(tx, e, d); err != nil {
		return nil, nil, err
	}
	f := &family{access: o.body.Access, Client: o.client.ID, Audience: o.body.Audience, NoRenew: !o.client.allows(grantRefresh)}
	if err := newFamily(tx, o.entry.Subject, f, now); err != nil {
		return nil, nil, err
	}
	answer, err = f.issue(tx, r, audience, 1, now)
	return answer, nil, err
}
