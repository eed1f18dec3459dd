// Package instance looks after the data folder of one instance: its access
// rights, the instance key that cursors and later secrets are derived from, and
// the lock that keeps a second server out (H-4).
//
// A store knows the fingerprint of its key. A folder whose key is missing or
// another one is refused rather than given a new key: what the old key sealed
// would be lost without a word.
//
// The package reads no settings and no environment; it is told the paths.
package instance
