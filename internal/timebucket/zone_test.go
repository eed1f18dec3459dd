package timebucket

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestLoadZone(t *testing.T) {
	for _, name := range []string{"UTC", "GMT", "Europe/Berlin", "America/Argentina/Buenos_Aires", "EST5EDT", "Etc/GMT+5", "Europe/Kyiv"} {
		zone, ok := LoadZone(name)
		if !ok || zone.String() != name {
			t.Errorf("LoadZone(%q) = %v, %v", name, zone, ok)
		}
		if again, _ := LoadZone(name); again != zone {
			t.Errorf("LoadZone(%q) gave another zone the second time", name)
		}
	}
	if zone, _ := LoadZone("UTC"); zone != time.UTC {
		t.Errorf(`LoadZone("UTC") = %p, want time.UTC`, zone)
	}
}

func TestLoadZoneRefuses(t *testing.T) {
	for _, name := range []string{
		"", "Local", "localtime", "local", "utc", "europe/berlin", "EUROPE/BERLIN", "Europe", "Europe/", "/Europe/Berlin",
		"../zoneinfo/Europe/Berlin", "Europe/../Europe/Berlin", "./UTC", "Europe//Berlin", "right/Europe/Berlin", "posix/Europe/Berlin",
		"posixrules", "Factory", "tzdata.zi", "Europe/Berlin\n", "Europe/Berlin\nEurope/Bratislava", "\n", "\r", " UTC", "UTC ", "UTC\x00",
		"CET-1CEST,M3.5.0,M10.5.0/3", "+02:00", strings.Repeat("A", 1<<16),
	} {
		if zone, ok := LoadZone(name); ok || zone != nil {
			t.Errorf("LoadZone(%.40q) = %v, %v, want none", name, zone, ok)
		}
		if _, ok := zones.Load(name); ok {
			t.Errorf("LoadZone(%.40q) kept a name that is none", name)
		}
	}
}

func TestEveryNameLoads(t *testing.T) {
	list := strings.Fields(names)
	if len(list) < 500 || !slices.IsSorted(list) || len(slices.Compact(slices.Clone(list))) != len(list) {
		t.Fatalf("names.txt has %d names; it must be sorted, without repetition", len(list))
	}
	for _, name := range list {
		if _, ok := LoadZone(name); !ok {
			t.Errorf("LoadZone(%q) found none", name)
		}
	}
}

// The database gets a new name every few years. This test compares names.txt with the
// toolchain's copy.
func TestNamesAreComplete(t *testing.T) {
	var want []string
	for _, f := range database(t).File {
		// Factory is the zone of a machine before anybody chose one.
		if !strings.HasSuffix(f.Name, "/") && f.Name != "Factory" {
			want = append(want, f.Name)
		}
	}
	slices.Sort(want)
	if diff := cmp.Diff(want, strings.Fields(names)); diff != "" {
		t.Errorf("names.txt is not the database of the toolchain (-want +got):\n%s", diff)
	}
}

func TestLoadZoneConcurrently(t *testing.T) {
	var group sync.WaitGroup
	for _, name := range strings.Fields(names)[:50] {
		for range 4 {
			group.Go(func() {
				if zone, ok := LoadZone(name); !ok || zone.String() != name {
					t.Errorf("LoadZone(%q) = %v, %v", name, zone, ok)
				}
			})
		}
	}
	group.Wait()
}
