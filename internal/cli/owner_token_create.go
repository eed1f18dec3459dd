package cli

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/issue"
	"pdpp/internal/store"
)

// ownerTokenCreate is `pdpp owner token create` (H-24).
type ownerTokenCreate struct {
	Label string `placeholder:"TEXT" help:"Purpose of the token."`
	TTL   string `name:"ttl" placeholder:"90d" help:"Lifetime of the token, at most 365d."`
	jsonFlag
}

// ownerTokenAnswer is the object of H-24.
type ownerTokenAnswer struct {
	ID          pdpp.TokenID   `json:"token_id"`
	AccessToken string         `json:"access_token"`
	TokenType   string         `json:"token_type"`
	SubjectID   pdpp.SubjectID `json:"subject_id"`
	Label       *string        `json:"label"`
	ExpiresAt   string         `json:"expires_at"`
}

// Run implements the command.
func (c *ownerTokenCreate) Run(ctx context.Context, a *app) error {
	ttl, err := lifetime("--ttl", c.TTL, 90*day)
	if err != nil {
		return err
	}
	return a.withOwner(ctx, func(s session) error {
		var t store.Token
		var value string
		err := s.changeRights(ctx, func(tx store.Tx) (err error) {
			t, value, err = createOwnerToken(tx, s.owner.ID, c.Label, a.Now(), ttl)
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(ownerTokenAnswer{t.ID, value, "Bearer", t.Subject, orNull(t.Label), pdpp.FormatTime(t.ExpiresAt)})
		}
		return a.print(table(
			[]string{"token id", string(t.ID)}, []string{"owner", s.owner.Name}, []string{"label", t.Label},
			[]string{"token", value}, []string{"ends", when(t.ExpiresAt, "")},
		) + "\nThe token is shown only now. It can read and write all data of this owner.\n")
	})
}

func createOwnerToken(tx store.Tx, owner pdpp.SubjectID, label string, now time.Time, ttl time.Duration) (store.Token, string, error) {
	t, value := issue.OwnerToken(owner, label, now, now.Add(ttl))
	return t, value, tx.CreateToken(t, store.HashToken(value))
}
