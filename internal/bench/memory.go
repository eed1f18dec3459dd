package bench

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// Memory returns a row with the resident memory of a server process, or no row without
// /proc.
func Memory(pid, records int) ([]Row, error) {
	return memory(pid, fmt.Sprintf("resident memory of the server, %s records", count(records)), AtMost(200))
}

// memory returns a row with the resident memory of a process, or no row without /proc.
func memory(pid int, what string, target *Target) ([]Row, error) {
	mb, err := residentMB(pid)
	if os.IsNotExist(err) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []Row{state(what, "MB", mb, target)}, nil
}

// residentMB returns the resident memory of a process.
func residentMB(pid int) (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	if err != nil {
		return 0, err
	}
	kib, err := resident(string(text))
	return float64(kib) * 1024 / 1e6, err
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
