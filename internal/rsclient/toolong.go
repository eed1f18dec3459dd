package rsclient

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"pdpp"
)

// urlMax is the length of the longest URL that is sent. Servers refuse much longer ones,
// and few say which part to shorten.
const urlMax = 16 << 10

// tooLong refuses a call whose URL would be too long. It names the longest parameter.
func (in *call) tooLong() *Error {
	param, size := in.longest()
	message := fmt.Sprintf("This call is too long: %s takes %d bytes of the URL, which may have at most %d. Make it shorter, or ask in several calls.",
		param, size, urlMax)
	e := refused(pdpp.CodeRequestTooLong, message)
	e.Object = withText(e.Object, "param", param)
	return e
}

// longest returns the parameter whose values take the most bytes in the URL.
func (in *call) longest() (name string, size int) {
	sizes := map[string]int{}
	n := 0
	for part := range strings.SplitSeq(in.route, "/") {
		if strings.HasPrefix(part, "{") {
			sizes[strings.Trim(part, "{}")] += len(url.PathEscape(in.segments[n]))
			n++
		}
	}
	for part := range in.query.parts() {
		escaped, _, _ := strings.Cut(part, "=")
		name, _ := url.QueryUnescape(escaped) // it was escaped here
		name, _, _ = strings.Cut(name, "[")   // all of a filter is one argument
		sizes[name] += len(part)
	}
	for _, param := range slices.Sorted(maps.Keys(sizes)) {
		if sizes[param] > size {
			name, size = param, sizes[param]
		}
	}
	return name, size
}
