package oauth

import "testing"

func TestIsSafe(t *testing.T) {
	for endpoint, want := range map[string]bool{
		"https://data.example/oauth/token": true, "http://127.0.0.1:1/token": true, "http://data.example/token": false,
		"": false, "ftp://127.0.0.1": false, "https://me@data.example": false,
	} {
		if got := IsSafe(endpoint); got != want {
			t.Errorf("IsSafe(%q) = %v, want %v", endpoint, got, want)
		}
	}
}

// Messages do not contain the user or the query of a URL.
func TestShown(t *testing.T) {
	for raw, want := range map[string]string{
		"https://u:hidden@a.example:8443/t?key=hidden#hidden": "https://a.example:8443/t",
		"https://a.example/t%2Fx":                             "https://a.example/t%2Fx",
		"hidden\x00":                                          "an invalid URL",
		"hidden:hidden":                                       "an invalid URL",
	} {
		if got := Shown(raw); got != want {
			t.Errorf("ERR-1 Shown(%q) = %q, want %q", raw, got, want)
		}
	}
}
