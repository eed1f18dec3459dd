package cli

import (
	"context"
	"fmt"

	"pdpp"
	"pdpp/internal/signin"
)

// ownerReset is `pdpp owner reset`: a new password for an owner who is locked out.
type ownerReset struct {
	PasswordFile   string `placeholder:"FILE" help:"File with the new password (default: asked for, or a line of standard input)."`
	RemovePasskeys bool   `help:"Also remove the passkeys of the owner."`
	jsonFlag
}

type resetAnswer struct {
	ID              pdpp.SubjectID `json:"subject_id"`
	Name            string         `json:"name"`
	EndedSessions   int            `json:"ended_sessions"`
	RemovedPasskeys int            `json:"removed_passkeys"`
	Passkeys        int            `json:"passkeys"`
}

// Run implements the command.
func (c *ownerReset) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		password, err := a.newPassword(c.PasswordFile)
		if err != nil {
			return err
		}
		r, err := signin.Reset(ctx, s.store, s.owner.ID, password, c.RemovePasskeys, a.Now())
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(resetAnswer{s.owner.ID, s.owner.Name, r.Sessions, r.RemovedPasskeys, r.Passkeys})
		}
		text := fmt.Sprintf("%s has a new password. Ended: %s.\n", s.owner.Name, count(int64(r.Sessions), "session", "sessions"))
		if c.RemovePasskeys {
			text += fmt.Sprintf("Removed: %s.\n", count(int64(r.RemovedPasskeys), "passkey", "passkeys"))
		} else if r.Passkeys > 0 {
			text += fmt.Sprintf("%s can still sign in; --remove-passkeys removes them.\n", count(int64(r.Passkeys), "passkey", "passkeys"))
		}
		return a.print(text)
	})
}
