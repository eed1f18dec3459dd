package secret

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/base32"
	"encoding/base64"
	"encoding/hex"
	"strings"
)

// ID returns a new identifier: prefix and 16 hexadecimal digits (H-160).
func ID(prefix string) string { return prefix + hex.EncodeToString(Key(8)) }

// ConnectionID returns a new connection id: cin_ and 26 base-32 characters (C-22).
func ConnectionID() string {
	return "cin_" + strings.ToLower(base32.StdEncoding.WithPadding(base32.NoPadding).EncodeToString(Key(16)))
}

// Token returns a new bearer token: prefix and 43 base64url characters.
func Token(prefix string) string {
	return prefix + base64.RawURLEncoding.EncodeToString(Key(32))
}

// Hash returns the form in which a secret is stored as the key of an entry: its SHA-256 in
// hexadecimal. It is for random secrets only, which nobody can guess from their hash.
func Hash(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Key returns n random bytes.
func Key(n int) []byte {
	b := make([]byte, n)
	rand.Read(b) // never fails: crypto/rand ends the process instead
	return b
}
