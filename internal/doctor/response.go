package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/netip"
	"net/url"
	"regexp"
	"strconv"
	"strings"

	"pdpp"
)

// response is a response of the server.
type response struct {
	status int
	header http.Header
	body   any // decoded JSON; nil for anything else
}

func (p *prober) send(ctx context.Context, method, path string, headers map[string]string, body string) (*response, error) {
	req, err := http.NewRequestWithContext(ctx, method, p.origin+path, strings.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header.Set("User-Agent", "pdpp-doctor")
	for name, value := range headers {
		req.Header.Set(name, value)
	}
	res, err := p.client.Do(req)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // the message already names the address
		}
		return nil, err
	}
	defer res.Body.Close()
	raw, err := io.ReadAll(io.LimitReader(res.Body, maxBody))
	if err != nil {
		return nil, err
	}
	a := &response{status: res.StatusCode, header: res.Header}
	_ = json.Unmarshal(raw, &a.body) // a body that is not JSON has no members
	return a, nil
}

// texts returns the strings at a path of members: one, or those of a list.
func (a *response) texts(path string) (found []string) {
	v := a.body
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	list, ok := v.([]any)
	if !ok {
		list = []any{v}
	}
	for _, item := range list {
		if s, ok := item.(string); ok {
			found = append(found, s)
		}
	}
	return found
}

// text returns the first of texts, or "".
func (a *response) text(path string) string {
	if all := a.texts(path); len(all) > 0 {
		return all[0]
	}
	return ""
}

// isTrue reports whether a member of the body is true.
func (a *response) isTrue(name string) bool {
	object, _ := a.body.(map[string]any)
	return object[name] == true
}

// code returns the code of an error answer.
func (a *response) code() pdpp.Code { return pdpp.Code(a.text("error.code")) }

// summary describes the response in a few words.
func (a *response) summary() string {
	s := strconv.Itoa(a.status)
	if to := a.header.Get("Location"); to != "" {
		return s + " to " + quoted(to)
	}
	if code := a.code(); code != "" {
		return s + " " + quoted(string(code))
	}
	return s
}

// quoted returns text of another server in a safe and short form.
func quoted(s string) string {
	if s == "" {
		return "nothing"
	}
	const most = 200
	if len(s) > most {
		s = s[:most] + "…"
	}
	return strconv.QuoteToASCII(s)
}

// authParam returns a parameter of a challenge.
func authParam(header, name string) string {
	m := regexp.MustCompile(`(?:^|[ ,])` + name + `="([^"]*)"`).FindStringSubmatch(header)
	if m == nil {
		return ""
	}
	return m[1]
}

// lists reports whether a list header has an entry.
func lists(h http.Header, name, entry string) bool {
	for s := range strings.SplitSeq(h.Get(name), ",") {
		if strings.EqualFold(strings.TrimSpace(s), entry) {
			return true
		}
	}
	return false
}

func isLoopback(origin string) bool {
	u, err := url.Parse(origin)
	if err != nil {
		return false
	}
	addr, err := netip.ParseAddr(u.Hostname())
	return err == nil && addr.IsLoopback() || u.Hostname() == "localhost" || strings.HasSuffix(u.Hostname(), ".localhost")
}
