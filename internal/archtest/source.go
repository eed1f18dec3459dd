package archtest

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
)

// Module is the path of the module whose files are read.
const Module = "pdpp"

// File holds the facts about one Go file that the rules need.
type File struct {
	Package string // import path
	Name    string // path from the module root, with slashes
	Main    bool   // belongs to a program, not a library
	Lines   int
	Imports []string
	Uses    []string // names of imported packages that the file uses: "os.Getenv"
	Dot     bool     // has a dot import
	Init    bool     // declares an init function
	HasDoc  bool     // has a package comment
}

// IsTest reports whether the file is for tests only: by its name, or because the name of
// its package ends in "test".
func (f File) IsTest() bool {
	return strings.HasSuffix(f.Name, "_test.go") || strings.HasSuffix(f.Package, "test")
}

// Load parses every Go file of the module rooted at dir in path order, except testdata,
// hidden folders and nested modules.
func Load(dir string) ([]File, error) {
	var files []File
	err := eachFile(dir, ".go", func(name string, src []byte) error {
		f, err := Parse(name, src)
		files = append(files, f)
		return err
	})
	return files, err
}

// eachFile visits the files of the module with a suffix, by slashed path.
func eachFile(dir, suffix string, visit func(name string, src []byte) error) error {
	return filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != dir && skipDir(name, d.Name()):
			return filepath.SkipDir
		case d.IsDir() || !strings.HasSuffix(name, suffix):
			return nil
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		src, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		return visit(filepath.ToSlash(rel), src)
	})
}

func skipDir(dir, base string) bool {
	if base == "testdata" || base == "vendor" || strings.HasPrefix(base, ".") || strings.HasPrefix(base, "_") {
		return true
	}
	_, err := os.Stat(filepath.Join(dir, "go.mod"))
	return err == nil
}

// Parse parses one Go file. name is its path from the module root, with slashes.
func Parse(name string, src []byte) (File, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		return File{}, fmt.Errorf("archtest: %w", err)
	}
	f := File{
		Package: path.Join(Module, path.Dir(name)),
		Name:    name,
		Main:    tree.Name.Name == "main",
		Lines:   bytes.Count(src, []byte("\n")),
		HasDoc:  tree.Doc != nil && strings.TrimSpace(tree.Doc.Text()) != "",
	}
	names := make(map[string]string) // local name -> import path
	for _, spec := range tree.Imports {
		p, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			return File{}, fmt.Errorf("archtest: %s: import %s: %w", name, spec.Path.Value, err)
		}
		f.Imports = append(f.Imports, p)
		local := localName(spec, p)
		f.Dot = f.Dot || local == "."
		names[local] = p
	}
	for _, decl := range tree.Decls {
		fn, ok := decl.(*ast.FuncDecl)
		f.Init = f.Init || ok && fn.Recv == nil && fn.Name.Name == "init"
	}
	f.Uses = uses(tree, names)
	return f, nil
}

var majorVersion = regexp.MustCompile(`^v[0-9]+$`)

func localName(spec *ast.ImportSpec, importPath string) string {
	if spec.Name != nil {
		return spec.Name.Name
	}
	base := path.Base(importPath)
	if majorVersion.MatchString(base) {
		base = path.Base(path.Dir(importPath))
	}
	return base
}

// uses returns the qualified names in a file. It takes a local variable that shadows an
// import for the import.
func uses(tree *ast.File, names map[string]string) []string {
	var list []string
	seen := make(map[string]bool)
	ast.Inspect(tree, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		id, ok := sel.X.(*ast.Ident)
		if !ok {
			return true
		}
		p, ok := names[id.Name]
		if use := p + "." + sel.Sel.Name; ok && !seen[use] {
			seen[use] = true
			list = append(list, use)
		}
		return true
	})
	return list
}
