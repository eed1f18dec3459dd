package timebucket

import (
	"archive/zip"
	"io"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// database opens the toolchain's copy of the zone database, which programs embed.
func database(t *testing.T) *zip.ReadCloser {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOROOT").Output()
	if err != nil {
		t.Skip("no go command")
	}
	archive, err := zip.OpenReader(filepath.Join(strings.TrimSpace(string(out)), "lib", "time", "zoneinfo.zip"))
	if err != nil {
		t.Skipf("the toolchain has no copy of the database: %v", err)
	}
	t.Cleanup(func() { archive.Close() })
	return archive
}

// embedded returns every zone as on a machine without its own database. There, the rule
// of a zone begins after the last irregular change; the database of a machine often lists
// the changes up to 2037.
func embedded(t *testing.T) []*time.Location {
	t.Helper()
	var list []*time.Location
	for _, f := range database(t).File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		r, err := f.Open()
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err != nil {
			t.Fatal(err)
		}
		zone, err := time.LoadLocationFromTZData(f.Name, data)
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, zone)
	}
	return list
}

// The package depends on this: periods are in order, without gaps, contain the requested
// instant, and have one offset.
func TestPeriods(t *testing.T) {
	list := embedded(t)
	for _, name := range strings.Fields(names) {
		list = append(list, mustZone(name))
	}
	from, to := instant("1840-01-01T00:00:00Z").Unix(), instant("2061-01-01T00:00:00Z").Unix()
	for _, zone := range list {
		for sec := from; sec < to; {
			p := periodAt(sec, zone)
			if p.start > sec || p.end <= sec {
				t.Fatalf("periodAt(%d, %s) = %v", sec, zone, p)
			}
			first, end := max(p.start, from), min(p.end, to)
			for i := range int64(8) {
				if at := first + (end-1-first)*i/7; offset(at, zone) != p.offset {
					t.Fatalf("periodAt(%d, %s) = %v, but the offset at %d is %d", sec, zone, p, at, offset(at, zone))
				}
			}
			sec = p.end
		}
	}
}

func offset(sec int64, zone *time.Location) int64 {
	_, seconds := time.Unix(sec, 0).In(zone).Zone()
	return int64(seconds)
}

// The ends of leap years, when zones follow their rules.
func TestLeapYearEnds(t *testing.T) {
	var group sync.WaitGroup
	for _, zone := range embedded(t) {
		group.Go(func() {
			for _, year := range []int{2024, 2028, 2096, 9996} {
				at := time.Date(year, 12, 31, 12, 0, 0, 0, time.UTC)
				b := Of(at, Hour, zone)
				if want := naive(at, Hour, zone); b.Key != want || b.End.Sub(b.Start) != time.Hour {
					t.Errorf("Of(%s, hour, %s) = %v, want key %s and an hour", at, zone, b, want)
				}
				if b := Of(at, Year, zone); b.Key != naive(at, Year, zone) {
					t.Errorf("Of(%s, year, %s) = %v", at, zone, b)
				}
			}
		})
	}
	group.Wait()
}
