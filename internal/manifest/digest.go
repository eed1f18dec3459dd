package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"

	"pdpp"
)

// IndexDigest names what the stored index rows of a stream are made from: its
// primary key, cursor field, consent time field and, for every field in declared
// order, name, kind, whether lexical search looks at it, and whether a range, an
// aggregation or a relation of any stream of m uses it. While the digest of a
// stream stays the same, its records need not be indexed again.
//
// Labels, descriptions, views, roles and versions do not count. Declared order
// counts because an index may number the fields; s must be a stream of m.
func IndexDigest(m *pdpp.Manifest, s *pdpp.Stream) string {
	keys := foreignKeys(m, s)
	h := sha256.New()
	// The quoting keeps neighbouring names apart whatever they contain.
	fmt.Fprintf(h, "index 1\n%q\n%q\n%q\n", s.PrimaryKey, s.CursorField, s.ConsentTimeField)
	for _, f := range s.Fields {
		lexical := slices.Contains(s.LexicalFields, f.Name)
		compared := s.RangeOps(f.Name) != nil || aggregated(s.Aggregations, f.Name) || keys[f.Name]
		fmt.Fprintf(h, "%q %d %t %t\n", f.Name, f.Kind, lexical, compared)
	}
	return hex.EncodeToString(h.Sum(nil)[:16])
}

// foreignKeys are the fields of s by which relations of m find its records.
func foreignKeys(m *pdpp.Manifest, s *pdpp.Stream) map[string]bool {
	keys := map[string]bool{}
	for _, parent := range m.Streams {
		for _, rel := range parent.Relations {
			if rel.Stream == s.Name {
				keys[rel.ForeignKey] = true
			}
		}
	}
	return keys
}

func aggregated(a pdpp.Aggregations, field string) bool {
	for _, list := range [][]string{a.Sum, a.Min, a.Max, a.GroupBy, a.GroupByTime, a.CountDistinct} {
		if slices.Contains(list, field) {
			return true
		}
	}
	return false
}
