package archtest

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Demand is a row of docs/spec/requirements.md.
type Demand struct {
	ID      string
	Session bool // marked ◆: to be seen in a session of a real client
}

var requirementRow = regexp.MustCompile(`(?m)^\| ([A-Z]+-\d+)( ◆\w*)? \|`)

// SpecRequirements are the ids of the specification, in its order.
func SpecRequirements(spec string) (list []Demand) {
	for _, m := range requirementRow.FindAllStringSubmatch(spec, -1) {
		list = append(list, Demand{m[1], m[2] != ""})
	}
	return list
}

// Proof is a test that carries the id of a requirement in its name.
type Proof struct {
	Folder, Test string
	Cases        int // subtests with the id
}

// Proofs finds the tests below dir by the ids that start the names of their subtests. What a test prints is no name.
func Proofs(dir string) (map[string][]Proof, error) {
	found := map[string][]Proof{}
	err := eachFile(dir, "_test.go", func(name string, src []byte) error { return proofsIn(found, name, src) })
	return found, err
}

func proofsIn(found map[string][]Proof, name string, src []byte) error {
	tree, err := parser.ParseFile(token.NewFileSet(), name, src, parser.SkipObjectResolution)
	if err != nil {
		return fmt.Errorf("archtest: %w", err)
	}
	folder := name[:max(0, strings.LastIndexByte(name, '/'))]
	for _, decl := range tree.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		if !ok || fn.Recv != nil || !testName.MatchString(fn.Name.Name) {
			continue
		}
		for id, n := range caseIDs(fn) {
			found[id] = append(found[id], Proof{folder, fn.Name.Name, n})
		}
	}
	return nil
}

var (
	testName   = regexp.MustCompile(`^(Test|Fuzz)[A-Z]`)
	leadingIDs = regexp.MustCompile(`^([A-Z]+-\d+(\s|$))+`)
)

// caseIDs counts the names of subtests by the ids they start with: what is given to
// Run, and what stands in the tables of a function that calls Run.
func caseIDs(fn *ast.FuncDecl) map[string]int {
	ids := map[string]int{}
	runs := false
	note := func(e ast.Expr) {
		for _, id := range strings.Fields(leadingIDs.FindString(literal(e))) {
			ids[id]++
		}
	}
	ast.Inspect(fn, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.CallExpr:
			if sel, ok := n.Fun.(*ast.SelectorExpr); ok && sel.Sel.Name == "Run" && len(n.Args) == 2 {
				runs = true
				note(n.Args[0])
			}
		case *ast.CompositeLit:
			for _, e := range n.Elts {
				note(e)
			}
		case *ast.KeyValueExpr:
			note(n.Key)
			note(n.Value)
		}
		return true
	})
	if !runs {
		return nil
	}
	return ids
}

// literal is the text that an expression starts with, as far as it is written out.
func literal(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.BasicLit:
		if s, err := strconv.Unquote(e.Value); err == nil && e.Kind == token.STRING {
			return s
		}
	case *ast.BinaryExpr:
		return literal(e.X)
	case *ast.CallExpr: // fmt.Sprintf("…")
		if len(e.Args) > 0 {
			return literal(e.Args[0])
		}
	}
	return ""
}

// Coverage writes docs/requirements.md.
func Coverage(spec []Demand, found map[string][]Proof) string {
	var b strings.Builder
	b.WriteString("# Requirements and their tests\n\n" +
		"<!-- Made by: go test ./internal/archtest -run Requirements -update -->\n\n" +
		"Which tests carry the ids of `docs/spec/requirements.md` at the start of their names (`FILTER-3 a range…`), and how many there are of each.\n" +
		"Rows with ◆ must also be seen in a session of a real client.\n\n")
	var missing []string
	for _, r := range spec {
		if len(found[r.ID]) == 0 {
			missing = append(missing, r.ID)
		}
	}
	fmt.Fprintf(&b, "%d of %d requirements have a test.", len(spec)-len(missing), len(spec))
	if len(missing) > 0 {
		fmt.Fprintf(&b, " There is no test yet for: %s.", strings.Join(missing, ", "))
	}
	b.WriteString("\n\n| requirement | tests |\n|---|---|\n")
	for _, r := range spec {
		id := r.ID
		if r.Session {
			id += " ◆"
		}
		fmt.Fprintf(&b, "| %s | %s |\n", id, proofList(found[r.ID]))
	}
	return b.String()
}

// proofList names tests by folder.
func proofList(list []Proof) string {
	if len(list) == 0 {
		return "missing"
	}
	byFolder := map[string][]string{}
	slices.SortFunc(list, func(a, b Proof) int { return cmp.Or(cmp.Compare(a.Folder, b.Folder), cmp.Compare(a.Test, b.Test)) })
	for _, p := range list {
		byFolder[p.Folder] = append(byFolder[p.Folder], fmt.Sprintf("`%s` (%d)", p.Test, p.Cases))
	}
	var parts []string
	for _, folder := range slices.Sorted(maps.Keys(byFolder)) {
		parts = append(parts, folder+": "+strings.Join(byFolder[folder], ", "))
	}
	return strings.Join(parts, "; ")
}
