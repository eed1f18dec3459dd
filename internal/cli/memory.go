package cli

import (
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/httpx"
	"pdpp/internal/store"
)

// memory is the number of bytes that a server may use (H-69).
type memory int64

const (
	defaultMemory memory = 512e6
	leastMemory   memory = 128e6
)

var memoryUnits = []struct {
	name  string
	bytes int64
}{{"MiB", 1 << 20}, {"GiB", 1 << 30}, {"MB", 1e6}, {"GB", 1e9}}

// parseMemory parses --memory.
func parseMemory(s string) (memory, error) {
	for _, u := range memoryUnits {
		digits, ok := strings.CutSuffix(s, u.name)
		if !ok {
			continue
		}
		n, err := strconv.ParseInt(strings.TrimSpace(digits), 10, 32)
		if m := memory(n * u.bytes); err == nil && m >= leastMemory {
			return m, nil
		}
	}
	return 0, pdpp.Errorf(pdpp.CodeUsage, "--memory does not accept %q: write a size such as 512MB or 2GB, at least 128MB.", s)
}

// requests returns the budget for requests and their answers, a quarter of the memory.
func (m memory) requests() *httpx.Budget { return httpx.NewBudget(int64(m / 4)) }

// share divides the memory: a quarter for the caches of the store, and five eighths for
// everything that Go allocates, including the budget of requests. The last eighth is for
// the program itself and the work of the store. GOMEMLIMIT, when set, overrides the Go
// limit.
func (m memory) share(st store.Store) error {
	if os.Getenv("GOMEMLIMIT") == "" {
		debug.SetMemoryLimit(int64(m / 8 * 5))
	}
	if db, ok := st.(cacheLimiter); ok {
		return db.LimitCache(int64(m / 4))
	}
	return nil
}
