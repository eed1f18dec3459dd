package cli

import (
	"context"

	"pdpp"
	"pdpp/internal/store"
)

// ownerList is `pdpp owner list`.
type ownerList struct{ jsonFlag }

type ownerRow struct {
	ID        pdpp.SubjectID `json:"subject_id"`
	Name      string         `json:"name"`
	CreatedAt string         `json:"created_at"`
}

func rowOfOwner(s store.Subject) ownerRow {
	return ownerRow{s.ID, s.Name, pdpp.FormatTime(s.CreatedAt)}
}

// Run implements the command.
func (c *ownerList) Run(ctx context.Context, a *app) error {
	if err := a.noOwner("owner list"); err != nil {
		return err
	}
	if err := a.haveStore(); err != nil {
		return err
	}
	return a.withStore(ctx, func(st store.Store) error {
		var owners []store.Subject
		err := st.View(ctx, func(v store.View) (err error) {
			owners, err = v.Subjects()
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			rows := []ownerRow{}
			for _, o := range owners {
				rows = append(rows, rowOfOwner(o))
			}
			return a.printJSON(map[string]any{"owners": rows})
		}
		rows := [][]string{{"OWNER", "NAME", "SINCE"}}
		for _, o := range owners {
			rows = append(rows, []string{string(o.ID), o.Name, when(o.CreatedAt, "")})
		}
		return a.print(table(rows...))
	})
}
