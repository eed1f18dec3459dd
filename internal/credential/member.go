package credential

import (
	"encoding/json"
	"slices"
	"time"

	"pdpp"
)

// Member is a member of a package: its token, and what its detail says about it.
type Member struct {
	MemberToken
	Connection   string
	ConnectorKey string
	Streams      []string
}

// Over reports whether the token of a member has ended.
func (m *Member) Over(now time.Time) bool { return !m.ExpiresAt.IsZero() && !now.Before(m.ExpiresAt) }

func (cred *Credential) isPackage() bool { return cred.Kind == string(pdpp.TokenPackage) }

// PackageMembers are the members of a package in their order (H-186). nil when the
// file does not say of each which one connection it covers (H-82), and with which
// token: some of a package would be missing without a word.
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

// cover takes over the streams of a detail. false when they are not of one connection.
func (m *Member) cover(streams []object) bool {
	for _, s := range streams {
		connections := s.texts("instance_ids")
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

// details are the authorization_details of a credential.
func (cred *Credential) details() []object {
	var in []object
	if json.Unmarshal(cred.Details, &in) != nil {
		return nil
	}
	return in
}

// texts is a list of texts inside; nil when there is none.
func (o object) texts(name string) []string {
	var in []string
	if json.Unmarshal(o[name], &in) != nil {
		return nil
	}
	return in
}
