package cli

import (
	"cmp"
	"strings"

	"pdpp/internal/credential"
)

// connectAnswer is the answer of H-201.
type connectAnswer struct {
	Provider    string              `json:"provider_url"`
	Kind        string              `json:"kind"`
	Grant       string              `json:"grant_id,omitempty"`
	Package     string              `json:"grant_package_id,omitempty"`
	Connections []connectConnection `json:"connections"`
	ExpiresAt   *string             `json:"expires_at"`
	File        string              `json:"credential_file"`
	Renewable   bool                `json:"renewable"`
}

type connectConnection struct {
	ID        string `json:"connection_id"`
	Connector string `json:"connector_key"`
}

func newConnectAnswer(cred *credential.Credential) connectAnswer {
	out := connectAnswer{
		Provider: cred.Provider, Kind: cred.Kind, Grant: cred.ID, Connections: []connectConnection{},
		ExpiresAt: timeOrNull(cred.Ends()), File: cred.Path, Renewable: cred.Refresh != "",
	}
	if cred.IsPackage() {
		out.Grant, out.Package = "", cred.ID
	}
	for _, c := range cred.Connections() {
		out.Connections = append(out.Connections, connectConnection{c.Connection, c.ConnectorKey})
	}
	return out
}

// connectText returns the same facts for people.
func connectText(cred *credential.Credential) string {
	name := "grant"
	if cred.IsPackage() {
		name = "package"
	}
	var sources []string
	for _, c := range cred.Connections() {
		sources = append(sources, c.ConnectorKey+" ("+c.Connection+")")
	}
	return "Connected to " + cred.Provider + ".\n" + table(
		[]string{name, cred.ID},
		[]string{"sources", cmp.Or(strings.Join(sources, ", "), "not stated")},
		[]string{"ends", when(cred.Ends(), "when the owner revokes it")},
		[]string{"saved in", cred.Path},
	)
}
