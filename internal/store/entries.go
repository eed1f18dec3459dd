package store

import (
	"time"

	"pdpp"
)

// Entry is a row of the state of sign-in and authorization: a password, a session, an
// authorization request, a code. The package that owns a kind chooses its keys and encodes
// its bodies; the store knows only the columns by which it finds entries.
type Entry struct {
	Kind    EntryKind
	Key     string         // unique within the kind; for a secret its hash, never the secret
	Subject pdpp.SubjectID // "" for an entry that belongs to no owner, or to none yet
	Parent  string         // entries with the same parent are listed together; "" if there is none
	Body    []byte

	CreatedAt time.Time
	// DeleteAfter is when PruneEntries removes the entry; zero means never. It is not the
	// time at which the entry stops being valid: its owner decides that, and tells expired
	// from unknown as long as the entry is kept.
	DeleteAfter time.Time
}

// EntryKind is a kind of entries.
type EntryKind string

// The kinds of entries. Package signin owns the first group, package as the second.
const (
	EntryPassword EntryKind = "password" // the password hash of an owner
	EntrySession  EntryKind = "session"  // a browser in which an owner is signed in
	EntryPasskey  EntryKind = "passkey"  // a passkey of an owner
	EntryCeremony EntryKind = "ceremony" // a passkey registration or sign-in that has begun
	EntryLink     EntryKind = "link"     // a one-time link that signs an owner in
	EntryThrottle EntryKind = "throttle" // counted or remembered attempts, for limits

	EntryClient   EntryKind = "client"   // a registered client
	EntryDocument EntryKind = "document" // the document of a client, as it was fetched
	EntryRequest  EntryKind = "request"  // an authorization request that an owner decides on
	EntryPushed   EntryKind = "pushed"   // the parameters of a pushed authorization request
	EntryDevice   EntryKind = "device"   // the device code of a request
	EntryUserCode EntryKind = "usercode" // the user code of a request
	EntryCode     EntryKind = "code"     // an authorization code
	EntryFamily   EntryKind = "family"   // a line of refresh tokens and their access tokens
	EntryRefresh  EntryKind = "refresh"  // a refresh token
)

// Entries reads entries.
type Entries interface {
	// Entry finds an entry; CodeNotFound when there is none. An entry that was read in an
	// Update is not changed by another one before that Update ends.
	Entry(kind EntryKind, key string) (Entry, error)
	// EntriesOf lists the entries of a kind that belong to a subject, newest first.
	EntriesOf(kind EntryKind, subject pdpp.SubjectID) ([]Entry, error)
	// Children lists the entries of a kind with a parent, oldest first.
	Children(kind EntryKind, parent string) ([]Entry, error)
	// CountEntries counts the entries of a kind that PruneEntries will remove some day.
	CountEntries(kind EntryKind) (int64, error)
}

// EntriesWriter changes entries.
type EntriesWriter interface {
	// PutEntry adds an entry, or replaces the one with its kind and key.
	PutEntry(Entry) error
	// DeleteEntry removes an entry; it is no error if there is none.
	DeleteEntry(kind EntryKind, key string) error
	// PruneEntries removes entries whose DeleteAfter is before now, at most limit of them,
	// and returns how many.
	PruneEntries(now time.Time, limit int) (int64, error)
}
