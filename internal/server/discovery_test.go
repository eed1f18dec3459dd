package server_test

import (
	"net/http"
	"regexp"
	"strings"
	"testing"

	"pdpp/internal/rs/resttest"
)

// TestEveryNamedEndpointAnswers begins where a client begins, at a 401, and follows the
// documents. Each endpoint that they name must be there: it refuses an empty request, but it
// is not missing (H-135).
func TestEveryNamedEndpointAnswers(t *testing.T) {
	w := newWorld(t)
	for _, c := range []struct{ id, method, path, document string }{
		{"CHAL-1 CHAL-2 META-2", "POST", "/mcp", "/.well-known/oauth-protected-resource/mcp"},
		{"CHAL-1 META-1", "GET", "/v1/streams", "/.well-known/oauth-protected-resource"},
	} {
		t.Run(c.id+" from "+c.path+" to the endpoints", func(t *testing.T) {
			refused := w.send(c.method, w.URL+c.path)
			named := regexp.MustCompile(`resource_metadata="([^"]+)"`).FindStringSubmatch(refused.Header.Get("WWW-Authenticate"))
			if refused.Status != http.StatusUnauthorized || len(named) != 2 || named[1] != w.URL+c.document || refused.At("error.resource_metadata") != named[1] {
				t.Fatalf("%d %s %s", refused.Status, refused.Header.Get("WWW-Authenticate"), refused.Body)
			}
			resource := w.send("GET", named[1]).OK()
			if resource.At("resource") != w.URL+strings.TrimPrefix(c.document, "/.well-known/oauth-protected-resource") {
				t.Errorf("resource = %v", resource.At("resource"))
			}
			issuer, _ := resource.At("authorization_servers.0").(string)
			metadata := w.send("GET", issuer+"/.well-known/oauth-authorization-server").OK()
			if metadata.At("issuer") != issuer {
				t.Errorf("issuer = %v, want %s", metadata.At("issuer"), issuer)
			}
			for member, method := range map[string]string{
				"authorization_endpoint": "GET", "token_endpoint": "POST", "registration_endpoint": "POST", "revocation_endpoint": "POST",
				"device_authorization_endpoint": "POST", "pushed_authorization_request_endpoint": "POST",
			} {
				target, _ := metadata.At(member).(string)
				if a := w.send(method, target); a.Status != http.StatusBadRequest {
					t.Errorf("%s %s = %d %s, want 400", member, target, a.Status, a.Body)
				}
			}
		})
	}
}

// send sends a request without a body and without a token.
func (w *world) send(method, target string) resttest.Answer {
	w.T.Helper()
	req, err := http.NewRequestWithContext(w.T.Context(), method, target, http.NoBody)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.Send(http.DefaultClient, req)
}
