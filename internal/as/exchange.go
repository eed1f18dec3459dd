package as

import (
	"errors"
	"slices"
	"time"

	"pdpp"
	"pdpp/internal/issue"
	"pdpp/internal/store"
)

const (
	typeAccessToken = "urn:ietf:params:oauth:token-type:access_token"
	exchangeLife    = 10 * time.Minute
)

// exchange is a request for the token of a member of a package (H-165, RFC 8693).
type exchange struct {
	token     string // of the package
	tokenType string
	client    pdpp.ClientID
	member    pdpp.GrantID
	requested []string // audiences
}

func parseExchange(f form, requested []string) (exchange, error) {
	in := exchange{
		token: f.get("subject_token"), tokenType: f.get("subject_token_type"), client: pdpp.ClientID(f.get("client_id")),
		member: pdpp.GrantID(f.get("pdpp_grant_id")), requested: requested,
	}
	switch {
	case in.client == "":
		return in, errNoClientID
	case in.token == "" || in.member == "":
		return in, invalidRequest("subject_token and pdpp_grant_id are required.")
	case in.tokenType != typeAccessToken:
		return in, invalidRequest("subject_token_type must be " + typeAccessToken + ".")
	case f.get("requested_token_type") != "" && f.get("requested_token_type") != typeAccessToken:
		return in, invalidRequest("requested_token_type must be " + typeAccessToken + ".")
	case f.get("actor_token") != "":
		return in, invalidRequest("actor_token is not supported.")
	}
	_, err := narrowed([]string{audienceREST}, requested)
	return in, err
}

var (
	errSubjectToken = invalidGrant("The subject_token is unknown, expired, revoked, or not the token of a package of this client. Refresh it, or ask the owner to approve again.")
	errMember       = refusal("invalid_grant", "The package has no usable grant with this pdpp_grant_id. The authorization_details of its token list the grants.")
	errAudience     = refusal("invalid_target", "The token of the package is not for the REST API. Authorize it with the resource of the server itself.")
)

// exchange issues a short-lived token for one member of a package, which ends with the
// package's token.
func (s *Server) exchange(tx store.Tx, in exchange) (*tokenAnswer, error) {
	now := s.now()
	p, err := tx.Token(store.HashToken(in.token))
	if isMissing(err) {
		return nil, errSubjectToken
	}
	if err != nil {
		return nil, err
	}
	switch {
	case !p.Live(now) || p.Package == nil || p.Package.Status(now) != pdpp.GrantActive || p.Package.Client != in.client:
		return nil, errSubjectToken
	case !slices.Contains(p.Audience, audienceREST):
		return nil, errAudience
	}
	members, err := tx.Members(p.Subject, p.Package.ID)
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(members, func(m store.Member) bool { return m.GrantID == in.member && m.Fault(in.client, now) == "" }) {
		return nil, errMember
	}
	r, err := loadGrant(tx, p.Subject, in.member, now)
	if errors.Is(err, errEnded) {
		return nil, errMember
	}
	if err != nil {
		return nil, err
	}
	end := issue.ExpiryWithin(now, exchangeLife, r.end)
	if p.ExpiresAt.Before(end) {
		end = p.ExpiresAt
	}
	token, value := issue.ClientToken(r.grant, []string{audienceREST}, now, end)
	token.Family = string(p.ID) // it is revoked with the token of the package
	answer := newAnswer(value, end.Sub(now), r.documents)
	answer.IssuedType, answer.GrantID = typeAccessToken, in.member
	return answer, tx.CreateToken(token, store.HashToken(value))
}
