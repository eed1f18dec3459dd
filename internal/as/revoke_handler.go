package as

import (
	"net/http"
	"strings"

	"pdpp"
	"pdpp/internal/auth"
	"pdpp/internal/store"
)

// revoke is the revocation endpoint (H-170, RFC 7009). The answer does not say whether the
// token existed.
func (s *Server) revoke(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(w, r, maxBody)
	if err != nil {
		return err
	}
	token := f.get("token")
	if token == "" {
		return invalidRequest("token is missing.")
	}
	var found bool
	err = s.change(r.Context(), store.ByClient, func(tx store.Tx) (err error) {
		found, err = s.revokeToken(tx, token, pdpp.ClientID(f.get("client_id")))
		return err
	})
	if err != nil {
		return err
	}
	if !found {
		if err := s.failedFrom(r); err != nil {
			return err
		}
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// revokeGrant is POST /grants/{id}/revoke, for the owner and for a client that gives a grant
// back. Other grants are not found.
func (s *Server) revokeGrant(w http.ResponseWriter, r *http.Request) error {
	id := pdpp.GrantID(strings.TrimSuffix(strings.TrimPrefix(r.URL.EscapedPath(), grantsPath), revokePath))
	b, err := auth.ParseBearer(r.Header)
	if err != nil {
		return err
	}
	err = s.Store.Update(r.Context(), func(tx store.Tx) error {
		p, err := s.Auth.Token(tx, b)
		if err != nil {
			return err
		}
		isOwner := p.Kind == pdpp.TokenOwner
		isHolder := p.Kind == pdpp.TokenClient && p.Grant != nil && p.Grant.ID == id
		if !isOwner && !isHolder {
			return errNoGrant
		}
		by := store.ByClient
		if isOwner {
			by = store.ByOwner
		}
		err = audited(r.Context(), by, func(tx store.Tx) error { return access{Grant: id}.revoke(tx, p.Subject, s.now()) })(tx)
		if isMissing(err) {
			return errNoGrant
		}
		return err
	})
	if pdpp.CodeOf(err) == pdpp.CodeInvalidToken {
		if blocked := s.failedFrom(r); blocked != nil {
			return blocked
		}
	}
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusOK, struct {
		ID     pdpp.GrantID `json:"grant_id"`
		Status string       `json:"status"`
	}{id, "revoked"})
}

// errNoGrant does not contain the id, so that the answer is the same for every grant that the
// caller does not have.
var errNoGrant = pdpp.Errorf(pdpp.CodeNotFound, "There is no such grant.")
