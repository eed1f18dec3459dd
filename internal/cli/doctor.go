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
	URL string `arg:"" optional:"" name:"url" help:"Server to check; without it: the local store and the settings of serve."`
	jsonFlag
}

// Run implements the command.
func (c *doctorCommand) Run(ctx context.Context, a *app) error {
	checks, err := c.checks(ctx, a)
	if err != nil {
		return err
	}
	if err := ctx.Err(); err != nil {
		return err // an interrupted check is no result
	}
	report := doctor.NewReport(checks)
	if c.JSON {
		err = a.printJSON(report)
	} else {
		err = a.print(reportText(report, a.color && isTerminal(a.Stdout)))
	}
	if err == nil && !report.OK {
		return reportedError{pdpp.Errorf(pdpp.CodeProviderUnreachable, "Some checks failed.")}
	}
	return err
}

func (c *doctorCommand) checks(ctx context.Context, a *app) ([]doctor.Check, error) {
	if c.URL == "" {
		return a.checkLocal(ctx), nil
	}
	origin, err := originOf(c.URL)
	if err != nil {
		return nil, err
	}
	return doctor.Remote(ctx, origin), nil
}

// originOf parses the address of a server, or of its /mcp, which people paste too. Plain
// http is accepted, because doctor sends no secret.
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
		return "", pdpp.Errorf(pdpp.CodeUsage, "The address of the server is not valid. Write a scheme and a host, such as https://data.example.")
	}
	return origin.String(), nil
}

// reportText returns a line per check, and below it what to do about a problem.
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

// verdict summarizes a report in one line.
func verdict(r doctor.Report) string {
	warns := func(c doctor.Check) bool { return c.Status == doctor.Warn }
	switch {
	case !r.OK:
		return "Some checks failed. See above."
	case slices.ContainsFunc(r.Checks, warns):
		return "No check failed. See the warnings above."
	}
	return "No problems found."
}

// colored colours a status.
func colored(status string, color bool) string {
	code := map[string]string{"pass": "32", "warn": "33", "fail": "31"}[status]
	if !color || code == "" {
		return status
	}
	return "\x1b[" + code + "m" + status + "\x1b[0m"
}
