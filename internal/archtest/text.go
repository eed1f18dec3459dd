package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// machinePath finds absolute paths of somebody's machine. A path inside a URL
// or below another folder is none.
var machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9._~%$)}\]-])/(root|home|work)/`)

// MachinePaths lists the places, as "line: text", where a text names a path of
// the machine it was written on. Bytes with a NUL are no text.
func MachinePaths(text []byte) []string {
	if bytes.IndexByte(text, 0) >= 0 {
		return nil
	}
	var found []string
	for i, line := range bytes.Split(text, []byte("\n")) {
		if machinePath.Match(line) {
			found = append(found, fmt.Sprintf("%d: %.120s", i+1, line))
		}
	}
	return found
}

// CheckText looks for machine paths in every text file below dir, except in
// folders that are not part of the repository.
func CheckText(dir string) ([]Violation, error) {
	outside := map[string]bool{".git": true, "bin": true}
	var found []Violation
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && outside[d.Name()]:
			return filepath.SkipDir
		case !d.Type().IsRegular():
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		for _, place := range MachinePaths(text) {
			found = append(found, Violation{
				File: name, Rule: "machine paths", What: "line " + place,
				Because: "the repository must mean the same on every machine",
			})
		}
		return nil
	})
	return found, err
}
