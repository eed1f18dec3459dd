package archtest

import (
	"fmt"
	"slices"
	"strings"
)

// Rule restricts the imports of some packages. Patterns are import paths in which one
// "..." matches any text; as with the go command, "x/..." includes x itself. In Only and
// Never, "std" means the whole standard library.
type Rule struct {
	Name     string
	Packages []string // the packages that the rule restricts
	Except   []string // the packages among them that it does not restrict
	Tests    bool     // it also restricts test files
	Only     []string // nothing else may be imported
	Never    []string // must not be imported
	Deep     bool     // Never also applies to indirect imports through packages that the rule does not restrict
	NeverUse []string // names that must not be used: "os.Exit"
	Because  string
}

// Violation is one violation of a rule in one file.
type Violation struct {
	File    string
	Rule    string
	What    string
	Because string
}

func (v Violation) String() string {
	return fmt.Sprintf("%s: %s (%s), because %s", v.File, v.What, v.Rule, v.Because)
}

// Check returns the violations of the rules, ordered by rule and then by file.
func Check(rules []Rule, files []File) []Violation {
	g := newGraph(files)
	var found []Violation
	for _, r := range rules {
		for _, f := range files {
			if !r.applies(f) {
				continue
			}
			for _, what := range r.violations(f, g) {
				found = append(found, Violation{File: f.Name, Rule: r.Name, What: what, Because: r.Because})
			}
		}
	}
	return found
}

func (r Rule) applies(f File) bool { return r.appliesTo(f.Package) && (r.Tests || !f.IsTest()) }

func (r Rule) appliesTo(pkg string) bool {
	return matches(r.Packages, pkg) && !matches(r.Except, pkg)
}

func (r Rule) violations(f File, g graph) []string {
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

// graph maps each package of the module to its imports outside tests.
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

// chain returns a shortest chain of imports from a package to one that the rule forbids,
// or nil. It does not pass through packages that the rule restricts, because their
// violations are reported there.
func (g graph) chain(from string, r Rule) []string {
	if len(r.Never) == 0 || r.appliesTo(from) {
		return nil
	}
	seen := map[string]bool{from: true}
	for chains := [][]string{{from}}; len(chains) > 0; chains = chains[1:] {
		chain := chains[0]
		for _, imp := range g[chain[len(chain)-1]] {
			longer := append(slices.Clone(chain), imp)
			if matches(r.Never, imp) {
				return longer
			}
			if !seen[imp] && !r.appliesTo(imp) {
				seen[imp] = true
				chains = append(chains, longer)
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

// isStd reports whether an import is of the standard library. The first element of any
// other path contains a dot, except in this module.
func isStd(importPath string) bool {
	first, _, _ := strings.Cut(importPath, "/")
	return first != Module && first != "C" && !strings.Contains(first, ".")
}
