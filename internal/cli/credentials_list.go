package cli

import (
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/credential"
)

// credentialsList is `pdpp credentials list`: the saved credentials, without their secrets.
type credentialsList struct {
	cacheFlag
	jsonFlag
}

// credentialAnswer is one credential of the answer.
type credentialAnswer struct {
	Provider  string   `json:"provider_url"`
	Kind      string   `json:"kind"`
	ID        string   `json:"grant_id,omitempty"`
	PackageID string   `json:"grant_package_id,omitempty"`
	Sources   []string `json:"sources"`
	Status    string   `json:"status"`
	CreatedAt *string  `json:"created_at"`
	ExpiresAt *string  `json:"expires_at"`
	Renewable bool     `json:"renewable"`
	File      string   `json:"credential_file"`
}

func credentialRow(c *credential.Credential, now time.Time) credentialAnswer {
	out := credentialAnswer{
		Provider: c.Provider, Kind: c.Kind, ID: c.ID, Sources: c.Sources(), Status: savedStatus(c, now), CreatedAt: timeOrNull(c.CreatedAt),
		ExpiresAt: timeOrNull(c.ExpiresAt), Renewable: c.Refresh != "", File: c.Path,
	}
	if c.Kind == string(pdpp.TokenPackage) {
		out.ID, out.PackageID = "", c.ID
	}
	if out.Sources == nil {
		out.Sources = []string{}
	}
	return out
}

// savedStatus returns what the file says about the credential. Only a read shows whether
// the server still accepts it.
func savedStatus(c *credential.Credential, now time.Time) string {
	switch {
	case !c.IsActive():
		return c.Status
	case c.HasEnded(now):
		return "expired"
	}
	return "saved"
}

// Run implements the command.
func (c *credentialsList) Run(a *app) error {
	cache, err := a.cache(c.cacheFlag)
	if err != nil {
		return err
	}
	all, err := cache.All()
	if err != nil {
		return err
	}
	if c.JSON {
		return printRows(a, "credentials", all, func(c *credential.Credential) credentialAnswer { return credentialRow(c, a.Now()) })
	}
	if len(all) == 0 {
		return a.print("There are no credentials in " + cache.Root + ".\n")
	}
	rows := [][]string{{"PROVIDER", "GRANT", "SOURCES", "SAVED", "TOKEN ENDS", "STATUS"}}
	for _, cred := range all {
		ends := when(cred.ExpiresAt, "unknown")
		if cred.Refresh != "" {
			ends = "renewed automatically"
		}
		rows = append(rows, []string{cred.Provider, cred.ID, strings.Join(cred.Sources(), ", "), when(cred.CreatedAt, ""), ends, savedStatus(cred, a.Now())})
	}
	return a.print(table(rows...))
}
