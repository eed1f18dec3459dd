// Package secret generates the random values of the system: ids, which may be shown, and
// tokens, which are shown once. All randomness comes from crypto/rand.
package secret
