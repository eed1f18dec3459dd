package as

import (
	"context"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"pdpp"
	"pdpp/internal/evidence"
	"pdpp/internal/secret"
	"pdpp/internal/store"
)

// The limits of H-152 and H-153.
const (
	maxClientName = 100 // characters
	maxRedirects  = 20
	maxUnused     = 5000 // clients without a grant, of each kind

	// unusedLife is how long a client without a grant is kept. If there are fewUnused of
	// them, a new one is kept for crowdedLife, so that a flood of registrations does not
	// close the endpoint for longer.
	unusedLife  = 90 * 24 * time.Hour
	crowdedLife = 24 * time.Hour
	fewUnused   = maxUnused / 5
)

// metadata is what a client says about itself (RFC 7591 §2). Members that are not listed are
// ignored. The answer to a registration is the same object with the registered values.
type metadata struct {
	Name            string   `json:"client_name"`
	RedirectURIs    []string `json:"redirect_uris,omitempty"`
	GrantTypes      []string `json:"grant_types"`
	ResponseTypes   []string `json:"response_types"`
	AuthMethod      string   `json:"token_endpoint_auth_method"`
	ApplicationType string   `json:"application_type,omitempty"`
	URI             string   `json:"client_uri,omitempty"`
	LogoURI         string   `json:"logo_uri,omitempty"`
	PolicyURI       string   `json:"policy_uri,omitempty"`
	TermsURI        string   `json:"tos_uri,omitempty"`
	SoftwareID      string   `json:"software_id,omitempty"`
	SoftwareVersion string   `json:"software_version,omitempty"`
}

func badMetadata(description string) *oauthError {
	return refusal("invalid_client_metadata", description)
}

// normalize replaces what is not supported and checks the rest (H-152).
func (m *metadata) normalize() error {
	if utf8.RuneCountInString(m.Name) > maxClientName {
		return badMetadata("client_name must have at most " + strconv.Itoa(maxClientName) + " characters.")
	}
	m.GrantTypes = supportedGrantTypes(m.GrantTypes)
	m.ResponseTypes, m.AuthMethod = []string{}, "none"
	if slices.Contains(m.GrantTypes, grantCode) {
		m.ResponseTypes = []string{"code"}
	}
	if m.ApplicationType != "native" {
		m.ApplicationType = "web"
	}
	for _, uri := range []*string{&m.URI, &m.LogoURI, &m.PolicyURI, &m.TermsURI} {
		if !isWebURI(*uri) {
			*uri = ""
		}
	}
	for _, text := range []*string{&m.SoftwareID, &m.SoftwareVersion} {
		if *text = cleanText(*text); utf8.RuneCountInString(*text) > maxClientName {
			*text = ""
		}
	}
	if err := m.checkRedirects(); err != nil {
		return err
	}
	if m.Name = cleanText(m.Name); m.Name == "" {
		m.Name = "Unnamed client"
	}
	return nil
}

// supportedGrantTypes returns the stated grant types that are supported, or the default
// ones when no token could be obtained with those.
func supportedGrantTypes(stated []string) []string {
	var out []string
	for _, g := range grantTypes {
		if slices.Contains(stated, g) {
			out = append(out, g)
		}
	}
	if !slices.Contains(out, grantCode) && !slices.Contains(out, grantDevice) {
		return defaultGrantTypes
	}
	return out
}

func (m *metadata) checkRedirects() error {
	if len(m.RedirectURIs) > maxRedirects {
		return refusal("invalid_redirect_uri", "A client has at most "+strconv.Itoa(maxRedirects)+" redirect_uris.")
	}
	if len(m.RedirectURIs) == 0 && slices.Contains(m.GrantTypes, grantCode) {
		return refusal("invalid_redirect_uri", "redirect_uris is missing. Only a client that states the device grant alone needs none.")
	}
	for i, uri := range m.RedirectURIs {
		if why := checkRedirect(uri); why != "" {
			return refusal("invalid_redirect_uri", "redirect_uris["+strconv.Itoa(i)+"] "+why+".")
		}
	}
	return nil
}

// isWebURI reports whether s is an http or https URI that a page can link to.
func isWebURI(s string) bool {
	u, err := url.Parse(s)
	return err == nil && len(s) <= maxURI && isURIText(s) && (u.Scheme == "https" || u.Scheme == "http") && u.Hostname() != "" && hasPlainHost(u) && u.User == nil
}

// cleanText returns the text of a client in one line, without characters that are invisible
// or change the direction of others (D14).
func cleanText(s string) string {
	return strings.Join(strings.Fields(evidence.Clean(strings.ToValidUTF8(s, ""))), " ")
}

// register stores a client that registers itself (H-152), within the limits of H-153.
func (s *Server) register(ctx context.Context, m *metadata, addr netip.Addr) (pdpp.ClientID, time.Time, error) {
	id, now := pdpp.ClientID(secret.ID("cli_")), s.now()
	err := s.Store.Update(ctx, func(tx store.Tx) error {
		if err := registrationQuota.take(tx, addr, now); err != nil {
			return err
		}
		unused, err := checkUnused(tx, store.EntryClient)
		if err != nil {
			return err
		}
		life := unusedLife
		if unused >= fewUnused {
			life = crowdedLife
		}
		return write(tx, store.Entry{Kind: store.EntryClient, Key: string(id), CreatedAt: now, DeleteAfter: now.Add(life)}, m.body(store.ModeDynamic))
	})
	return id, now, err
}

// body returns what is stored of a client.
func (m *metadata) body(mode store.RegistrationMode) clientBody {
	return clientBody{Name: m.Name, Mode: mode, RedirectURIs: m.RedirectURIs, GrantTypes: m.GrantTypes, URI: m.URI}
}

// checkUnused counts the clients that never got a grant. It refuses a further one while
// there are too many.
func checkUnused(tx store.Tx, kind store.EntryKind) (unused int64, err error) {
	unused, err = tx.CountEntries(kind)
	if err == nil && unused >= maxUnused {
		err = tooMany("Too many clients without a grant are registered here. Try again later.", 3600)
	}
	return unused, err
}
