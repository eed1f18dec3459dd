package signin

import (
	"context"
	"crypto/subtle"
	"encoding/base64"
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"golang.org/x/crypto/argon2"

	"pdpp"
	"pdpp/internal/secret"
)

// The cost of a password hash (hosted-auth.md 5.6).
const (
	hashMemory = 64 << 10 // KiB
	hashPasses = 3
	hashLanes  = 1
	saltSize   = 16
	hashSize   = 32
)

// The lengths of a password.
const (
	minPasswordChars = 10
	MaxPasswordBytes = 1 << 10
)

// CheckPassword returns an error about a password that cannot be set. The error has the
// parameter password.
func CheckPassword(password string) error {
	bad := func(message string) error {
		return &pdpp.Error{Code: pdpp.CodeInvalidInput, Param: "password", Message: message}
	}
	switch {
	case !utf8.ValidString(password):
		return bad("The password is not valid UTF-8 text. Choose another one.")
	case utf8.RuneCountInString(password) < minPasswordChars:
		return bad(fmt.Sprintf("The password is too short. Choose one of at least %d characters.", minPasswordChars))
	case len(password) > MaxPasswordBytes:
		return bad(fmt.Sprintf("The password is too long. Choose one of at most %d bytes.", MaxPasswordBytes))
	}
	return nil
}

// hashPassword returns the argon2id hash of a password as a PHC string.
func hashPassword(password string) string {
	salt := secret.Key(saltSize)
	return phc(salt, argon2.IDKey([]byte(password), salt, hashPasses, hashMemory, hashLanes, hashSize))
}

// impossibleHash returns a hash that no known password has. Verifying a password against it takes
// as long as against any other hash.
func impossibleHash() string { return phc(secret.Key(saltSize), secret.Key(hashSize)) }

func phc(salt, hash []byte) string {
	b64 := base64.RawStdEncoding.EncodeToString
	return fmt.Sprintf("$argon2id$v=%d$m=%d,t=%d,p=%d$%s$%s", argon2.Version, hashMemory, hashPasses, hashLanes, b64(salt), b64(hash))
}

// verifyPassword reports whether a password matches a hash. A hash contains its own cost, so
// that hashes of a former cost stay valid.
func verifyPassword(password, encoded string) (bool, error) {
	parts := strings.Split(encoded, "$") // "", argon2id, version, cost, salt, hash
	if len(parts) != 6 || parts[1] != "argon2id" || parts[2] != fmt.Sprintf("v=%d", argon2.Version) {
		return false, fmt.Errorf("signin: unknown form of password hash")
	}
	var memory, passes uint32
	var lanes uint8
	if _, err := fmt.Sscanf(parts[3], "m=%d,t=%d,p=%d", &memory, &passes, &lanes); err != nil || passes == 0 || lanes == 0 {
		return false, fmt.Errorf("signin: unknown cost of password hash")
	}
	salt, err := base64.RawStdEncoding.DecodeString(parts[4])
	if err != nil {
		return false, fmt.Errorf("signin: salt of password hash: %w", err)
	}
	want, err := base64.RawStdEncoding.DecodeString(parts[5])
	if err != nil || len(want) < 16 { // an empty hash would match every password
		return false, fmt.Errorf("signin: malformed password hash")
	}
	got := argon2.IDKey([]byte(password), salt, passes, memory, lanes, uint32(len(want)))
	return subtle.ConstantTimeCompare(got, want) == 1, nil
}

const (
	maxHashes = 2               // hashes at once; each needs 64 MiB
	hashWait  = 5 * time.Second // the longest wait for another hash to end
)

// hashQueue limits the hashes that are computed at once (H-177).
type hashQueue chan struct{}

// enter waits for a free place; the caller leaves it with leave. CodeOverloaded when there
// is none in time.
func (q hashQueue) enter(ctx context.Context) error {
	wait := time.NewTimer(hashWait)
	defer wait.Stop()
	select {
	case q <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-wait.C:
		return &pdpp.Error{
			Code: pdpp.CodeOverloaded, RetryAfter: int(hashWait / time.Second),
			Message: "Too many people are signing in at the moment. Try again in a few seconds.",
		}
	}
}

func (q hashQueue) leave() { <-q }

// hash returns the hash of a new password.
func (q hashQueue) hash(ctx context.Context, password string) (string, error) {
	if err := CheckPassword(password); err != nil {
		return "", err
	}
	if err := q.enter(ctx); err != nil {
		return "", err
	}
	defer q.leave()
	return hashPassword(password), nil
}
