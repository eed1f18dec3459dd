package credential

import (
	"slices"
	"time"

	"pdpp"
)

// Member is a member of a package: its token and the facts of its detail.
type Member struct {
	MemberToken
	Connection   string
	ConnectorKey string
	Streams      []string
}

// Expired reports whether the token of a member has expired.
func (m *Member) Expired(now time.Time) bool {
	return !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt)
}

func (cred *Credential) isPackage() bool { return cred.Kind == string(pdpp.TokenPackage) }

// PackageMembers returns the members of a package in their order (H-186). It returns nil
// unless the file has exactly one connection (H-82) and a token for each member, because
// a part of the package would be missing silently.
func (cred *Credential) PackageMembers() []Member {
	details := cred.details()
	var out []Member
	for _, token := range cred.Members {
		i := slices.IndexFunc(details, func(d object) bool { return d.text("grant_id") == string(token.GrantID) })
		if i < 0 || token.GrantID == "" || token.Token == "" {
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

// details returns the authorization_details of a credential.
func (cred *Credential) details() []object { return decode[[]object](cred.Details) }
