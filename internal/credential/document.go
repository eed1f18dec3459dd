package credential

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/rawjson"
)

// Credential is one file of the cache.
type Credential struct {
	ID       string // the grant's or package's; names the file
	Provider string // in the form of Provider
	Path     string // of the file

	Token     string
	Kind      string    // client, or mcp_package
	ExpiresAt time.Time // zero: not known
	Refresh   string    // "": cannot be renewed
	Status    string    // active, or why it cannot be used: reconnect_required
	CreatedAt time.Time

	Resource      string
	TokenEndpoint string
	ClientID      string
	ClientName    string
	Scope         string
	Details       json.RawMessage // authorization_details; nil: none
	Members       []MemberToken   // of a package that needs no token exchange (H-186)

	object // what the file held, also what is not above
}

// MemberToken is the token that one member of a package is read with.
type MemberToken struct {
	GrantID     pdpp.GrantID
	Token       string
	ExpiresAt   time.Time
	DisplayName string // of its connection when it was saved; "" for none
}

// Active is the status of a credential that can be used.
const Active = "active"

const (
	statusReconnect = "reconnect_required"
	formatVersion   = 1
)

// object is a JSON object whose members are kept as they came. Names count exactly:
// a decoder that folds case would read what a check did not see.
type object map[string]json.RawMessage

func (o object) text(name string) string {
	var s string
	if json.Unmarshal(o[name], &s) != nil {
		return ""
	}
	return s
}

// time is a moment; zero when there is none. One that cannot be read is an error: it
// may be the end of the credential.
func (o object) time(name string) (time.Time, error) {
	if o[name] == nil || string(o[name]) == "null" {
		return time.Time{}, nil
	}
	t, ok := pdpp.ParseTime(o.text(name))
	if !ok {
		return time.Time{}, fmt.Errorf("its %s is not a time like 2026-11-01T10:00:00Z", name)
	}
	return t, nil
}

// inner is an object inside; nil when there is none.
func (o object) inner(name string) object {
	var in object
	if json.Unmarshal(o[name], &in) != nil {
		return nil
	}
	return in
}

// list is the objects of an array inside; nil when there is none.
func (o object) list(name string) []object {
	var in []object
	if json.Unmarshal(o[name], &in) != nil {
		return nil
	}
	return in
}

// set sets a text; "" is null.
func (o object) set(name, value string) {
	o[name] = json.RawMessage("null")
	if value != "" {
		o[name] = encode(value)
	}
}

// encode writes JSON that is a text, a number or members that were read.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // none of these can fail
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// parse reads a file (MS-265). What it gives beside an error is what was read so far.
func parse(raw []byte) (*Credential, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	in, client := o.inner("credential"), o.inner("client")
	members := in.list("members")
	all := append([]object{o, in}, members...)
	// Whose token it is shows only in a token of the right form: a server may read
	// " pdpp_ot_…" as an owner's.
	if slices.ContainsFunc(all, hasMalformedToken) {
		return nil, errors.New("its access token has characters that no token has, or is too long")
	}
	if slices.ContainsFunc(all, isOwner) {
		return nil, errOwner
	}
	c := &Credential{
		object: o, Resource: o.text("resource"), TokenEndpoint: o.text("token_endpoint"),
		ClientID: client.text("client_id"), ClientName: client.text("client_name"), Details: o["authorization_details"],
		Token: in.text("access_token"), Kind: in.text("kind"), Refresh: in.text("refresh_token"),
		Status: in.text("status"), Scope: in.text("scope"), ID: in.text("grant_id"),
	}
	for _, m := range members {
		ends, err := m.time("expires_at")
		if err != nil {
			return c, err
		}
		c.Members = append(c.Members, MemberToken{pdpp.GrantID(m.text("grant_id")), m.text("access_token"), ends, m.text("display_name")})
	}
	if id := in.text("grant_package_id"); id != "" {
		c.ID, c.Kind = id, string(pdpp.TokenPackage)
	}
	return c, c.readFacts(o, in)
}

// parseObject reads the object of a file. A name that is there twice would mean one
// thing to this program and another to the next.
func parseObject(raw []byte) (object, error) {
	_, err := rawjson.Compact(nil, raw)
	if errors.Is(err, rawjson.ErrDuplicateKey) {
		return nil, errors.New("a name stands in it twice")
	}
	var o object
	if err != nil || json.Unmarshal(raw, &o) != nil || o == nil {
		return nil, errors.New("it is not a JSON object")
	}
	if version := o["version"]; version != nil && string(version) != fmt.Sprint(formatVersion) {
		return nil, fmt.Errorf("its version is not %d, the one this program knows", formatVersion)
	}
	return o, nil
}

// readFacts reads what can be wrong in a file of the right form.
func (c *Credential) readFacts(o, in object) (err error) {
	if c.Provider, err = Provider(o.text("provider_url")); err != nil {
		return errors.New("its provider_url does not name a server")
	}
	if c.CreatedAt, err = o.time("created_at"); err != nil {
		return err
	}
	if c.ExpiresAt, err = in.time("expires_at"); err != nil {
		return err
	}
	if t := in.text("token_type"); t != "" && !strings.EqualFold(t, "bearer") {
		return errors.New("its token is of another type than Bearer")
	}
	if c.Token == "" {
		return errors.New("it holds no access token")
	}
	return nil
}

// errOwner says that a file is an owner's credential.
var errOwner = errors.New("an owner credential")

func hasMalformedToken(o object) bool {
	token := o.text("access_token")
	return token != "" && !ValidToken(token)
}

// isOwner reports whether an object is marked as an owner's, or holds its token.
func isOwner(o object) bool {
	for _, name := range []string{"pdpp_token_kind", "token_kind", "kind", "role"} {
		if strings.EqualFold(o.text(name), string(pdpp.TokenOwner)) {
			return true
		}
	}
	return IsOwnerToken(o.text("access_token"))
}

// holds reports whether a credential reads with a token.
func (c *Credential) holds(token string) bool {
	return c.Token == token || slices.ContainsFunc(c.Members, func(m MemberToken) bool { return m.Token == token })
}

// tokenMax is the length of the longest token (H-43).
const tokenMax = 512

// ValidToken reports whether a text has the form of a bearer token (H-43).
func ValidToken(token string) bool {
	return token != "" && len(token) <= tokenMax && strings.IndexFunc(token, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("._~+/=-", r)
	}) < 0
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// IsOwnerToken reports whether a token of the right form is an owner's.
func IsOwnerToken(token string) bool { return strings.HasPrefix(token, "pdpp_ot_") }

// bytes is the file, with what changed written over what was there (H-203).
func (c *Credential) bytes(now time.Time) []byte {
	o := c.object
	if o == nil {
		o = object{}
	}
	in, client := o.inner("credential"), o.inner("client")
	if in == nil {
		in = object{}
	}
	if client == nil {
		client = object{}
	}
	c.writeInner(in)
	client.set("client_id", c.ClientID)
	client.set("client_name", c.ClientName)
	if client["token_endpoint_auth_method"] == nil {
		client.set("token_endpoint_auth_method", "none")
	}
	o["version"] = encode(formatVersion)
	for name, value := range map[string]string{
		"provider_url": c.Provider, "resource": c.Resource, "token_endpoint": c.TokenEndpoint,
		"created_at": pdpp.FormatTime(c.CreatedAt), "updated_at": pdpp.FormatTime(now),
	} {
		o.set(name, value)
	}
	if o["scope"] == nil {
		o.set("scope", c.Scope)
	}
	if c.Details != nil {
		o["authorization_details"] = c.Details
	}
	o["credential"], o["client"] = encode(in), encode(client)
	var b bytes.Buffer
	if err := json.Indent(&b, encode(o), "", "  "); err != nil {
		panic(err) // it was written a line above
	}
	b.WriteByte('\n')
	c.object = o
	return b.Bytes()
}

func (c *Credential) writeInner(in object) {
	grant, pkg := c.ID, ""
	if c.Kind == string(pdpp.TokenPackage) {
		grant, pkg = "", c.ID
	}
	expires := ""
	if !c.ExpiresAt.IsZero() {
		expires = pdpp.FormatTime(c.ExpiresAt)
	}
	for name, value := range map[string]string{
		"kind": c.Kind, "access_token": c.Token, "token_type": "Bearer", "expires_at": expires, "refresh_token": c.Refresh,
		"grant_id": grant, "grant_package_id": pkg, "scope": c.Scope, "status": c.Status,
	} {
		in.set(name, value)
	}
	if len(c.Members) == 0 || in["members"] != nil {
		return // what was read is kept as it came
	}
	var members []object
	for _, m := range c.Members {
		member := object{}
		member.set("grant_id", string(m.GrantID))
		member.set("access_token", m.Token)
		member.set("expires_at", pdpp.FormatTime(m.ExpiresAt))
		if m.DisplayName != "" {
			member.set("display_name", m.DisplayName)
		}
		members = append(members, member)
	}
	in["members"] = encode(members)
}
