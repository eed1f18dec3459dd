package httpx

import (
	"net/http"
	"slices"
)

// Header names in canonical form, so that map entries can be read and assigned without
// canonicalizing them on every request.
const (
	keyAllow             = "Allow"
	keyAllowHeaders      = "Access-Control-Allow-Headers"
	keyAllowMethods      = "Access-Control-Allow-Methods"
	keyAllowOrigin       = "Access-Control-Allow-Origin"
	keyAuthorization     = "Authorization"
	keyCacheControl      = "Cache-Control"
	keyContentLength     = "Content-Length"
	keyContentPolicy     = "Content-Security-Policy"
	keyContentType       = "Content-Type"
	keyExposeHeaders     = "Access-Control-Expose-Headers"
	keyForwardedFor      = "X-Forwarded-For"
	keyForwardedHost     = "X-Forwarded-Host"
	keyForwardedProto    = "X-Forwarded-Proto"
	keyLink              = "Link"
	keyMaxAge            = "Access-Control-Max-Age"
	keyNosniff           = "X-Content-Type-Options"
	keyOrigin            = "Origin"
	keyRequestID         = "Request-Id"
	keyXRequestID        = "X-Request-Id"
	keyRetryAfter        = "Retry-After"
	keyVary              = "Vary"
	keyVersion           = "Pdpp-Version"
	keyWWWAuthenticate   = "Www-Authenticate"
	varyJSON             = "Authorization, Prefer"
	cacheNoStore         = "no-store"
	contentTypeJSON      = "application/json; charset=utf-8"
	cachePrivateNoStore  = "private, no-store"
	maxHeaderDescription = 200
)

// Shared header values. Their capacity equals their length, so that Header.Add copies
// them instead of writing into them.
var (
	valueJSON    = []string{contentTypeJSON}
	valuePrivate = []string{cachePrivateNoStore}
	valueNosniff = []string{"nosniff"}
	valueVary    = []string{varyJSON}
	valueVersion = []string{PDPPVersion}
)

// SetJSON sets the headers of a JSON response with private data (C-12). It keeps an
// existing Vary.
func SetJSON(h http.Header) {
	h[keyContentType] = valueJSON
	h[keyCacheControl] = valuePrivate
	h[keyNosniff] = valueNosniff
	addVary(h, valueVary)
}

// addVary adds a shared Vary value unless it is already set.
func addVary(h http.Header, v []string) {
	have := h[keyVary]
	if have == nil {
		h[keyVary] = v
		return
	}
	if !slices.Contains(have, v[0]) {
		h[keyVary] = append(have, v[0])
	}
}
