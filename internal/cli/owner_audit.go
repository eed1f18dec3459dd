package cli

import (
	"context"

	"pdpp"
	"pdpp/internal/store"
)

// ownerAudit is `pdpp owner audit` (H-198).
type ownerAudit struct {
	Limit   int  `default:"50" placeholder:"N" help:"Rows to show, the newest first, at most 10000 (default: ${default})."`
	Unknown bool `help:"Show refused tokens that belong to no owner instead."`
	jsonFlag
}

// auditRow is a row of H-197. Absent values are null.
type auditRow struct {
	At        string       `json:"at"`
	Action    store.Action `json:"action"`
	Actor     store.Actor  `json:"actor"`
	ClientID  *string      `json:"client_id"`
	GrantID   *string      `json:"grant_id"`
	PackageID *string      `json:"package_id"`
	TokenID   *string      `json:"token_id"`
	Code      *string      `json:"code"`
	RequestID *string      `json:"request_id"`
	Address   *string      `json:"address"`
	Times     int64        `json:"times"`
}

const maxAuditRows = 10_000

// Run implements the command.
func (c *ownerAudit) Run(ctx context.Context, a *app) error {
	if c.Limit < 1 || c.Limit > maxAuditRows {
		return pdpp.Errorf(pdpp.CodeUsage, "--limit does not accept %d: write a number from 1 to %d.", c.Limit, maxAuditRows)
	}
	return a.withExistingOwner(ctx, func(s session) error {
		subject := s.owner.ID
		if c.Unknown {
			subject = ""
		}
		var audits []store.Audit
		err := s.store.View(ctx, func(v store.View) (err error) {
			audits, err = v.Audits(subject, c.Limit)
			return err
		})
		if err != nil {
			return err
		}
		if c.JSON {
			return printRows(a, "audit", audits, rowOfAudit)
		}
		return a.print(auditText(audits))
	})
}

func rowOfAudit(x store.Audit) auditRow {
	return auditRow{
		At: pdpp.FormatTime(x.At), Action: x.Action, Actor: x.Actor, ClientID: orNull(string(x.Client)), GrantID: orNull(string(x.Grant)),
		PackageID: orNull(string(x.Package)), TokenID: orNull(string(x.Token)), Code: orNull(string(x.Code)),
		RequestID: orNull(x.RequestID), Address: orNull(x.Address), Times: x.Times,
	}
}

func auditText(audits []store.Audit) string {
	if len(audits) == 0 {
		return "There are no rows.\n"
	}
	rows := [][]string{{"TIME", "ACTION", "BY", "CLIENT", "GRANT", "TOKEN", "CODE", "TIMES", "ADDRESS"}}
	for _, x := range audits {
		rows = append(rows, []string{
			when(x.At, ""), string(x.Action), string(x.Actor), string(x.Client), rightID(x.Grant, x.Package), string(x.Token), string(x.Code),
			thousands(x.Times), x.Address,
		})
	}
	return table(rows...)
}
