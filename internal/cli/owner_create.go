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
	NewStore bool   `help:"Create a new store next to the key or the blobs of a lost one."`
	jsonFlag
}

// Run implements the command.
func (c *ownerCreate) Run(ctx context.Context, a *app) error {
	a.newStore = c.NewStore
	if c.Name == "" || utf8.RuneCountInString(c.Name) > 64 || strings.TrimSpace(c.Name) != c.Name || plain(c.Name) != c.Name {
		return pdpp.Errorf(pdpp.CodeUsage, "%q is not valid as the name of an owner. Write 1 to 64 characters without spaces around them.", c.Name)
	}
	return a.withStore(ctx, func(st store.Store) error {
		var created store.Subject
		err := st.Update(ctx, func(tx store.Tx) error {
			owners, err := tx.Subjects()
			if err != nil {
				return err
			}
			for _, o := range owners {
				if o.Name == c.Name {
					return pdpp.Errorf(pdpp.CodeInvalidInput, "There is already an owner %q. Choose another name.", c.Name)
				}
			}
			created, err = tx.CreateSubject(c.Name, a.Now())
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(rowOfOwner(created))
		}
		return a.print(fmt.Sprintf("Created owner %s (%s).\n", created.Name, created.ID))
	})
}
