// Package instance manages the data folder of one instance: its access rights, the
// instance key that cursors and later secrets are derived from, and the lock that
// prevents a second server on the same folder (H-4).
//
// A store has the fingerprint of its key. A folder with a missing or different key is
// refused and not given a new one, because everything sealed with the old key would be
// lost silently.
//
// The package reads no settings and no environment; callers pass the paths.
package instance
