package cli

import (
	"context"
	"slices"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/doctor"
	"pdpp/internal/httpx"
)

// doctorCommand is `pdpp doctor` (H-25, H-26).
type doctorCommand struct {
	URL string `arg:"" optional:"" name:"url" help:"The server to look at; without it: the store here and the settings of serve."`
	jsonFlag
}

// Run implements the command.
func (c *doctorCommand) Run(ctx context.Context, a *app) error {
	checks, err := c.look(ctx, a)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // what was not reached then says nothing
	}
	report := doctor.NewReport(checks)
	if c.JSON {
		err = a.printJSON(report)
	} else {
		err = a.print(reportText(report, a.color && isTerminal(a.Stdout)))
	}
	if err == nil && !report.OK {
		return told{pdpp.Errorf(pdpp.CodeProviderUnreachable, "Some checks failed.")}
	}
	return err
}

func (c *doctorCommand) look(ctx context.Context, a *app) ([]doctor.Check, error) {
	if err := a.noOwner("doctor"); err != nil {
		return nil, err
	}
	if c.URL == "" {
		return a.lookHere(ctx), nil
	}
	origin, err := originOf(c.URL)
	if err != nil {
		return nil, err
	}
	return doctor.Remote(ctx, origin), nil
}

// originOf reads the address of a server. People paste that of its /mcp, too. Nothing
// secret is sent there, so that http will do.
func originOf(raw string) (string, error) {
	raw = strings.TrimSuffix(strings.TrimSuffix(raw, "/"), "/mcp")
	if !strings.Contains(raw, "://") {
		with, err := credential.Provider(raw)
		if err != nil {
			return "", err
		}
		raw = with
	}
	origin, err := httpx.ParsePublicURL(raw)
	if err != nil || origin.IsZero() {
		return "", pdpp.Errorf(pdpp.CodeUsage, "The address of a server is a scheme and a host, such as https://data.example.")
	}
	return origin.String(), nil
}

// reportText is a line per check, and what to do below those that need it.
func reportText(r doctor.Report, color bool) string {
	var b strings.Builder
	width := 0
	for _, c := range r.Checks {
		width = max(width, len(c.ID))
	}
	for _, c := range r.Checks {
		b.WriteString(colored(string(c.Status), color) + "  " + c.ID + strings.Repeat(" ", width-len(c.ID)) + "  " + plain(c.Detail) + "\n")
		if c.Fix != "" {
			b.WriteString(strings.Repeat(" ", len("pass  ")+width+2) + plain(c.Fix) + "\n")
		}
	}
	return b.String() + verdict(r) + "\n"
}

// verdict sums a report up. A warning is no failure, and not nothing either.
func verdict(r doctor.Report) string {
	warns := func(c doctor.Check) bool { return c.Status == doctor.Warn }
	switch {
	case !r.OK:
		return "Something is wrong: see what failed."
	case slices.ContainsFunc(r.Checks, warns):
		return "Nothing failed: see the warnings."
	}
	return "Nothing is wrong."
}

// colored paints a status by its meaning.
func colored(status string, color bool) string {
	paint := map[string]string{"pass": "32", "warn": "33", "fail": "31"}[status]
	if !color || paint == "" {
		return status
	}
	return "\x1b[" + paint + "m" + status + "\x1b[0m"
}
