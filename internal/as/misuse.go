package as

import (
	"context"
	"time"

	"pdpp"
	"pdpp/internal/store"
)

// Misuse describes an authorization that ended because its refresh token or code was used
// twice: it may have been stolen, or the client made a mistake.
type Misuse struct {
	ID     string // of the grant or package
	Client pdpp.ClientID
	Reason EndReason
	At     time.Time
}

// Misuses lists the authorizations of an owner that ended by misuse in the last 60 days, for
// the grants page (H-164). The newest authorization is first.
func (s *Server) Misuses(ctx context.Context, subject pdpp.SubjectID) ([]Misuse, error) {
	var out []Misuse
	err := s.Store.View(ctx, func(v store.View) error {
		entries, err := v.EntriesOf(store.EntryFamily, subject)
		if err != nil {
			return err
		}
		for _, e := range entries {
			f, err := decode[family](e)
			if err != nil {
				return err
			}
			if f.Ended == EndedByReplay || f.Ended == EndedByReuse {
				out = append(out, Misuse{ID: f.id(), Client: f.Client, Reason: f.Ended, At: f.EndedAt})
			}
		}
		return nil
	})
	return out, err
}
