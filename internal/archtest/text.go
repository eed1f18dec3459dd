package archtest

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
)

// machinePath matches absolute paths of a particular machine. A path inside a URL or
// below another folder does not match.
var machinePath = regexp.MustCompile(`(^|[^A-Za-z0-9._~%$)}\]-])/(root|home|work)/`)

// MachinePaths returns the places, as "line: text", where a text contains a path of a
// particular machine. It ignores binary files.
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

// CheckText returns the machine paths in all text files below dir, except in folders that
// are not part of the repository.
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
				Because: "the repository must work on every machine",
			})
		}
		return nil
	})
	return found, err
}
