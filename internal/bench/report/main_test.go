package main

import (
	"bytes"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"pdpp/internal/bench"
)

// TestMain runs the report itself when a test starts it as a server process.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "-"+serveFlag {
		main()
		return
	}
	os.Exit(m.Run())
}

// TestWholeReport runs every measurement at a tiny size. It checks only that every row has
// a value.
func TestWholeReport(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	profiles := t.TempDir()
	var out, errOut bytes.Buffer
	args := []string{"-records", "200", "-rounds", "1", "-round", "20ms", "-json", "-cpuprofile", profiles}
	if err := run(t.Context(), args, &out, &errOut); err != nil {
		t.Fatal(err)
	}
	var r bench.Report
	if err := json.Unmarshal(out.Bytes(), &r); err != nil {
		t.Fatal(err)
	}
	missing := []string{
		"ingest, 100 records", "build of 100 records", "build of 200 records",
		"record detail, 100", "page of 25, 100", "record detail, 200", "page of 25, 200",
		"adapter, spawn to initialize", "adapter, fetch", "adapter, query_records", "adapter, search",
		"refresh of a token", "redemption of a code", "consent page",
		"first page", "deep page", "page of a category", "page of a rare category",
	}
	if _, err := os.Stat("/proc/self/status"); err == nil {
		missing = append(missing, "resident memory of the server", "resident memory of the adapter, idle", "resident memory of the adapter, 200 calls")
	}
	for _, row := range r.Rows {
		for i, what := range missing {
			if strings.HasPrefix(row.What, what) && row.Ours > 0 {
				missing = append(missing[:i], missing[i+1:]...)
				break
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("the report has no rows %q:\n%s", missing, out.String())
	}
	for _, name := range []string{"ingest", "detail", "page", "filtered"} {
		if info, err := os.Stat(profiles + "/" + name + ".pprof"); err != nil || info.Size() == 0 {
			t.Errorf("profile of %s: %v", name, err)
		}
	}
	left, err := os.ReadDir(os.Getenv("TMPDIR"))
	if err != nil || len(left) > 0 {
		t.Errorf("files that were not removed: %v, %v", left, err)
	}
}

func TestArguments(t *testing.T) {
	for _, args := range [][]string{{"-only", "nothing"}, {"-records", "5"}, {"-rounds", "0"}, {"extra"}, {"-unknown"}} {
		if _, err := parse(args, new(bytes.Buffer)); err == nil {
			t.Errorf("parse(%q) must fail", args)
		}
	}
	o, err := parse([]string{"-quick"}, new(bytes.Buffer))
	if err != nil || o.records != 100_000 {
		t.Errorf("parse(-quick) = %+v, %v, want 100,000 records", o, err)
	}
}
