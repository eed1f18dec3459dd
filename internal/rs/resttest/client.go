package resttest

import (
	"context"
	"net/http"
	"os"

	"pdpp"
	"pdpp/internal/rsclient"
)

// ManifestFile registers the manifest in a file and reindexes the records.
func (w *World) ManifestFile(path string) *pdpp.Manifest {
	w.T.Helper()
	raw, err := os.ReadFile(path)
	if err != nil {
		w.T.Fatal(err)
	}
	return w.Manifest(string(raw))
}

// Client returns a client that reads the world's server with a token, over a transport
// (nil for the default one).
func (w *World) Client(token string, transport http.RoundTripper) *rsclient.Client {
	w.T.Helper()
	c, err := rsclient.New(rsclient.Config{
		Provider: w.URL, Version: "test", Transport: transport,
		Token: func(context.Context) (string, error) { return token, nil },
	})
	if err != nil {
		w.T.Fatal(err)
	}
	return c
}
