package as

import (
	"encoding/json"

	"pdpp/internal/store"
)

// Metadata returns the metadata of the server with the public origin R (H-132, RFC 8414). It
// names only what is enabled (H-133).
func (s *Server) Metadata(base string) []byte {
	type client struct {
		ID     string `json:"client_id"`
		Name   string `json:"client_name"`
		Method string `json:"token_endpoint_auth_method"`
	}
	none, detailTypes := []string{"none"}, []string{"https://pdpp.dev/data-access"}
	doc := struct {
		Issuer         string                   `json:"issuer"`
		Authorization  string                   `json:"authorization_endpoint"`
		Token          string                   `json:"token_endpoint"`
		Registration   string                   `json:"registration_endpoint,omitempty"`
		Revocation     string                   `json:"revocation_endpoint"`
		Device         string                   `json:"device_authorization_endpoint"`
		PAR            string                   `json:"pushed_authorization_request_endpoint"`
		RequirePAR     bool                     `json:"require_pushed_authorization_requests"`
		ResponseTypes  []string                 `json:"response_types_supported"`
		ResponseModes  []string                 `json:"response_modes_supported"`
		GrantTypes     []string                 `json:"grant_types_supported"`
		Challenges     []string                 `json:"code_challenge_methods_supported"`
		TokenAuth      []string                 `json:"token_endpoint_auth_methods_supported"`
		RevocationAuth []string                 `json:"revocation_endpoint_auth_methods_supported"`
		Scopes         []string                 `json:"scopes_supported"`
		Details        []string                 `json:"authorization_details_types_supported"`
		Iss            bool                     `json:"authorization_response_iss_parameter_supported"`
		Documents      bool                     `json:"client_id_metadata_document_supported,omitempty"`
		Resources      []string                 `json:"protected_resources"`
		Documentation  string                   `json:"service_documentation"`
		PDPPDetails    []string                 `json:"pdpp_authorization_details_types_supported"`
		Modes          []store.RegistrationMode `json:"pdpp_registration_modes_supported"`
		PreRegistered  []client                 `json:"pdpp_pre_registered_public_clients"`
	}{
		Issuer: base, Authorization: base + AuthorizePath, Token: base + pathToken, Revocation: base + pathRevoke,
		Device: base + pathDevice, PAR: base + pathPAR,
		ResponseTypes: []string{"code"}, ResponseModes: []string{"query"}, GrantTypes: grantTypes, Challenges: []string{"S256"},
		TokenAuth: none, RevocationAuth: none, Scopes: []string{scopeRead, "offline_access"}, Details: detailTypes, Iss: true,
		Documents: s.Documents != nil, Resources: []string{base, base + "/mcp"}, Documentation: base + "/setup", PDPPDetails: detailTypes,
	}
	if s.Registration {
		doc.Registration = base + pathRegister
		doc.Modes = append(doc.Modes, store.ModeDynamic)
	}
	doc.Modes = append(doc.Modes, store.ModePreRegistered)
	if s.Documents != nil {
		doc.Modes = append(doc.Modes, store.ModeDocument)
	}
	for _, c := range preRegistered {
		doc.PreRegistered = append(doc.PreRegistered, client{string(c.ID), c.Name, "none"})
	}
	data, err := json.Marshal(doc)
	if err != nil {
		panic(err) // a struct of strings can be encoded
	}
	return append(data, '\n')
}
