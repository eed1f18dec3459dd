package credential

import (
	"bytes"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/oauth"
)

// Member is a member of a package: its token and the facts of its detail.
type Member struct {
	MemberToken
	Connection   string
	ConnectorKey string
	Streams      []string
}

// Expired reports whether the token or the grant of a member has expired.
func (m *Member) Expired(now time.Time) bool {
	return !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt)
}

// IsPackage reports whether a credential is for a package of grants.
func (cred *Credential) IsPackage() bool { return cred.Kind == string(pdpp.TokenPackage) }

// PackageMembers returns the members of a package in their order (H-186). It returns nil
// unless the file has exactly one connection (H-82) and a token for each member, or what is
// needed to obtain one: otherwise a part of the package would be missing silently.
func (cred *Credential) PackageMembers() []Member {
	details := cred.details()
	tokens := cred.Members
	exchanged := len(tokens) == 0 && cred.ClientID != "" && oauth.IsSafe(cred.TokenEndpoint)
	if exchanged {
		tokens = withoutTokens(details)
	}
	var out []Member
	for _, token := range tokens {
		i := slices.IndexFunc(details, func(d object) bool { return d.text("grant_id") == string(token.GrantID) })
		if i < 0 || token.GrantID == "" || token.Token == "" && !exchanged {
			return nil
		}
		m := Member{MemberToken: token, ConnectorKey: details[i].inner("source").text("connector_key")}
		if !m.cover(details[i].list("streams")) || slices.ContainsFunc(out, m.repeats) {
			return nil
		}
		out = append(out, m)
	}
	return out
}

// withoutTokens returns the members that details name; nil when an expiry is not valid.
func withoutTokens(details []object) []MemberToken {
	var out []MemberToken
	for _, d := range details {
		ends, err := d.time("expires_at")
		if err != nil {
			return nil
		}
		out = append(out, MemberToken{GrantID: pdpp.GrantID(d.text("grant_id")), ExpiresAt: ends})
	}
	return out
}

// SameMembers reports whether two credentials are of the same package with the same
// members.
func (cred *Credential) SameMembers(other *Credential) bool {
	return other != nil && cred.ID == other.ID && bytes.Equal(cred.Details, other.Details) && slices.Equal(cred.Members, other.Members)
}

// cover sets the streams of a detail. It returns false when they have several connections.
func (m *Member) cover(streams []object) bool {
	for _, s := range streams {
		connections := decode[[]string](s["instance_ids"])
		if len(connections) != 1 || connections[0] == "" || m.Connection != "" && m.Connection != connections[0] {
			return false
		}
		m.Connection = connections[0]
		m.Streams = append(m.Streams, s.text("name"))
	}
	return m.Connection != ""
}

func (m *Member) repeats(other Member) bool {
	return m.GrantID == other.GrantID || m.Connection == other.Connection
}

// Connections returns the connections that the details of a credential name, each once.
func (cred *Credential) Connections() []Member {
	var out []Member
	for _, d := range cred.details() {
		for _, s := range d.list("streams") {
			for _, id := range decode[[]string](s["instance_ids"]) {
				if !slices.ContainsFunc(out, func(m Member) bool { return m.Connection == id }) {
					out = append(out, Member{Connection: id, ConnectorKey: d.inner("source").text("connector_key")})
				}
			}
		}
	}
	return out
}

// Ends returns when the owner's approval is needed again: after the end of the last grant
// or, without a refresh token, of the access token. Zero means that it is unknown or only
// after a revocation.
func (cred *Credential) Ends() time.Time {
	if cred.Refresh == "" {
		return cred.ExpiresAt
	}
	var last time.Time
	for _, d := range cred.details() {
		end, err := d.time("expires_at")
		if err != nil || end.IsZero() {
			return time.Time{}
		}
		if end.After(last) {
			last = end
		}
	}
	return last
}

// details returns the authorization_details of a credential.
func (cred *Credential) details() []object { return decode[[]object](cred.Details) }
