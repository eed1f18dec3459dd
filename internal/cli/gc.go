package cli

import (
	"os"
	"runtime/debug"
)

// Values of GOGC. The live heap of a server is small compared with what its requests
// allocate, and that of the adapter is nearly empty: with the default of 100 they would
// spend much of their time on collections.
const (
	serverGarbage  = 200
	adapterGarbage = 400
)

// collectAt sets the percentage of garbage at which a collection starts, unless the
// environment sets GOGC.
func collectAt(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
