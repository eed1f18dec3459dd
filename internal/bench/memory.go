package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory tells the resident memory of a server process. Without /proc there is
// no row.
func Memory(pid, records int) ([]Row, error) {
	return memory(pid, fmt.Sprintf("resident memory of the server, %s records", count(records)), AtMost(200))
}

// memory is the row of the resident memory of a process, where it can be told.
func memory(pid int, what string, target *Target) ([]Row, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	kib, err := resident(string(text))
	if err != nil {
		return nil, err
	}
	return []Row{state(what, "MB", float64(kib)*1024/1e6, target)}, nil
}

// resident finds VmRSS in a status file, in KiB.
func resident(status string) (int, error) {
	for line := range strings.Lines(status) {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return strconv.Atoi(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")))
		}
	}
	return 0, errors.New("no VmRSS in the status of the process")
}
