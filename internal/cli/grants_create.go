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
	"pdpp/internal/issue"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// grantsCreate is `pdpp grants create` (H-15).
type grantsCreate struct {
	Client   string   `required:"" placeholder:"NAME" help:"Client that gets the grant: its name (a new name creates a client) or its id (cli_…)."`
	Spec     string   `required:"" placeholder:"FILE" help:"What is granted, as JSON; - is standard input."`
	Audience []string `placeholder:"LIST" help:"Endpoints that accept the token: rest (/v1), mcp (/mcp) (default: both)."`
	NoToken  bool     `help:"Create no token: for a package, or to see what a spec covers."`
	issueFlags
}

// grantAnswer is the object of H-15. Its four members about the token are absent when no
// token was created.
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

// specLimit bounds the bytes that are read of a spec. Package grant refuses specs that are
// too large (H-146).
const specLimit = 1 << 20

// Run implements the command.
func (c *grantsCreate) Run(ctx context.Context, a *app) error {
	planned, err := c.issue()
	if err != nil {
		return err
	}
	if c.Spec == "-" {
		planned.spec, err = readAll("standard input", a.Stdin, specLimit)
	} else {
		planned.spec, err = readFile(c.Spec, specLimit)
	}
	if err != nil {
		return err
	}
	err = issueCredential(ctx, a, c.issueFlags, planned.create)
	if pdpp.CodeOf(err) == pdpp.CodeInvalidInput {
		err = hinted(err, specAdvice)
	}
	return err
}

// specAdvice follows an error in a spec.
const specAdvice = `Correct the spec, then run the command again. The shortest form is {"source": {"connector_key": "KEY"}, "streams": [{"name": "*"}]}.`

// credential returns the credential of the new grant.
func (m *newGrant) credential() *credential.Credential {
	return &credential.Credential{
		ID: string(m.grant.ID), Token: m.value, Kind: string(pdpp.TokenClient), Status: credential.Active,
		ExpiresAt: m.token.ExpiresAt, CreatedAt: m.now, ClientID: string(m.grant.ClientID), ClientName: m.grant.ClientName,
		Details: append(grant.AppendDetail([]byte{'['}, m.grant), ']'),
	}
}

func (c *grantsCreate) issue() (*grantIssue, error) {
	if c.NoToken && (c.TokenTTL != "" || len(c.Audience) > 0 || c.Save != "") {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "--no-token cannot be combined with --token-ttl, --audience or --save-credential.")
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

// parseAudience parses --audience (H-127) and drops duplicates. A saved credential needs
// rest, because the adapter reads /v1.
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

// grantIssue describes a grant to create.
type grantIssue struct {
	client   string
	spec     []byte
	audience []string
	ttl      time.Duration
	noToken  bool
}

// newGrant is a grant that was created.
type newGrant struct {
	issuedToken
	grant   *pdpp.Grant
	stored  store.Grant
	catalog *pdpp.Catalog // from which the spec was resolved
}

// create resolves the spec and stores grant, client and token in one transaction,
// so that nothing changes between what was resolved and what is granted.
func (i *grantIssue) create(ctx context.Context, s session, now time.Time) (*newGrant, error) {
	m := &newGrant{issuedToken: issuedToken{now: now}}
	err := s.changeRights(ctx, func(tx store.Tx) error {
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
			// Creating the token consumes a single-use grant (H-149).
			Consumed: m.grant.AccessMode == grant.SingleUse && !i.noToken,
		}
		if err := tx.CreateGrant(m.stored); err != nil || i.noToken {
			return err
		}
		m.token, m.value = issue.ClientToken(m.stored, i.audience, now, issue.ExpiryWithin(now, i.ttl, m.stored.ExpiresAt))
		return tx.CreateToken(m.token, store.HashToken(m.value))
	})
	return m, err
}

// findClient finds a client by id or by operator name. It creates a client for a new name.
func findClient(tx store.Tx, owner pdpp.SubjectID, nameOrID string, now time.Time) (store.Client, error) {
	client, err := tx.Client(owner, nameOrID)
	if pdpp.CodeOf(err) != pdpp.CodeNotFound || strings.HasPrefix(nameOrID, "cli_") {
		return client, err
	}
	client = store.Client{ID: pdpp.ClientID(secret.ID("cli_")), Name: nameOrID, RegistrationMode: store.ModeOperator, CreatedAt: now}
	return client, tx.CreateClient(owner, client)
}

func (m *newGrant) answer() any {
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

func (m *newGrant) text() string {
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
	text := table(append(rows, m.rows()...)...)
	if m.value == "" {
		return text
	}
	return text + "\n" + m.notice("grant", g.ExpiresAt) + "\n"
}

// streamText describes in one line what is granted of a stream.
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
