package archtest

import (
	"slices"
	"strings"
)

// Requirement is one module that a go.mod requires.
type Requirement struct {
	Path     string
	Version  string
	Indirect bool
}

// Requirements returns the required modules of a go.mod.
func Requirements(gomod string) []Requirement {
	var list []Requirement
	inBlock := false
	for line := range strings.Lines(gomod) {
		text, comment, _ := strings.Cut(line, "//")
		words := strings.Fields(text)
		switch {
		case len(words) == 2 && words[0] == "require" && words[1] == "(":
			inBlock = true
			continue
		case len(words) == 1 && words[0] == ")":
			inBlock = false
			continue
		case len(words) == 3 && words[0] == "require":
			words = words[1:]
		case !inBlock:
			continue
		}
		if len(words) == 2 {
			indirect := strings.HasPrefix(strings.TrimSpace(comment), "indirect")
			list = append(list, Requirement{Path: words[0], Version: words[1], Indirect: indirect})
		}
	}
	return list
}

// Direct returns the direct dependencies: those that go.mod lists as direct, and those
// that a file imports although go.mod lists them as indirect.
func Direct(requirements []Requirement, files []File) []string {
	var direct []string
	for _, r := range requirements {
		if !r.Indirect || imported(r.Path, files) {
			direct = append(direct, r.Path)
		}
	}
	return direct
}

func imported(module string, files []File) bool {
	pattern := []string{module + "/..."}
	return slices.ContainsFunc(files, func(f File) bool {
		return slices.ContainsFunc(f.Imports, func(imp string) bool { return matches(pattern, imp) })
	})
}

// Undocumented returns the modules without a line in the list of dependencies: a list
// item or table row that begins with the path of the module in code quotes and continues
// with a description.
func Undocumented(modules []string, doc string) []string {
	var missing []string
	for _, m := range modules {
		described := false
		for line := range strings.Lines(doc) {
			rest, ok := strings.CutPrefix(strings.TrimLeft(line, "-*| "), "`"+m+"`")
			described = described || ok && len(strings.Fields(rest)) > 3
		}
		if !described {
			missing = append(missing, m)
		}
	}
	return missing
}
