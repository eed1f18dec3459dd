package cli

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/grant"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// grantsCreate is `pdpp grants create` (H-15).
type grantsCreate struct {
	Client   string   `required:"" placeholder:"NAME" help:"Who gets it: a name (a new one makes a client) or a cli_… id."`
	Spec     string   `required:"" placeholder:"FILE" help:"What is granted, as JSON; - is standard input."`
	Audience []string `placeholder:"LIST" help:"What the token opens: rest, mcp (default: both)."`
	TokenTTL string   `name:"token-ttl" placeholder:"30d" help:"Life of the token, at most 365d and never past the grant."`
	NoToken  bool     `help:"Make no token: for a package, or to see what a spec covers."`
	Save     string   `name:"save-credential" placeholder:"URL" help:"Also save the token for reading this server, ready for pdpp mcp."`
	cacheFlag
	jsonFlag
}

// grantAnswer is the object of H-15. The token's four keys are absent without a
// token.
type grantAnswer struct {
	GrantID        pdpp.GrantID      `json:"grant_id"`
	ClientID       pdpp.ClientID     `json:"client_id"`
	SubjectID      pdpp.SubjectID    `json:"subject_id"`
	Status         pdpp.GrantStatus  `json:"status"`
	IssuedAt       string            `json:"issued_at"`
	GrantExpiresAt *string           `json:"grant_expires_at"`
	AccessToken    string            `json:"access_token,omitempty"`
	TokenType      string            `json:"token_type,omitempty"`
	ExpiresAt      string            `json:"expires_at,omitempty"`
	Audience       []string          `json:"audience,omitempty"`
	CredentialFile string            `json:"credential_file,omitempty"`
	Details        []json.RawMessage `json:"authorization_details"`
}

// specLimit bounds what is read of a spec; how much of it is too much is said by
// package grant (H-146).
const specLimit = 1 << 20

// Run implements the command.
func (c *grantsCreate) Run(ctx context.Context, a *app) error {
	issue, err := c.issue()
	if err != nil {
		return err
	}
	if c.Spec == "-" {
		issue.spec, err = readAll("standard input", a.Stdin, specLimit)
	} else {
		issue.spec, err = readFile(c.Spec, specLimit)
	}
	if err != nil {
		return err
	}
	return handOut(ctx, a, handing{provider: c.Save, cache: c.cacheFlag, json: c.JSON}, issue.make)
}

func (m *madeGrant) savedAs(file string) { m.file = file }

// credential is what reads with the new grant.
func (m *madeGrant) credential() *credential.Credential {
	return &credential.Credential{
		ID: string(m.grant.ID), Token: m.value, Kind: string(pdpp.TokenClient), Status: credential.Active,
		ExpiresAt: m.token.ExpiresAt, CreatedAt: m.now, ClientID: string(m.grant.ClientID), ClientName: m.grant.ClientName,
		Details: append(grant.AppendDetail([]byte{'['}, m.grant), ']'),
	}
}

func (c *grantsCreate) issue() (*grantIssue, error) {
	if c.NoToken && (c.TokenTTL != "" || len(c.Audience) > 0 || c.Save != "") {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "--no-token cannot stand with --token-ttl, --audience or --save-credential.")
	}
	if strings.TrimSpace(c.Client) == "" || len(c.Client) > 100 || c.Client != plain(c.Client) {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "--client does not accept %q: write a name of at most 100 bytes.", c.Client)
	}
	ttl, err := lifetime("--token-ttl", c.TokenTTL, 30*day)
	if err != nil {
		return nil, err
	}
	audience, err := parseAudience(c.Audience, c.Save, "rest", "mcp")
	return &grantIssue{client: c.Client, audience: audience, ttl: ttl, noToken: c.NoToken}, err
}

// parseAudience reads --audience (H-127), which a credential that is saved must suit;
// duplicates are dropped.
func parseAudience(list []string, save string, fallback ...string) ([]string, error) {
	if len(list) == 0 {
		list = fallback
	}
	var out []string
	for _, s := range list {
		s = strings.TrimSpace(s)
		if !slices.Contains([]string{"rest", "mcp"}, s) {
			return nil, pdpp.Errorf(pdpp.CodeUsage, "--audience does not accept %q: choose from rest, mcp.", s)
		}
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	if save != "" && !slices.Contains(out, "rest") {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "--save-credential needs rest in --audience: the adapter reads /v1.")
	}
	return out, nil
}

// grantIssue is a grant that is to be made.
type grantIssue struct {
	client   string
	spec     []byte
	audience []string
	ttl      time.Duration
	noToken  bool
}

// madeGrant is a grant that was made. value is the token itself, "" for none.
type madeGrant struct {
	grant   *pdpp.Grant
	stored  store.Grant
	catalog *pdpp.Catalog // it was made from
	token   store.Token
	value   string
	file    string // where it was saved; "" for nowhere
	now     time.Time
}

// make freezes the spec and stores grant, client and token in one transaction,
// so that nothing can change between what was resolved and what is granted.
func (i *grantIssue) make(ctx context.Context, s session, now time.Time) (*madeGrant, error) {
	m := &madeGrant{now: now}
	err := s.store.Update(ctx, func(tx store.Tx) error {
		client, err := findClient(tx, s.owner.ID, i.client, now)
		if err != nil {
			return err
		}
		if m.catalog, err = tx.Catalog(s.owner.ID); err != nil {
			return err
		}
		m.grant, err = grant.Freeze(i.spec, m.catalog, grant.Issue{
			ID: pdpp.GrantID(secret.ID("grt_")), Subject: s.owner.ID, ClientID: client.ID, ClientName: client.Name, Now: now,
		})
		if err != nil {
			return err
		}
		m.stored = store.Grant{
			ID: m.grant.ID, Subject: s.owner.ID, Client: client, ConnectorKey: m.grant.ConnectorKey,
			Document: grant.Document(m.grant), IssuedAt: m.grant.IssuedAt, ExpiresAt: m.grant.ExpiresAt,
			// The token uses it up (H-149).
			Consumed: m.grant.AccessMode == grant.SingleUse && !i.noToken,
		}
		if err := tx.CreateGrant(m.stored); err != nil || i.noToken {
			return err
		}
		m.token, m.value = clientToken(m.stored, i.audience, now, endWithin(now, i.ttl, m.stored.ExpiresAt))
		return tx.CreateToken(m.token, store.HashToken(m.value))
	})
	return m, err
}

// clientToken makes a token of a grant.
func clientToken(g store.Grant, audience []string, now, end time.Time) (store.Token, string) {
	return store.Token{
		ID: pdpp.TokenID(secret.ID("tok_")), Kind: pdpp.TokenClient, Subject: g.Subject, Client: g.Client.ID, Grant: g.ID,
		Audience: audience, IssuedAt: now, ExpiresAt: end,
	}, secret.Token("pdpp_at_")
}

// endWithin is the end of a token that never outlives what it stands for (H-160),
// which has no end when limit is zero.
func endWithin(now time.Time, ttl time.Duration, limit time.Time) time.Time {
	end := now.Add(ttl)
	if !limit.IsZero() && limit.Before(end) {
		return limit
	}
	return end
}

// findClient finds a client by id or operator name; a new name makes a client.
func findClient(tx store.Tx, owner pdpp.SubjectID, nameOrID string, now time.Time) (store.Client, error) {
	client, err := tx.Client(owner, nameOrID)
	if pdpp.CodeOf(err) != pdpp.CodeNotFound || strings.HasPrefix(nameOrID, "cli_") {
		return client, err
	}
	client = store.Client{ID: pdpp.ClientID(secret.ID("cli_")), Name: nameOrID, RegistrationMode: "operator", CreatedAt: now}
	return client, tx.CreateClient(owner, client)
}

func (m *madeGrant) answer() any {
	g := m.grant
	out := grantAnswer{
		GrantID: g.ID, ClientID: g.ClientID, SubjectID: g.SubjectID, Status: m.stored.Status(m.now),
		IssuedAt: pdpp.FormatTime(g.IssuedAt), GrantExpiresAt: timeOrNull(g.ExpiresAt),
		Details: []json.RawMessage{grant.AppendDetail(nil, g)},
	}
	if m.value != "" {
		out.AccessToken, out.TokenType = m.value, "Bearer"
		out.ExpiresAt, out.Audience = pdpp.FormatTime(m.token.ExpiresAt), m.token.Audience
		out.CredentialFile = m.file
	}
	return out
}

func (m *madeGrant) text() string {
	g := m.grant
	rows := [][]string{
		{"grant", string(g.ID)},
		{"client", g.ClientName + " (" + string(g.ClientID) + ")"},
		{"source", string(g.ConnectorKey)},
		{"status", string(m.stored.Status(m.now))},
		{"grant ends", when(g.ExpiresAt, "when revoked")},
	}
	rows = append(rows, connectionRows(m.stored, m.catalog, m.now)...)
	for _, s := range g.Streams {
		rows = append(rows, []string{"stream", streamText(s)})
	}
	if m.value != "" {
		rows = append(rows, []string{"token", m.value},
			[]string{"token ends", when(m.token.ExpiresAt, "")},
			[]string{"token opens", strings.Join(m.token.Audience, ", ")})
	}
	if m.file != "" {
		rows = append(rows, []string{"saved in", m.file})
	}
	text := table(rows...)
	if m.value == "" {
		return text
	}
	return text + "\n" + shownOnce(m.token.ExpiresAt, g.ExpiresAt, "grant") + "\n"
}

// shownOnce tells to keep a new token, and when it ends before the grant or package that
// it belongs to; a zero end is none.
func shownOnce(token, end time.Time, of string) string {
	text := "The token is shown only now."
	if end.IsZero() || token.Before(end) {
		text += " It ends on " + when(token, "") + ", before the " + of + "; --token-ttl makes it last longer."
	}
	return text
}

// streamText says in one line what is granted of a stream.
func streamText(s pdpp.GrantStream) string {
	parts := []string{s.Name + ": " + strings.Join(s.Fields, ", ")}
	if s.Time != nil {
		if !s.Time.Since.IsZero() {
			parts = append(parts, "since "+when(s.Time.Since, ""))
		}
		if !s.Time.Until.IsZero() {
			parts = append(parts, "until "+when(s.Time.Until, ""))
		}
	}
	if s.Resources != nil {
		parts = append(parts, count(int64(len(s.Resources)), "chosen record", "chosen records"))
	}
	return strings.Join(parts, "; ")
}
