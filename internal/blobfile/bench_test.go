package blobfile

import (
	"bytes"
	"encoding/binary"
	"testing"
)

func BenchmarkPut(b *testing.B) {
	for name, size := range map[string]int{"1KiB": 1 << 10, "1MiB": 1 << 20} {
		b.Run("new/"+name, func(b *testing.B) {
			s, _ := fresh(b)
			content := make([]byte, size)
			b.SetBytes(int64(size))
			for i := uint64(0); b.Loop(); i++ {
				binary.BigEndian.PutUint64(content, i)
				benchPut(b, s, content)
			}
		})
		b.Run("again/"+name, func(b *testing.B) {
			s, _ := fresh(b)
			content := make([]byte, size)
			b.SetBytes(int64(size))
			for b.Loop() {
				benchPut(b, s, content)
			}
		})
	}
}

func benchPut(b *testing.B, s *Store, content []byte) {
	b.Helper()
	if _, err := s.Put(b.Context(), 7, bytes.NewReader(content), plenty); err != nil {
		b.Fatal(err)
	}
}

func BenchmarkOpen(b *testing.B) {
	s, _ := fresh(b)
	hash := put(b, s, 7, "rent").SHA256
	b.ReportAllocs()
	for b.Loop() {
		f, _, err := s.Open(7, hash)
		if err != nil {
			b.Fatal(err)
		}
		f.Close()
	}
}
