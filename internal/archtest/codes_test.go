package archtest

import (
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/constant"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"pdpp"
)

// The codes of errors are one closed table, code.go of the root package: product code
// names no other code, writes none as a literal, and raises every one of the table.
func TestErrorCodesAreClosed(t *testing.T) {
	raised := map[string]bool{}
	for _, p := range checkedPackages(t) {
		p.eachCode(func(n ast.Expr, parents []ast.Node, code string) {
			at := p.fset.Position(n.Pos())
			if filepath.Base(at.Filename) == "code.go" && p.path == Module {
				return // the table
			}
			_, literal := n.(*ast.BasicLit)
			foreign := strings.Contains(code, ".") // of other servers: recognized, never raised
			switch {
			case code == "" || foreign:
			case !slices.Contains(pdpp.Codes(), pdpp.Code(code)):
				t.Errorf("%s: the code %q is not in the table", at, code)
			case literal:
				t.Errorf("%s: the code %q is a literal: use its constant", at, code)
			case raises(parents):
				raised[code] = true
			}
		})
	}
	for _, code := range pdpp.Codes() {
		if !raised[string(code)] {
			t.Errorf("nothing raises the code %q of the table", code)
		}
	}
}

// raises reports whether a code is used to make an error, not to recognize one or to
// look something up by it.
func raises(parents []ast.Node) bool {
	switch n := parents[len(parents)-1].(type) {
	case *ast.BinaryExpr, *ast.CaseClause:
		return false
	case *ast.CompositeLit:
		_, list := n.Type.(*ast.ArrayType)
		return !list
	case *ast.KeyValueExpr:
		field, ok := n.Key.(*ast.Ident)
		return ok && strings.EqualFold(field.Name, "code")
	}
	return true
}

// The table of C-42 lists every code with its status and the meaning that code.go gives.
func TestErrorCodesAreDocumented(t *testing.T) {
	var want []string
	for _, m := range regexp.MustCompile(`(?m)^\tCode\w+ +Code += "(\w+)" +// (.*)$`).FindAllStringSubmatch(read(t, root+"/code.go"), -1) {
		if status := pdpp.Code(m[1]).Status(); status != 0 {
			want = append(want, fmt.Sprintf("| %d | `%s` | %s |", status, m[1], m[2]))
		}
	}
	_, section, _ := strings.Cut(read(t, root+"/docs/spec/rs-contract.md"), "- **C-42** Codes.")
	section, _, _ = strings.Cut(section, "- **C-43**")
	got := regexp.MustCompile(`(?m)^\| [0-9].*$`).FindAllString(section, -1)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("docs/spec/rs-contract.md differs from code.go (-code +docs):\n%s", diff)
	}
}

// checked is a type-checked package of product code.
type checked struct {
	path  string
	fset  *token.FileSet
	files []*ast.File
	info  types.Info
}

// eachCode visits the outermost constant expressions of type pdpp.Code.
func (p *checked) eachCode(visit func(n ast.Expr, parents []ast.Node, code string)) {
	for _, f := range p.files {
		var parents []ast.Node
		ast.Inspect(f, func(n ast.Node) bool {
			if n == nil {
				parents = parents[:len(parents)-1]
				return true
			}
			if e, ok := n.(ast.Expr); ok {
				tv := p.info.Types[e]
				if tv.Value != nil && tv.Value.Kind() == constant.String && tv.Type.String() == "pdpp.Code" {
					visit(e, parents, constant.StringVal(tv.Value))
					return false
				}
			}
			parents = append(parents, n)
			return true
		})
	}
}

// checkedPackages type-checks the packages of the module against the compiled forms of
// what they import.
func checkedPackages(t *testing.T) []*checked {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "go", "list", "-export", "-deps", "-json=ImportPath,Dir,GoFiles,Export", "./...")
	cmd.Dir = root
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	exports := map[string]string{}
	var list []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		exports[p.ImportPath] = p.Export
		if path, _, _ := strings.Cut(p.ImportPath, "/"); path == Module && !strings.HasSuffix(p.ImportPath, "test") {
			list = append(list, p)
		}
	}
	fset := token.NewFileSet()
	imports := importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) })
	var all []*checked
	for _, p := range list {
		all = append(all, p.check(t, fset, imports))
	}
	return all
}

// listed is a package as go list describes it.
type listed struct {
	ImportPath, Dir, Export string
	GoFiles                 []string
}

func (p listed) check(t *testing.T, fset *token.FileSet, imports types.Importer) *checked {
	t.Helper()
	c := &checked{path: p.ImportPath, fset: fset, info: types.Info{Types: map[ast.Expr]types.TypeAndValue{}}}
	for _, name := range p.GoFiles {
		f, err := parser.ParseFile(fset, filepath.Join(p.Dir, name), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		c.files = append(c.files, f)
	}
	if _, err := (&types.Config{Importer: imports}).Check(p.ImportPath, fset, c.files, &c.info); err != nil {
		t.Fatal(err)
	}
	return c
}
