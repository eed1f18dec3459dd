package as

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"pdpp"
	"pdpp/internal/outbound"
)

// DocumentTimeout is how long the fetch of a client document may take (H-154).
const DocumentTimeout = 5 * time.Second

// offlineHint is for a server that cannot reach the host of any document. Common clients
// register themselves when documents are off.
const offlineHint = " (if this server has no access to the internet, start it with --client-metadata off)"

// refusedDocument is the error for a client whose document was not accepted.
func refusedDocument(reason string) *oauthError {
	return &oauthError{
		status: http.StatusUnauthorized, code: "invalid_client", failure: true,
		description: "The document of this client_id was not accepted: " + reason + ". Try again in a minute.",
	}
}

// fetchDocument fetches and parses a document. It returns for how long it may be used.
func (s *Server) fetchDocument(ctx context.Context, id pdpp.ClientID) (*metadata, time.Duration, *documentFault) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, string(id), nil)
	if err != nil {
		return nil, 0, &documentFault{reason: "it is not a valid URL"}
	}
	req.Header.Set("Accept", "application/json")
	req.Header.Set("User-Agent", "pdpp")
	body, header, err := getDocument(s.Documents, req)
	var m *metadata
	if err == nil {
		m, err = parseDocument(string(id), body)
	}
	if err == nil {
		return m, freshness(header), nil
	}
	s.Log.LogAttrs(ctx, slog.LevelInfo, "a client document was not accepted", slog.String("host", req.URL.Host), slog.String("reason", err.Error()))
	var fault *documentFault
	var failure *outbound.Error
	switch {
	case errors.As(err, &fault):
	case errors.As(err, &failure) && failure.Refused:
		fault = &documentFault{reason: failure.Error()}
	case errors.As(err, &failure):
		fault = &documentFault{reason: failure.Error() + offlineHint}
	default: // the time limit of the client
		fault = &documentFault{reason: req.URL.Hostname() + " did not answer in time" + offlineHint}
	}
	return nil, 0, fault
}

// getDocument returns the body of a JSON document of at most maxDocument bytes, and its
// header.
func getDocument(client *http.Client, req *http.Request) ([]byte, http.Header, error) {
	resp, err := client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer resp.Body.Close()
	if resp.StatusCode != http.StatusOK {
		return nil, nil, &documentFault{reason: req.URL.Hostname() + " answered " + strconv.Itoa(resp.StatusCode) + " instead of 200"}
	}
	kind, _, err := mime.ParseMediaType(resp.Header.Get("Content-Type"))
	if isJSON := kind == "application/json" || strings.HasPrefix(kind, "application/") && strings.HasSuffix(kind, "+json"); err != nil || !isJSON {
		return nil, nil, &documentFault{reason: "its Content-Type is not application/json"}
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, maxDocument+1))
	if err == nil && len(body) > maxDocument {
		err = &documentFault{reason: "it is larger than " + strconv.Itoa(maxDocument) + " bytes"}
	}
	return body, resp.Header, err
}
