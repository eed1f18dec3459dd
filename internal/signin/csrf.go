package signin

import (
	"crypto/hmac"
	"encoding/base64"
)

// CSRF returns the form token of a browser (H-178). secret is the value of its session
// cookie or, before sign-in, of a random cookie.
func (s *Service) CSRF(secret string) string {
	return base64.RawURLEncoding.EncodeToString(mac(s.csrfKey, secret))
}

// CheckCSRF reports whether token is the form token of a browser. It takes the same time
// for every wrong token.
func (s *Service) CheckCSRF(secret, token string) bool {
	return secret != "" && hmac.Equal([]byte(s.CSRF(secret)), []byte(token))
}
