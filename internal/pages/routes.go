package pages

import "net/http"

// routes returns the handler of all pages.
func (p *Pages) routes() http.Handler {
	mux := http.NewServeMux()
	for pattern, h := range p.table() {
		mux.Handle(pattern, h)
	}
	return mux
}

// table has all pages by their pattern. For other paths and methods there is no page.
func (p *Pages) table() map[string]http.Handler {
	return map[string]http.Handler{
		"GET /{$}":            p.open(landing),
		"GET /static/{file}":  p.open(static),
		"GET /setup":          p.open(setupPage),
		"GET /setup/{client}": p.open(setupClient),

		"GET /owner/login":      p.open(loginPage),
		"POST /owner/login":     p.open(login),
		"GET /owner/first-run":  p.open(firstRunPage),
		"POST /owner/first-run": p.open(firstRun),
		"GET /owner/link":       p.open(linkPage),
		"POST /owner/link":      p.open(useLink),
		"POST /owner/logout":    p.owner(logout),

		"POST /owner/passkey/login/begin":  p.open(passkeyLoginBegin),
		"POST /owner/passkey/login/finish": p.open(passkeyLoginFinish),
		"POST /owner/passkey/add/begin":    p.owner(passkeyAddBegin),
		"POST /owner/passkey/add/finish":   p.owner(passkeyAddFinish),

		"GET /consent/{id}":          p.owner(consentPage),
		"GET /consent/{id}/review":   p.owner(reviewPage),
		"POST /consent/{id}/review":  p.owner(review),
		"POST /consent/{id}/approve": p.owner(approve),
		"POST /consent/{id}/deny":    p.owner(deny),

		"GET /device":           p.owner(devicePage),
		"POST /device":          p.owner(findDevice),
		"POST /device/continue": p.owner(continueDevice),

		"GET /owner":                                p.owner(home),
		"GET /owner/grants":                         p.owner(grantsPage),
		"GET /owner/grants/{id}":                    p.owner(grantPage),
		"GET /owner/grants/{id}/revoke":             p.owner(confirmRevokeGrant),
		"POST /owner/grants/{id}/revoke":            p.owner(revokeGrant),
		"GET /owner/packages/{id}/revoke":           p.owner(confirmRevokePackage),
		"POST /owner/packages/{id}/revoke":          p.owner(revokePackage),
		"GET /owner/clients/revoke":                 p.owner(confirmRevokeClient),
		"POST /owner/clients/revoke":                p.owner(revokeClient),
		"GET /owner/connections":                    p.owner(connectionsPage),
		"POST /owner/connections/{id}/rename":       p.owner(renameConnection),
		"POST /owner/connections/{id}/hide":         p.owner(hideConnection),
		"POST /owner/connections/{id}/show":         p.owner(showConnection),
		"GET /owner/connections/{id}/delete":        p.owner(confirmDeleteConnection),
		"POST /owner/connections/{id}/delete":       p.owner(deleteConnection),
		"GET /owner/security":                       p.owner(securityPage),
		"POST /owner/security/password":             p.owner(changePassword),
		"POST /owner/security/sessions/{id}/end":    p.owner(endSession),
		"POST /owner/security/tokens":               p.owner(createOwnerToken),
		"POST /owner/security/tokens/{id}/revoke":   p.owner(revokeOwnerToken),
		"POST /owner/security/passkeys/{id}/remove": p.owner(removePasskey),

		"/": p.open(func(*visit) error { return errNoPage }),
	}
}
