package archtest

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strings"
	"unicode"
)

// Phrase is a phrase that comments and names must not contain, and the usual term.
type Phrase struct {
	Text    string
	Instead string
	Name    bool // also not a word of an identifier
}

// Phrases are pictures that readers of Go, the RFCs and MCP do not expect.
var Phrases = []Phrase{
	{"lent", "a pooled or reused buffer", true},
	{"in the making", "being built", false},
	{"who asks", "the client or the caller", false},
	{"asker", "client or caller", true},
	{"judged", "authenticated, checked or detected", true},
	{"found good", "valid", false},
	{"good token", "valid token", false},
	{"bad token", "invalid token", false},
	{"wish", "params", true},
	{"way on", "recovery or next step", false},
	{"fate", "placement or result", true},
	{"seat", "member", true},
	{"is told", "receives", false},
	{"that is none", "is not valid", false},
	{"what is not there", "missing", false},
	{"stands in", "is in", false},
	{"the how-manieth", "index", false},
}

// CheckLanguage returns the phrases in comments and names of the Go files below dir, once
// for each file.
func CheckLanguage(dir string, phrases []Phrase) ([]Violation, error) {
	var found []Violation
	err := eachFile(dir, ".go", func(name string, src []byte) error {
		tree, err := parser.ParseFile(token.NewFileSet(), name, src, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("archtest: %w", err)
		}
		comments, names := wordsOf(tree)
		for _, p := range phrases {
			pattern := regexp.MustCompile(`(?i)\b` + p.Text + `\b`)
			if pattern.MatchString(comments) || p.Name && pattern.MatchString(names) {
				found = append(found, Violation{
					File: name, Rule: "language", What: fmt.Sprintf("says %q", p.Text), Because: "the usual term is " + p.Instead,
				})
			}
		}
		return nil
	})
	return found, err
}

// wordsOf returns the text of the comments of a file, and the words of its identifiers.
func wordsOf(tree *ast.File) (comments, names string) {
	var text, words strings.Builder
	for _, c := range tree.Comments {
		text.WriteString(strings.Join(strings.Fields(c.Text()), " ") + "\n")
	}
	ast.Inspect(tree, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			words.WriteString(spaced(id.Name) + "\n")
		}
		return true
	})
	return text.String(), words.String()
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
