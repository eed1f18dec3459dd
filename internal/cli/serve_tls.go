package cli

import (
	"crypto/tls"
	"errors"
	"io/fs"
	"sync/atomic"

	"pdpp"
)

// certificate is a certificate that can be replaced while it is served.
type certificate struct {
	certFile, keyFile string
	current           atomic.Pointer[tls.Certificate]
}

func loadCertificate(certFile, keyFile string) (*certificate, error) {
	c := &certificate{certFile: certFile, keyFile: keyFile}
	return c, c.load()
}

// load reads the files. On failure the previous certificate stays in use.
func (c *certificate) load() error {
	pair, err := tls.LoadX509KeyPair(c.certFile, c.keyFile)
	var path *fs.PathError
	switch {
	case errors.As(err, &path):
		return missing(path.Path, err)
	case err != nil:
		return &pdpp.Error{Code: pdpp.CodeNotConfigured, Message: "The certificate and its key cannot be used.", Hint: "Name PEM files that belong together with --tls-cert and --tls-key.", Err: err}
	}
	c.current.Store(&pair)
	return nil
}

func (c *certificate) get(*tls.ClientHelloInfo) (*tls.Certificate, error) {
	return c.current.Load(), nil
}
