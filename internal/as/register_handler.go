package as

import (
	"encoding/json"
	"net/http"

	"pdpp"
	"pdpp/internal/rawjson"
)

// registerClient is the registration endpoint (H-152, RFC 7591).
func (s *Server) registerClient(w http.ResponseWriter, r *http.Request) error {
	body, err := readBody(w, r, "application/json", maxBody)
	if err != nil {
		return err
	}
	m, err := parseMetadata(body)
	if err != nil {
		return err
	}
	id, now, err := s.register(r.Context(), m, s.Edge.ClientAddr(r))
	if err != nil {
		return err
	}
	return writeJSON(w, http.StatusCreated, struct {
		ID       pdpp.ClientID `json:"client_id"`
		IssuedAt int64         `json:"client_id_issued_at"`
		*metadata
	}{id, now.Unix(), m})
}

// parseMetadata parses and checks what a client says about itself.
func parseMetadata(body []byte) (*metadata, error) {
	compact, err := rawjson.Compact(nil, body)
	if err != nil {
		return nil, badMetadata("The body is not a JSON object.")
	}
	var m metadata
	if err := json.Unmarshal(compact, &m); err != nil {
		return nil, badMetadata("The body is not a JSON object with members of the types of RFC 7591.")
	}
	return &m, m.normalize()
}
