package archtest

import (
	"fmt"
	"path"
	"slices"
	"strings"
)

// MaxLines is the largest number of lines of a Go file.
const MaxLines = 700

// CheckShape returns the violations of the rules that are not about imports.
func CheckShape(files []File) []Violation {
	found := missingDocs(files)
	for _, f := range files {
		if f.Init {
			found = append(found, Violation{
				File: f.Name, Rule: "no init", What: "declares init",
				Because: "importing a package must have no effect; callers set up what they need",
			})
		}
		if f.Dot {
			found = append(found, Violation{
				File: f.Name, Rule: "no dot imports", What: "has a dot import",
				Because: "readers and these tests must see which package a name belongs to",
			})
		}
		if f.Lines > MaxLines {
			found = append(found, Violation{
				File: f.Name, Rule: "file size", What: fmt.Sprintf("has %d lines, more than %d", f.Lines, MaxLines),
				Because: "a file contains one concept; split it by concept",
			})
		}
	}
	return found
}

// Unlisted returns the folders directly below internal without a row in a table of
// folders: a row that begins with the path of the folder in code quotes. Folders with
// tests only need no row.
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

// missingDocs returns a violation for each package without a package comment in doc.go.
// A program may have it in main.go.
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
		documented[f.Package] = true // report it once
		found = append(found, Violation{
			File: path.Join(path.Dir(f.Name), "doc.go"), Rule: "package doc", What: "has no package comment",
			Because: "doc.go says what a package is for, what it does not do and what it guarantees",
		})
	}
	return found
}
