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
	if err := a.haveStore(); err != nil {
		return err
	}
	return a.withStore(ctx, func(st store.Store) error {
		owners, err := listOwners(ctx, st)
		if err != nil {
			return err
		}
		if c.JSON {
			return printRows(a, "owners", owners, rowOfOwner)
		}
		rows := [][]string{{"OWNER", "NAME", "SINCE"}}
		for _, o := range owners {
			rows = append(rows, []string{string(o.ID), o.Name, when(o.CreatedAt, "")})
		}
		return a.print(table(rows...))
	})
}

func listOwners(ctx context.Context, st store.Store) (owners []store.Subject, err error) {
	err = st.View(ctx, func(v store.View) error {
		owners, err = v.Subjects()
		return err
	})
	return owners, err
}
