package pages

import (
	"maps"
	"slices"
)

// Routes returns the patterns of all pages.
func Routes() []string { return slices.Sorted(maps.Keys((&Pages{}).table())) }
