package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// MaxLines is the length at which a Go file has to be split.
const MaxLines = 700

// CheckShape holds the files against the rules that are not about imports.
func CheckShape(files []File) []Violation {
	found := missingDocs(files)
	for _, f := range files {
		if f.Init {
			found = append(found, Violation{
				File: f.Name, Rule: "no init", What: "declares init",
				Because: "importing a package must do nothing; what has to be set up is set up by whoever needs it",
			})
		}
		if f.Dot {
			found = append(found, Violation{
				File: f.Name, Rule: "no dot imports", What: "has a dot import",
				Because: "a name has to say where it comes from, to readers and to these tests",
			})
		}
		if f.Lines > MaxLines {
			found = append(found, Violation{
				File: f.Name, Rule: "file size", What: fmt.Sprintf("has %d lines, more than %d", f.Lines, MaxLines),
				Because: "a file holds one concept; split it by concept",
			})
		}
	}
	return found
}

// Unlisted gives the folders directly below internal that have no row in a table
// of folders: a row that begins with the folder's path in code quotes. Folders
// with nothing but tests need none.
func Unlisted(files []File, doc string) []string {
	var missing []string
	for _, f := range files {
		parts := strings.Split(f.Name, "/")
		if len(parts) < 3 || parts[0] != "internal" || strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		dir := path.Join(parts[0], parts[1])
		if !strings.Contains(doc, "\n| `"+dir+"` | ") && !slices.Contains(missing, dir) {
			missing = append(missing, dir)
		}
	}
	return missing
}

// missingDocs names the packages without a package comment in doc.go. A program
// may have it in main.go, where the reader of a program looks first.
func missingDocs(files []File) []Violation {
	documented := make(map[string]bool)
	for _, f := range files {
		base := path.Base(f.Name)
		if f.HasDoc && (base == "doc.go" || f.Main && base == "main.go") {
			documented[f.Package] = true
		}
	}
	var found []Violation
	for _, f := range files {
		if documented[f.Package] || strings.HasSuffix(f.Name, "_test.go") {
			continue
		}
		documented[f.Package] = true // say it once
		found = append(found, Violation{
			File: path.Join(path.Dir(f.Name), "doc.go"), Rule: "package doc", What: "has no package comment",
			Because: "a package says in doc.go what it is for, what it refuses to do and what it guarantees",
		})
	}
	return found
}
