package cli

import (
	"context"
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

// packagesCreate is `pdpp packages create` (H-16).
type packagesCreate struct {
	Client   string   `required:"" placeholder:"NAME" help:"Client that has the grants: its name or its id (cli_…)."`
	Grant    []string `required:"" placeholder:"ID" help:"Grant that covers one connection; repeatable, in the order of the package."`
	Audience []string `placeholder:"LIST" help:"Endpoints that accept the token: mcp (/mcp), rest (/v1, grant by grant) (default: mcp)."`
	issueFlags
}

// packageAnswer is the object of H-16.
type packageAnswer struct {
	PackageID      pdpp.PackageID `json:"package_id"`
	ClientID       pdpp.ClientID  `json:"client_id"`
	SubjectID      pdpp.SubjectID `json:"subject_id"`
	AccessToken    string         `json:"access_token"`
	TokenType      string         `json:"token_type"`
	ExpiresAt      string         `json:"expires_at"`
	Audience       []string       `json:"audience"`
	Members        []memberRow    `json:"members"`
	CredentialFile string         `json:"credential_file,omitempty"`
}

// memberRow is a member of a package in an answer. Only lists include its status.
type memberRow struct {
	GrantID     pdpp.GrantID      `json:"grant_id"`
	Connector   pdpp.ConnectorKey `json:"connector_key"`
	Connection  pdpp.ConnectionID `json:"connection_id"`
	DisplayName string            `json:"display_name,omitempty"`
	Status      pdpp.GrantStatus  `json:"status,omitempty"`
}

func rowOfMember(m store.Member) memberRow {
	row := memberRow{GrantID: m.GrantID, Connection: m.Connection, DisplayName: m.DisplayName}
	if m.Grant != nil {
		row.Connector = m.Grant.ConnectorKey
	}
	return row
}

// Run implements the command.
func (c *packagesCreate) Run(ctx context.Context, a *app) error {
	planned, err := c.issue()
	if err != nil {
		return err
	}
	return issueCredential(ctx, a, c.issueFlags, planned.create)
}

func (c *packagesCreate) issue() (*packageIssue, error) {
	ttl, err := lifetime("--token-ttl", c.TokenTTL, 30*day)
	if err != nil {
		return nil, err
	}
	audience, err := parseAudience(c.Audience, c.Save, "mcp")
	if err == nil && c.Save == "" && !slices.Contains(audience, "mcp") {
		return nil, pdpp.Errorf(pdpp.CodeUsage, "A package is read at /mcp: --audience needs mcp, or --save-credential.")
	}
	return &packageIssue{client: c.Client, grants: c.Grant, audience: audience, ttl: ttl, perMember: c.Save != ""}, err
}

// packageIssue describes a package to create.
type packageIssue struct {
	client    string
	grants    []string
	audience  []string
	ttl       time.Duration
	perMember bool // also issue a token for each member (H-186)
}

// newPackage is a package that was created.
type newPackage struct {
	issuedToken
	stored       store.Package
	grants       []store.Grant
	docs         []*pdpp.Grant // the documents of grants
	members      []store.Member
	memberTokens []credential.MemberToken
}

// create stores package, members and tokens in one transaction: what was checked about
// the grants still holds when they become members.
func (i *packageIssue) create(ctx context.Context, s session, now time.Time) (*newPackage, error) {
	m := &newPackage{issuedToken: issuedToken{now: now}}
	err := s.changeRights(ctx, func(tx store.Tx) error {
		client, err := tx.Client(s.owner.ID, i.client)
		if err != nil {
			return err
		}
		members, err := m.find(tx, s.owner.ID, i.grants)
		if err != nil {
			return err
		}
		m.stored, err = tx.CreatePackage(store.Package{
			ID: pdpp.PackageID(secret.ID("gpkg_")), Subject: s.owner.ID, Client: client, IssuedAt: now,
		}, members)
		if err != nil {
			return err
		}
		if m.members, err = tx.Members(s.owner.ID, m.stored.ID); err != nil {
			return err
		}
		return m.issueTokens(tx, i)
	})
	return m, err
}

// find finds the grants that become members. The document of a grant alone decides which
// connections it covers (H-82).
func (m *newPackage) find(tx store.Tx, owner pdpp.SubjectID, ids []string) ([]store.NewMember, error) {
	var out []store.NewMember
	for _, id := range ids {
		g, err := tx.Grant(owner, pdpp.GrantID(strings.TrimSpace(id)))
		if err != nil {
			return nil, err
		}
		doc, err := grant.ParseDocument(g.Document, g.ConnectorKey)
		if err != nil {
			return nil, pdpp.Errorf(pdpp.CodeInvalidInput, "Grant %s cannot be interpreted. Create a new one with grants create.", g.ID)
		}
		connections := doc.Connections()
		if len(connections) != 1 {
			return nil, &pdpp.Error{
				Code:    pdpp.CodeInvalidInput,
				Message: "Grant " + string(g.ID) + " covers " + count(int64(len(connections)), "connection", "connections") + "; a member of a package covers exactly one.",
				Hint:    "Create a grant for each connection, with \"connections\" in its spec.",
			}
		}
		m.grants, m.docs = append(m.grants, g), append(m.docs, doc)
		out = append(out, store.NewMember{Grant: g.ID, Connection: connections[0], SingleUse: doc.AccessMode == grant.SingleUse})
	}
	return out, nil
}

// issueTokens issues the token of the package and, with perMember, one for each member.
func (m *newPackage) issueTokens(tx store.Tx, i *packageIssue) error {
	m.token, m.value = issue.PackageToken(m.stored, i.audience, m.now, issue.ExpiryWithin(m.now, i.ttl, m.stored.ExpiresAt))
	if err := tx.CreateToken(m.token, store.HashToken(m.value)); err != nil || !i.perMember {
		return err
	}
	for n, g := range m.grants {
		token, value := issue.ClientToken(g, []string{"rest"}, m.now, issue.ExpiryWithin(m.now, i.ttl, g.ExpiresAt))
		if err := tx.CreateToken(token, store.HashToken(value)); err != nil {
			return err
		}
		m.memberTokens = append(m.memberTokens, credential.MemberToken{
			GrantID: g.ID, Token: value, ExpiresAt: token.ExpiresAt, DisplayName: m.members[n].DisplayName,
		})
	}
	return nil
}

// credential returns the credential of the new package.
func (m *newPackage) credential() *credential.Credential {
	details := []byte{'['}
	for i, doc := range m.docs {
		if i > 0 {
			details = append(details, ',')
		}
		details = grant.AppendDetail(details, doc)
	}
	return &credential.Credential{
		ID: string(m.stored.ID), Token: m.value, Kind: string(pdpp.TokenPackage), Status: credential.Active,
		ExpiresAt: m.token.ExpiresAt, CreatedAt: m.now, ClientID: string(m.stored.Client.ID), ClientName: m.stored.Client.Name,
		Details: append(details, ']'), Members: m.memberTokens,
	}
}

func (m *newPackage) answer() any {
	out := packageAnswer{
		PackageID: m.stored.ID, ClientID: m.stored.Client.ID, SubjectID: m.stored.Subject,
		AccessToken: m.value, TokenType: "Bearer", ExpiresAt: pdpp.FormatTime(m.token.ExpiresAt), Audience: m.token.Audience,
		CredentialFile: m.file,
	}
	for _, member := range m.members {
		out.Members = append(out.Members, rowOfMember(member))
	}
	return out
}

func (m *newPackage) text() string {
	rows := [][]string{
		{"package", string(m.stored.ID)},
		{"client", m.stored.Client.Name + " (" + string(m.stored.Client.ID) + ")"},
		{"package ends", when(m.stored.ExpiresAt, "when revoked")},
	}
	for _, member := range m.members {
		row := rowOfMember(member)
		rows = append(rows, []string{"member", string(row.GrantID) + " " + string(row.Connector) + " " + connectionText(row)})
	}
	return table(append(rows, m.rows()...)...) + "\n" + m.notice("package", m.stored.ExpiresAt) + "\n"
}

func connectionText(m memberRow) string {
	return strings.TrimSpace(string(m.Connection) + " " + m.DisplayName)
}
