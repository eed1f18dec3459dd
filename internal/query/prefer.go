package query

import (
	"strconv"
	"strings"
)

// MaxPageBytes is the size at which a page of records ends without a preference
// (REC-10).
const MaxPageBytes = 8 << 20

// Preferences are the bounds a reader asked for with Prefer (REC-38). Zero means
// not asked for.
type Preferences struct {
	FieldPreview int // characters
	PageBytes    int
}

const (
	fieldPreview = "pdpp-field-preview"
	pageBytes    = "pdpp-page-bytes"
)

// ParsePrefer reads the Prefer header fields. What is not understood, out of
// range or not asked for on this route is ignored, never an error.
func ParsePrefer(headers []string, withPageBytes bool) Preferences {
	var p Preferences
	for _, h := range headers {
		for item := range strings.SplitSeq(h, ",") {
			item, _, _ = strings.Cut(item, ";")
			name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
			n, err := strconv.Atoi(strings.Trim(value, `"`))
			if err != nil {
				continue
			}
			switch strings.ToLower(strings.TrimSpace(name)) {
			case fieldPreview:
				if p.FieldPreview == 0 && n >= 64 && n <= 65536 {
					p.FieldPreview = n
				}
			case pageBytes:
				if withPageBytes && p.PageBytes == 0 && n >= 4096 && n <= MaxPageBytes {
					p.PageBytes = n
				}
			}
		}
	}
	return p
}

// Applied is the value of Preference-Applied; "" when nothing was.
func (p Preferences) Applied() string {
	var room [64]byte
	b := room[:0]
	if p.FieldPreview != 0 {
		b = strconv.AppendInt(append(b, fieldPreview+"="...), int64(p.FieldPreview), 10)
	}
	if p.FieldPreview != 0 && p.PageBytes != 0 {
		b = append(b, ", "...)
	}
	if p.PageBytes != 0 {
		b = strconv.AppendInt(append(b, pageBytes+"="...), int64(p.PageBytes), 10)
	}
	return string(b)
}
