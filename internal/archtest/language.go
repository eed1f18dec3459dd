package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path"
	"regexp"
	"strings"
	"unicode"
)

// Phrase is a phrase that comments must not contain, and the usual term.
type Phrase struct {
	Text    string
	Instead string
	Name    bool // nor an identifier, as a word
	Message bool // nor a string of the program; strings of tests are data
}

// Phrases are phrases that readers of Go, the RFCs and MCP do not expect, or have to read
// twice.
var Phrases = []Phrase{
	{Text: "lent", Instead: "a pooled or reused buffer", Name: true},
	{Text: "in the making", Instead: "being built"},
	{Text: "who asks", Instead: "the client or the caller"},
	{Text: "asker", Instead: "client or caller", Name: true},
	{Text: "judged", Instead: "authenticated, checked or detected", Name: true},
	{Text: "found good", Instead: "valid"},
	{Text: "good token", Instead: "valid token"},
	{Text: "bad token", Instead: "invalid token"},
	{Text: "wish", Instead: "params", Name: true},
	{Text: "way on", Instead: "recovery or next step"},
	{Text: "fate", Instead: "placement or result", Name: true},
	{Text: "seat", Instead: "member", Name: true},
	{Text: "is told", Instead: "receives"},
	{Text: "that is none", Instead: "is not valid"},
	{Text: "what is not there", Instead: "missing"},
	{Text: "stands in", Instead: "is in"},
	{Text: "the how-manieth", Instead: "index"},
	{Text: "so many", Instead: "the number, or the name of the parameter", Message: true},
	{Text: "but for", Instead: "except", Message: true},
	{Text: "goes with", Instead: "requires, or belongs to", Message: true},
	{Text: "reports a", Instead: "reports whether", Message: true},
	{Text: "reports an", Instead: "reports whether", Message: true},
	{Text: "nil: none", Instead: "nil if there is none", Message: true},
}

// CheckLanguage returns the phrases in comments, names and strings of the Go files below
// dir, once for each file.
func CheckLanguage(dir string, phrases []Phrase) ([]Violation, error) {
	var found []Violation
	err := eachFile(dir, ".go", func(name string, src []byte) error {
		tree, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("archtest: %w", err)
		}
		w := wordsOf(tree)
		if strings.HasSuffix(name, "_test.go") || path.Dir(name) == "internal/archtest" { // which lists them
			w.messages = ""
		}
		for _, p := range phrases {
			pattern := regexp.MustCompile(`(?i)\b` + p.Text + `\b`)
			if pattern.MatchString(w.comments) || p.Name && pattern.MatchString(w.names) || p.Message && pattern.MatchString(w.messages) {
				found = append(found, Violation{
					File: name, Rule: "language", What: fmt.Sprintf("says %q", p.Text), Because: "the usual term is " + p.Instead,
				})
			}
		}
		return nil
	})
	return found, err
}

// words are the texts of a file: its comments, the words of its identifiers, and its
// string literals.
type words struct{ comments, names, messages string }

func wordsOf(tree *ast.File) words {
	var comments, names, messages strings.Builder
	for _, c := range tree.Comments {
		comments.WriteString(strings.Join(strings.Fields(c.Text()), " ") + "\n")
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.Ident:
			names.WriteString(spaced(n.Name) + "\n")
		case *ast.BasicLit:
			messages.WriteString(n.Value + "\n")
		}
		return true
	})
	return words{comments.String(), names.String(), messages.String()}
}

// spaced returns the words of an identifier with spaces between them.
func spaced(name string) string {
	var b strings.Builder
	for _, r := range name {
		if unicode.IsUpper(r) {
			b.WriteByte(' ')
		}
		b.WriteRune(r)
	}
	return b.String()
}
