package cli

import (
	"context"
	"fmt"
	"strings"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/store"
)

// ownerCreate is `pdpp owner create`.
type ownerCreate struct {
	Name     string `arg:"" help:"Name of the new owner."`
	NewStore bool   `help:"Make a new store beside the key or the blobs of one that is lost."`
	jsonFlag
}

// Run implements the command.
func (c *ownerCreate) Run(ctx context.Context, a *app) error {
	a.newStore = c.NewStore
	if err := a.noOwner("owner create"); err != nil {
		return err
	}
	if c.Name == "" || utf8.RuneCountInString(c.Name) > 64 || strings.TrimSpace(c.Name) != c.Name || plain(c.Name) != c.Name {
		return pdpp.Errorf(pdpp.CodeUsage, "%q cannot name an owner: write 1 to 64 characters without spaces around them.", c.Name)
	}
	return a.withStore(ctx, func(st store.Store) error {
		var made store.Subject
		err := st.Update(ctx, func(tx store.Tx) error {
			owners, err := tx.Subjects()
			if err != nil {
				return err
			}
			for _, o := range owners {
				if o.Name == c.Name {
					return pdpp.Errorf(pdpp.CodeInvalidInput, "There is already an owner %q.", c.Name)
				}
			}
			made, err = tx.CreateSubject(c.Name, a.Now())
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(rowOfOwner(made))
		}
		return a.print(fmt.Sprintf("Created owner %s (%s).\n", made.Name, made.ID))
	})
}
