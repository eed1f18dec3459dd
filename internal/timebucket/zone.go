package timebucket

import (
	_ "embed"
	"strings"
	"sync"
	"time"
	_ "time/tzdata" // zones exist on every machine
)

// names are the zones of the IANA time zone database, links included, one to a line,
// sorted. A list decides what is a valid name, because the zone folder of the machine may
// also contain "localtime" or zones with leap seconds, or ignore case.
//
//go:embed names.txt
var names string

// zones caches loaded zones. It cannot grow beyond names.
var zones sync.Map

// LoadZone returns the zone of an IANA name, such as "UTC" or "Europe/Berlin", in exactly
// that spelling; false for anything else, also for "" and "Local". It may be called
// concurrently, and is cheap after the first call.
func LoadZone(name string) (*time.Location, bool) {
	if zone, ok := zones.Load(name); ok {
		return zone.(*time.Location), true
	}
	if !known(name) {
		return nil, false
	}
	zone, err := time.LoadLocation(name)
	if err != nil {
		return nil, false
	}
	kept, _ := zones.LoadOrStore(name, zone)
	return kept.(*time.Location), true
}

func known(name string) bool {
	for line := range strings.Lines(names) {
		if strings.TrimRight(line, "\r\n") == name {
			return name != ""
		}
	}
	return false
}
