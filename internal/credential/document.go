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
	ID       string // of the grant or package; the name of the file
	Provider string // in the form of Provider
	Path     string // of the file

	Token     string
	Kind      string    // client, or mcp_package
	ExpiresAt time.Time // zero: unknown
	Refresh   string    // "": cannot be renewed
	Status    string    // active, or why it cannot be used: reconnect_required
	CreatedAt time.Time

	Resource           string
	Issuer             string // of the authorization server; "": unknown
	TokenEndpoint      string
	RevocationEndpoint string // or ""
	ClientID           string
	ClientName         string
	Scope              string
	Details            json.RawMessage // authorization_details; nil if there are none
	Members            []MemberToken   // of a package that needs no token exchange (H-186)

	object // all members of the file, including unknown ones
}

// MemberToken is the token of one member of a package.
type MemberToken struct {
	GrantID     pdpp.GrantID
	Token       string    // "": obtained by exchange
	ExpiresAt   time.Time // of the token, or of the grant when there is none
	DisplayName string    // of its connection when it was saved, or ""
}

// Active is the status of a credential that can be used.
const Active = "active"

const (
	statusReconnect = "reconnect_required"
	formatVersion   = 1
)

// object is a JSON object that keeps its members unchanged. Names are compared exactly: a
// decoder that folds case would read members that a check did not see.
type object map[string]json.RawMessage

func (o object) text(name string) string { return decode[string](o[name]) }

// decode returns a JSON value, or the zero value when it is missing or has another type.
func decode[T any](raw json.RawMessage) (v T) {
	if json.Unmarshal(raw, &v) != nil {
		return *new(T)
	}
	return v
}

// time returns a time, or zero when it is missing. An invalid time is an error, because
// it may be the expiry.
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

// inner returns a member that is an object, or nil.
func (o object) inner(name string) object { return decode[object](o[name]) }

// list returns the objects of a member that is an array, or nil.
func (o object) list(name string) []object { return decode[[]object](o[name]) }

// set sets a string member; "" becomes null.
func (o object) set(name, value string) {
	o[name] = json.RawMessage("null")
	if value != "" {
		o[name] = encode(value)
	}
}

// encode returns the JSON of a string, a number or parsed members.
func encode(v any) json.RawMessage {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err) // cannot happen for these types
	}
	return bytes.TrimRight(b.Bytes(), "\n")
}

// parse parses a file (MS-265). With an error it returns what it has read so far.
func parse(raw []byte) (*Credential, error) {
	o, err := parseObject(raw)
	if err != nil {
		return nil, err
	}
	in, client := o.inner("credential"), o.inner("client")
	members := in.list("members")
	all := append([]object{o, in}, members...)
	// The prefix of an owner token is reliable only in a well-formed token: a server may
	// accept " pdpp_ot_…" as an owner token.
	if slices.ContainsFunc(all, hasMalformedToken) {
		return nil, errors.New("its access token contains invalid characters or is too long")
	}
	if slices.ContainsFunc(all, isOwner) {
		return nil, errOwner
	}
	c := &Credential{
		object: o, Resource: o.text("resource"), TokenEndpoint: o.text("token_endpoint"),
		Issuer: o.text("authorization_server"), RevocationEndpoint: o.text("revocation_endpoint"),
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

// parseObject parses the object of a file. It rejects duplicate keys, because programs
// differ in which one they use.
func parseObject(raw []byte) (object, error) {
	_, err := rawjson.Compact(nil, raw)
	if errors.Is(err, rawjson.ErrDuplicateKey) {
		return nil, errors.New("it has a duplicate key")
	}
	var o object
	if err != nil || json.Unmarshal(raw, &o) != nil || o == nil {
		return nil, errors.New("it is not a JSON object")
	}
	if version := o["version"]; version != nil && string(version) != fmt.Sprint(formatVersion) {
		return nil, fmt.Errorf("its version is not %d, which this program supports", formatVersion)
	}
	return o, nil
}

// readFacts reads and checks the other members.
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
		return errors.New("its token type is not Bearer")
	}
	if c.Token == "" {
		return errors.New("it has no access token")
	}
	return nil
}

// errOwner reports that a file is an owner credential.
var errOwner = errors.New("an owner credential")

func hasMalformedToken(o object) bool {
	token := o.text("access_token")
	return token != "" && !ValidToken(token)
}

// isOwner reports whether an object is marked as an owner credential or has an owner
// token.
func isOwner(o object) bool {
	for _, name := range []string{"pdpp_token_kind", "token_kind", "kind", "role"} {
		if strings.EqualFold(o.text(name), string(pdpp.TokenOwner)) {
			return true
		}
	}
	return IsOwnerToken(o.text("access_token"))
}

// holds reports whether a credential contains a token.
func (c *Credential) holds(token string) bool {
	return c.Token == token || slices.ContainsFunc(c.Members, func(m MemberToken) bool { return m.Token == token })
}

// tokenMax is the largest length of a token (H-43).
const tokenMax = 512

// ValidToken reports whether a string has the form of a bearer token (H-43).
func ValidToken(token string) bool {
	return token != "" && len(token) <= tokenMax && strings.IndexFunc(token, func(r rune) bool {
		return !isAlphanumeric(r) && !strings.ContainsRune("._~+/=-", r)
	}) < 0
}

func isAlphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

// IsOwnerToken reports whether a valid token is an owner token.
func IsOwnerToken(token string) bool { return strings.HasPrefix(token, "pdpp_ot_") }

// bytes returns the content of the file: its previous members with the changes (H-203).
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
	for name, value := range map[string]string{"authorization_server": c.Issuer, "revocation_endpoint": c.RevocationEndpoint} {
		if value != "" {
			o.set(name, value)
		}
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
		panic(err) // encode returns valid JSON
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
		return // members that were read are kept unchanged
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
