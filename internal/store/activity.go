package store

import (
	"time"

	"pdpp"
)

// Bounds of what a store keeps about the use of rights (H-196, H-197).
const (
	// MaxReadRows is the number of rows of counted reads that an owner has of one day. What
	// exceeds it is counted in one further row, with ViaOther and neither grant nor stream.
	MaxReadRows = 1000
	// MaxRefusedRows is the number of audit rows of refused bearers that an owner has of one
	// day. What exceeds it is counted in one further row, without token and address.
	MaxRefusedRows = 1000
	// KeepActivity is how long counted reads, refusals and audit rows are kept.
	KeepActivity = 400 * 24 * time.Hour
)

// ViaOther is the Via of reads that are counted together, because there are too many rows.
const ViaOther = "other"

// Day is a day of UTC, as the number of days since 1970-01-01.
type Day int32

// DayOf returns the day of a time.
func DayOf(t time.Time) Day {
	seconds := t.Unix()
	if seconds < 0 {
		seconds -= secondsOfDay - 1 // round down
	}
	return Day(seconds / secondsOfDay)
}

const secondsOfDay = 24 * 60 * 60

// Time returns the beginning of the day.
func (d Day) Time() time.Time { return time.Unix(int64(d)*secondsOfDay, 0).UTC() }

// String returns the day as in 2026-11-16.
func (d Day) String() string { return d.Time().Format(time.DateOnly) }

// ReadKey says what is counted together.
type ReadKey struct {
	Subject pdpp.SubjectID
	Grant   pdpp.GrantID   // "" for a package that was refused as a whole, and for ViaOther
	Package pdpp.PackageID // only for a package that was refused as a whole
	Day     Day
	Via     string // the MCP tool, or the pattern of the route
	Stream  string // that was asked for, or whose records were returned; "" for none, or for several
}

// ReadCount is how much was read on a day in one way. It never has content.
type ReadCount struct {
	ReadKey
	Reads    int64
	Records  int64 // that the reads returned
	Refusals int64 // requests of a valid token that its rights did not allow
}

// Refusal is the latest refusal of a grant, or of a package that was refused as a whole.
type Refusal struct {
	Subject pdpp.SubjectID
	Grant   pdpp.GrantID
	Package pdpp.PackageID
	At      time.Time
	Via     string
	Code    pdpp.Code
}

// Audit is a row about a change of rights, or about a refused bearer (S21). It has ids,
// which are not secrets, and neither tokens nor content (H-160).
type Audit struct {
	At        time.Time
	Action    Action
	Actor     Actor
	Subject   pdpp.SubjectID // "" if no owner is known, as for an unknown token
	Client    pdpp.ClientID
	Grant     pdpp.GrantID
	Package   pdpp.PackageID
	Token     pdpp.TokenID
	Code      pdpp.Code // why a bearer was refused
	RequestID string
	Address   string // of the client
	Times     int64  // refusals of this bearer on the day of At, the last one at At; 1 for a change
}

// Action is what an audit row is about.
type Action string

// The actions of audit rows.
const (
	GrantCreated   Action = "grant_created"
	GrantRevoked   Action = "grant_revoked"
	PackageCreated Action = "package_created"
	PackageRevoked Action = "package_revoked"
	TokenCreated   Action = "token_created" // except those that a client gets for an approval, and renews
	TokenRevoked   Action = "token_revoked"
	RequestDenied  Action = "request_denied" // an owner denied an authorization request
	BearerRefused  Action = "bearer_refused"

	// All tokens of one approval were revoked.
	TokensRevoked   Action = "tokens_revoked"   // with the grant, or by the client
	RefreshReplayed Action = "refresh_replayed" // a superseded refresh token was used (H-164)
	CodeReplayed    Action = "code_replayed"    // a code was used twice (H-161)
	DocumentChanged Action = "document_changed" // the client document no longer names the client (H-155)
)

// Actor is who caused an audit row.
type Actor string

// The actors of audit rows.
const (
	ByOperator Actor = "operator" // a command on the server
	ByOwner    Actor = "owner"    // an owner who is signed in
	ByClient   Actor = "client"   // a request of a client
)

// Activity reads what clients have read, and how rights have changed.
type Activity interface {
	// Reads lists what was read of a subject since the day of a time, newest day first.
	Reads(subject pdpp.SubjectID, since time.Time) ([]ReadCount, error)
	// Refusals lists the latest refusal of each grant and package, newest first.
	Refusals(subject pdpp.SubjectID) ([]Refusal, error)
	// Audits lists the newest audit rows of a subject, or with "" those of no owner.
	Audits(subject pdpp.SubjectID, limit int) ([]Audit, error)
}

// ActivityWriter records what clients have read, and how rights have changed.
type ActivityWriter interface {
	// AddReads adds to what was counted before. See MaxReadRows.
	AddReads([]ReadCount) error
	// AddRefusals replaces older refusals of the same grant or package.
	AddRefusals([]Refusal) error
	// AddAudit adds a row, in the transaction that changes rights. Refusals of one day
	// with the same token, address and code become one row; see MaxRefusedRows.
	AddAudit(Audit) error
	// PruneActivity removes counts, refusals and audit rows of before the day of a time,
	// at most limit of each, and returns how many.
	PruneActivity(before time.Time, limit int) (int64, error)
}
