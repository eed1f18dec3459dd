package as

import "net/http"

// authorizeDevice handles a device authorization request (RFC 8628 §3.1).
func (s *Server) authorizeDevice(w http.ResponseWriter, r *http.Request) error {
	f, err := readForm(w, r, maxRequest)
	if err != nil {
		return err
	}
	client, err := s.requestClient(r, f)
	if err != nil {
		return err
	}
	if !client.allows(grantDevice) {
		return errNoDeviceGrant
	}
	p := &params{Client: client.ID}
	if err := s.checkAccess(r, f, p, audienceREST); err != nil {
		return err
	}
	codes, err := s.beginDevice(r.Context(), p, s.Edge.ClientAddr(r))
	if err != nil {
		return err
	}
	page := s.Edge.Base(r) + "/device"
	return writeJSON(w, http.StatusOK, struct {
		DeviceCode string `json:"device_code"`
		UserCode   string `json:"user_code"`
		URI        string `json:"verification_uri"`
		Complete   string `json:"verification_uri_complete"`
		ExpiresIn  int    `json:"expires_in"`
		Interval   int    `json:"interval"`
	}{codes.device, codes.user, page, page + "?user_code=" + codes.user, int(deviceLife.Seconds()), deviceInterval})
}
