package httpx

import (
	"net/http/httptest"
	"testing"

	"pdpp"
)

func TestIconLink(t *testing.T) { // H-50, H-64
	e := &Edge{TrustedHosts: must(ParseTrustedHosts([]string{"*.example"}))}
	unauthorized := failing(pdpp.Errorf(pdpp.CodeAuthentication, "A bearer token is required."))
	good := serve(t, Chain(ok, WithRequestID, e.Gate, e.IconLink))
	refused := serve(t, Chain(unauthorized, WithRequestID, e.Gate, e.IconLink, e.Challenge("/mcp")))
	challenged := serve(t, Chain(unauthorized, WithRequestID, e.Gate, e.Challenge("/mcp")))
	for _, host := range []string{"data.example", "other.example:8443", "data.example"} {
		want := []string{`<http://` + host + `/icon.svg>; rel="icon"; type="image/svg+xml"`}
		t.Run("H-64 "+host, func(t *testing.T) {
			if got := send(t, good, request{host: host}); got.status != 200 || len(got.header["Link"]) != 1 || got.header["Link"][0] != want[0] {
				t.Errorf("%d, Link = %q, want %q", got.status, got.header["Link"], want)
			}
		})
		t.Run("ICON-2 the challenge at "+host, func(t *testing.T) {
			for _, srv := range []*httptest.Server{refused, challenged} {
				if got := send(t, srv, request{host: host}); got.status != 401 || len(got.header["Link"]) != 1 || got.header["Link"][0] != want[0] {
					t.Errorf("%d, Link = %q, want %q once", got.status, got.header["Link"], want)
				}
			}
		})
	}
}
