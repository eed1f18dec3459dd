package cli

import (
	"strings"

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

func credentialRow(c *credential.Credential) credentialAnswer {
	out := credentialAnswer{
		Provider: c.Provider, Kind: c.Kind, ID: c.ID, Sources: c.Sources(), Status: savedStatus(c), CreatedAt: timeOrNull(c.CreatedAt),
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

// savedStatus returns the status in the file. Only a read shows whether the server still
// accepts the credential.
func savedStatus(c *credential.Credential) string {
	if c.Status == "" || c.Status == credential.Active {
		return "saved"
	}
	return c.Status
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
		return printRows(a, "credentials", all, credentialRow)
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
		rows = append(rows, []string{cred.Provider, cred.ID, strings.Join(cred.Sources(), ", "), when(cred.CreatedAt, ""), ends, savedStatus(cred)})
	}
	return a.print(table(rows...))
}
