package mcphttp

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"pdpp"
)

// checkMedia checks Content-Type and Accept (H-61).
func checkMedia(h http.Header) error {
	if !isJSON(h["Content-Type"]) {
		return pdpp.Errorf(pdpp.CodeUnsupportedMediaType, "Send one JSON-RPC message with Content-Type: application/json.")
	}
	if !acceptsJSON(h["Accept"]) {
		return pdpp.Errorf(pdpp.CodeNotAcceptable, "Answers are application/json, which the Accept header excludes.")
	}
	return nil
}

const jsonType = "application/json"

func isJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == jsonType {
		return true
	}
	media, _, err := mime.ParseMediaType(values[0])
	return err == nil && media == jsonType
}

// acceptsJSON reports whether Accept allows JSON. A missing header allows everything. The
// most specific range that matches decides.
func acceptsJSON(values []string) bool {
	all := strings.Join(values, ",")
	if strings.TrimSpace(all) == "" {
		return true
	}
	best, accepted := 0, false
	for part := range strings.SplitSeq(all, ",") {
		media, params, _ := strings.Cut(part, ";")
		if n := specificity(strings.ToLower(strings.TrimSpace(media))); n > 0 && n >= best {
			accepted = !isRefused(params) || n == best && accepted
			best = n
		}
	}
	return accepted
}

// specificity ranks the media ranges that include JSON; 0 for others.
func specificity(media string) int {
	switch media {
	case "*/*":
		return 1
	case "application/*":
		return 2
	case jsonType:
		return 3
	}
	return 0
}

// isRefused reports whether the parameters contain q=0.
func isRefused(params string) bool {
	for p := range strings.SplitSeq(params, ";") {
		name, value, _ := strings.Cut(p, "=")
		if strings.EqualFold(strings.TrimSpace(name), "q") {
			q, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			return err == nil && q == 0
		}
	}
	return false
}
