package cli

import (
	"os"
	"runtime/debug"
)

// collectRarely lets more garbage pile up before it is collected: what a server or the
// adapter keeps is little against what a call makes, and the usual setting would spend
// a good part of its time on collections. Who sets GOGC has the last word.
func collectRarely() {
	const percent = 400
	if os.Getenv("GOGC") == "" {
		debug.SetGCPercent(percent)
	}
}
