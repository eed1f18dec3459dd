package secret

import (
	"crypto/rand"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// ID makes an identifier: prefix and 16 hexadecimal digits (H-160).
func ID(prefix string) string { return prefix + hex.EncodeToString(random(8)) }

// ConnectionID makes a connection id: cin_ and 26 base-32 characters (C-22).
func ConnectionID() string {
	return "cin_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(random(16)))
}

// Token makes a bearer token: prefix and 43 base64url characters.
func Token(prefix string) string {
	return prefix + base64.RawURLEncoding.EncodeToString(random(32))
}

// Key makes n random bytes.
func Key(n int) []byte { return random(n) }

func random(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the process instead
	return b
}
