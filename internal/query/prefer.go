package query

import (
	"slices"
	"strconv"
	"strings"

	"pdpp"
)

// Preferences are the values of the Prefer header (REC-38). Zero means not preferred.
type Preferences struct {
	FieldPreview int // characters
	HitPreview   int // characters
	PageBytes    int
}

// preference is the name of a preference and the range of its value.
type preference struct {
	name     string
	min, max int
	value    func(*Preferences) *int
}

// The preferences, in the order in which an answer names those that were applied.
var (
	fieldPreview = preference{"pdpp-field-preview", 64, 65536, func(p *Preferences) *int { return &p.FieldPreview }}
	hitPreview   = preference{"pdpp-hit-preview", 64, 320, func(p *Preferences) *int { return &p.HitPreview }}
	pageBytes    = preference{"pdpp-page-bytes", pdpp.MinPageBytes, pdpp.MaxPageBytes, func(p *Preferences) *int { return &p.PageBytes }}

	allPreferences = []preference{fieldPreview, hitPreview, pageBytes}
)

// PreferenceSet is the set of preferences that a kind of route supports.
type PreferenceSet []preference

// The preferences of the routes that support any.
var (
	RecordPreferences = PreferenceSet{fieldPreview}
	ListPreferences   = PreferenceSet{fieldPreview, pageBytes}
	SearchPreferences = PreferenceSet{hitPreview, pageBytes}
)

// Parse reads the Prefer header fields. It ignores preferences that the route does not
// support, and values that are not integers in range.
func (s PreferenceSet) Parse(headers []string) Preferences {
	var p Preferences
	for _, h := range headers {
		for item := range strings.SplitSeq(h, ",") {
			item, _, _ = strings.Cut(item, ";")
			name, value, _ := strings.Cut(strings.TrimSpace(item), "=")
			name = strings.TrimSpace(name)
			i := slices.IndexFunc(s, func(known preference) bool { return strings.EqualFold(known.name, name) })
			if i < 0 {
				continue
			}
			n, err := strconv.Atoi(strings.Trim(value, `"`))
			if at := s[i].value(&p); err == nil && *at == 0 && n >= s[i].min && n <= s[i].max {
				*at = n
			}
		}
	}
	return p
}

// Applied returns the value of Preference-Applied; "" if no preference was applied.
func (p Preferences) Applied() string {
	var buf [96]byte
	b := buf[:0]
	for _, known := range allPreferences {
		n := *known.value(&p)
		if n == 0 {
			continue
		}
		if len(b) > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(append(b, known.name...), '='), int64(n), 10)
	}
	return string(b)
}
