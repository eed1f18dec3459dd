package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Rule binds some packages to some imports. Patterns are import paths in which
// one "..." stands for anything; as with the go command, "x/..." includes x itself.
// In Only and Never, "std" stands for the whole standard library.
type Rule struct {
	Name     string
	Packages []string // whom the rule binds
	Except   []string // and whom of them it does not
	Tests    bool     // it binds test files too
	Only     []string // nothing else may be imported
	Never    []string // must not be imported
	Deep     bool     // Never also holds for what imported packages import that the rule does not bind
	NeverUse []string // names that must not be used: "os.Exit"
	Because  string
}

// Violation is one breach of a rule by one file.
type Violation struct {
	File    string
	Rule    string
	What    string
	Because string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s (%s), because %s", v.File, v.What, v.Rule, v.Because)
}

// Check holds the files against the rules. Violations come in rule order, then
// in file order.
func Check(rules []Rule, files []File) []Violation {
	g := newGraph(files)
	var found []Violation
	for _, r := range rules {
		for _, f := range files {
			if !r.binds(f) {
				continue
			}
			for _, what := range r.breaches(f, g) {
				found = append(found, Violation{File: f.Name, Rule: r.Name, What: what, Because: r.Because})
			}
		}
	}
	return found
}

func (r Rule) binds(f File) bool { return r.bindsPackage(f.Package) && (r.Tests || !f.IsTest()) }

func (r Rule) bindsPackage(pkg string) bool {
	return matches(r.Packages, pkg) && !matches(r.Except, pkg)
}

func (r Rule) breaches(f File, g graph) []string {
	var found []string
	for _, imp := range f.Imports {
		if imp == f.Package {
			continue // an external test of the package itself
		}
		if len(r.Only) > 0 && !matches(r.Only, imp) || matches(r.Never, imp) {
			found = append(found, "imports "+imp)
		} else if chain := g.chain(imp, r); r.Deep && chain != nil {
			found = append(found, "imports "+strings.Join(chain, " -> "))
		}
	}
	for _, use := range f.Uses {
		if matches(r.NeverUse, use) {
			found = append(found, "uses "+use)
		}
	}
	return found
}

// graph is what each package of the module imports outside tests.
type graph map[string][]string

func newGraph(files []File) graph {
	g := make(graph)
	for _, f := range files {
		if !f.IsTest() {
			g[f.Package] = append(g[f.Package], f.Imports...)
		}
	}
	return g
}

// chain gives a shortest way from a package to an import that the rule forbids,
// nil if there is none. It does not lead through packages that the rule binds: a
// breach is theirs, and said once.
func (g graph) chain(from string, r Rule) []string {
	if len(r.Never) == 0 || r.bindsPackage(from) {
		return nil
	}
	seen := map[string]bool{from: true}
	for ways := [][]string{{from}}; len(ways) > 0; ways = ways[1:] {
		way := ways[0]
		for _, imp := range g[way[len(way)-1]] {
			longer := append(slices.Clone(way), imp)
			if matches(r.Never, imp) {
				return longer
			}
			if !seen[imp] && !r.bindsPackage(imp) {
				seen[imp] = true
				ways = append(ways, longer)
			}
		}
	}
	return nil
}

func matches(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return match(p, s) })
}

func match(pattern, s string) bool {
	if pattern == "std" {
		return isStd(s)
	}
	before, after, wild := strings.Cut(pattern, "...")
	if !wild {
		return s == pattern
	}
	if after == "" && s+"/" == before {
		return true
	}
	return len(s) >= len(before)+len(after) && strings.HasPrefix(s, before) && strings.HasSuffix(s, after)
}

// isStd reports whether an import is of the standard library: the first element
// of any other path has a dot in it, except in this module.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return first != Module && first != "C" && !strings.Contains(first, ".")
}
