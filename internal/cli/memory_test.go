package cli

import (
	"strings"
	"testing"
)

func TestParseMemory(t *testing.T) {
	for text, want := range map[string]memory{
		"512MB": 512e6, "1GB": 1e9, "256MiB": 256 << 20, "2GiB": 2 << 30, "128 MB": 128e6,
		"": 0, "512": 0, "MB": 0, "127MB": 0, "0GB": 0, "-1GB": 0, "1.5GB": 0, "512mb": 0, "9999999999999GB": 0,
	} {
		got, err := parseMemory(text)
		if got != want || (err == nil) != (want > 0) {
			t.Errorf("H-69: parseMemory(%q) = %d, %v; want %d", text, got, err, want)
		}
	}
	r := runMain(t, map[string]string{"PDPP_DATA_DIR": t.TempDir(), "PDPP_MEMORY": "64MB"}, "serve")
	if r.code != 64 || !strings.Contains(r.stderr, "--memory does not accept \"64MB\"") {
		t.Errorf("H-69: too little memory: %+v", r)
	}
}
