package cli

import (
	"os"
	"runtime/debug"
)

// Values of GOGC. The live heap of a server is small compared with what its requests
// allocate, and that of the adapter is nearly empty: with the default of 100 they would
// spend much of their time on collections.
const (
	serverGCPercent  = 200
	adapterGCPercent = 400
)

// setGCPercent sets GOGC, unless the environment does.
func setGCPercent(percent int) {
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
