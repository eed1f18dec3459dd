package cli

import (
	"os"
	"runtime/debug"
)

// How much garbage may pile up, in percent of what is kept. What a server keeps is
// little against what calls make, and what the adapter keeps is next to nothing: with
// the usual 100 they would spend a good part of their time on collections.
const (
	serverGarbage  = 200
	adapterGarbage = 400
)

// collectAt sets how much garbage may pile up. Who sets GOGC has the last word.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
