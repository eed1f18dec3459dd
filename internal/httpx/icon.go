package httpx

import (
	_ "embed" // the icon
	"net/http"
	"strconv"
)

// IconPath is the path of the icon of this server. Its URL is R + IconPath (H-62).
const IconPath = "/icon.svg"

const iconType = "image/svg+xml"

//go:embed icon.svg
var icon []byte

// The headers of the icon. The Content-Security-Policy forbids scripts and further
// requests, in case a browser opens the icon as a page.
var (
	valueIconType   = []string{iconType}
	valueIconCache  = []string{"public, max-age=86400"}
	valueIconPolicy = []string{"default-src 'none'; style-src 'unsafe-inline'"}
	valueIconLength = []string{strconv.Itoa(len(icon))}
)

// Icon answers GET and HEAD of IconPath.
func Icon(w http.ResponseWriter, r *http.Request) error {
	h := w.Header()
	h[keyContentType] = valueIconType
	h[keyCacheControl] = valueIconCache
	h[keyContentPolicy] = valueIconPolicy
	h[keyNosniff] = valueNosniff
	h[keyContentLength] = valueIconLength
	if r.Method == http.MethodHead {
		return nil
	}
	_, err := w.Write(icon)
	return err
}

// iconLink returns the Link header that points to the icon (H-50, H-64).
func iconLink(base string) []string {
	return []string{"<" + base + IconPath + `>; rel="icon"; type="` + iconType + `"`}
}

// IconLink adds the Link header of the icon to every response of the handler that it
// wraps (H-64).
func (e *Edge) IconLink(next http.Handler) http.Handler {
	var links PerOrigin[[]string]
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if base := e.Base(r); base != "" {
			w.Header()[keyLink] = links.Get(base, iconLink)
		}
		next.ServeHTTP(w, r)
	})
}
