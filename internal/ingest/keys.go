package ingest

import (
	"hash/maphash"
	"slices"

	"pdpp"
)

// keys counts the records of a run that share their key with another one. It stores
// eight bytes for each record, which keeps long runs small. Two keys with the same hash
// are so rare that the count can be taken as exact.
type keys struct {
	seed   maphash.Seed
	hashes []uint64
}

func newKeys() *keys { return &keys{seed: maphash.MakeSeed()} }

func (k *keys) add(id pdpp.RecordID) {
	k.hashes = append(k.hashes, maphash.String(k.seed, string(id)))
}

// superseded returns how many records were followed by one with the same key.
func (k *keys) superseded() int64 {
	slices.Sort(k.hashes)
	n := int64(0)
	for i := 1; i < len(k.hashes); i++ {
		if k.hashes[i] == k.hashes[i-1] {
			n++
		}
	}
	return n
}
