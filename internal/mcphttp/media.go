package mcphttp

import (
	"mime"
	"net/http"
	"strconv"
	"strings"

	"pdpp"
)

// checkMedia checks what a request sends and what it takes (H-61).
func checkMedia(h http.Header) error {
	if !sendsJSON(h["Content-Type"]) {
		return pdpp.Errorf(pdpp.CodeUnsupportedMediaType, "Send one JSON-RPC message with Content-Type: application/json.")
	}
	if !takesJSON(h["Accept"]) {
		return pdpp.Errorf("not_acceptable", "Answers are application/json, which the Accept header excludes.")
	}
	return nil
}

const jsonType = "application/json"

func sendsJSON(values []string) bool {
	if len(values) != 1 {
		return false
	}
	if values[0] == jsonType {
		return true
	}
	media, _, err := mime.ParseMediaType(values[0])
	return err == nil && media == jsonType
}

// takesJSON reports whether Accept leaves JSON in. Without the header everything is
// taken.
func takesJSON(values []string) bool {
	all := strings.Join(values, ",")
	if strings.TrimSpace(all) == "" {
		return true
	}
	closest, takes := 0, false // the most specific range that matches decides
	for part := range strings.SplitSeq(all, ",") {
		media, params, _ := strings.Cut(part, ";")
		if n := matches(strings.ToLower(strings.TrimSpace(media))); n > 0 && n >= closest {
			takes = !isRefused(params) || n == closest && takes
			closest = n
		}
	}
	return takes
}

// matches tells how closely a media range is JSON; 0 when it is something else.
func matches(media string) int {
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

// isRefused reports q=0.
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
