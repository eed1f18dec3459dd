package cli

import (
	"context"
	"fmt"

	"pdpp"
	"pdpp/internal/store"
)

// connectionsRename is `pdpp connections rename` (H-19).
type connectionsRename struct {
	Connection string `arg:"" help:"Connection: its name or id (cin_…)."`
	Label      string `arg:"" help:"New label; \"\" removes it."`
	jsonFlag
}

// Run implements the command.
func (c *connectionsRename) Run(ctx context.Context, a *app) error {
	return a.withExistingOwner(ctx, func(s session) error {
		var conn pdpp.Connection
		err := s.store.Update(ctx, func(tx store.Tx) error {
			catalog, err := tx.Catalog(s.owner.ID)
			if err != nil {
				return err
			}
			found, err := source{connection: c.Connection}.existing(catalog)
			if err != nil {
				return err
			}
			conn = *found
			conn.Label = c.Label
			return tx.PutConnection(s.owner.ID, conn)
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return a.printJSON(answerConnection(conn))
		}
		return a.print(fmt.Sprintf("Connection %s now has the label %q.\n", conn.ID, c.Label))
	})
}
