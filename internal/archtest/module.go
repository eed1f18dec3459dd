package archtest

import (
	"slices"
	"strings"
)

// Requirement is one module that a go.mod asks for.
type Requirement struct {
	Path     string
	Version  string
	Indirect bool
}

// Requirements reads the require lines of a go.mod.
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

// Direct gives the modules that are direct dependencies: those go.mod calls
// direct, and those that a file imports although go.mod is not tidy.
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

// Undocumented gives the modules that have no line of their own in the list of
// dependencies: a list item or table row that begins with the module's path in
// code quotes and goes on to say something.
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
