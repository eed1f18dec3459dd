package cli

import (
	"errors"
	"regexp"
	"slices"
	"strings"

	"github.com/alecthomas/kong"

	"pdpp"
)

// failUsage prints what is wrong with a command line (H-6), then what to write. That is
// the hint of the error, or else the usage of the command, or its --help with --json.
func failUsage(parser *kong.Kong, env Env, err error) int {
	var parse *kong.ParseError
	var context *kong.Context
	if errors.As(err, &parse) {
		context = parse.Context
		err = usageError(context, parse.Unwrap(), env.self())
	} else {
		// The command line was parsed; tracing it again finds the command to explain.
		context, _ = kong.Trace(parser, env.Args)
	}
	asJSON := slices.Contains(env.Args, "--json") && !isAdapter(context)
	if asJSON {
		err = hinted(err, "For help, run: "+strings.Join(append([]string{env.self()}, commandPath(context.Selected())...), " ")+" "+helpFlag)
	}
	code := fail(env, err, asJSON)
	var e *pdpp.Error
	if errors.As(err, &e) && e.Hint == "" {
		parser.Stdout = env.Stderr
		_ = context.PrintUsage(len(env.Args) > 0) // nothing at all: the list of commands
	}
	return code
}

// usageError returns the error of a command line that cannot be parsed.
func usageError(context *kong.Context, cause error, self string) error {
	text, guess, _ := strings.Cut(cause.Error(), ", did you mean ")
	node := context.Selected()
	if node == nil {
		node = context.Model.Node
	}
	path := commandPath(context.Selected())
	names := commandNames(node)
	word, isArgument := strings.CutPrefix(text, "unexpected argument ")
	var e *pdpp.Error
	switch {
	case len(context.Args) == 0:
		return pdpp.Errorf(pdpp.CodeUsage, "A command is needed.")
	case len(names) == 0 || !isArgument && !strings.HasPrefix(text, "expected "):
		return pdpp.Errorf(pdpp.CodeUsage, "%s", withGuess(parseMessage(text), guess))
	case isArgument:
		e = pdpp.Errorf(pdpp.CodeUsage, "%s", withGuess("There is no command "+strings.Join(append(path, plain(word)), " ")+".", guess))
	default:
		e = pdpp.Errorf(pdpp.CodeUsage, "%s needs a command.", strings.Join(append([]string{"pdpp"}, path...), " "))
	}
	e.Hint = "To list the commands, run: " + strings.Join(append([]string{self, "help"}, path...), " ")
	if len(path) > 0 {
		e.Hint = "Choose one of: " + strings.Join(names, ", ") + ". For help, run: " + strings.Join(append([]string{self, "help"}, path...), " ")
	}
	return e
}

// withGuess adds the names that a mistyped one may stand for, as the parser lists them.
func withGuess(message, guess string) string {
	if guess == "" {
		return message
	}
	return message + " Did you mean " + guess
}

// commandNames returns the names of the commands of a group; none for a command.
func commandNames(node *kong.Node) (names []string) {
	for _, child := range node.Children {
		names = append(names, child.Name)
	}
	return names
}

// isAdapter reports whether the parser found the adapter's command before it failed.
func isAdapter(context *kong.Context) bool {
	return context.Selected() != nil && context.Selected().Name == adapter
}

// parseMessages rewrites messages of the parser as sentences.
var parseMessages = []struct {
	parser   *regexp.Regexp
	sentence string
}{
	{regexp.MustCompile(`^unknown flag (.*)$`), "There is no flag $1."},
	{regexp.MustCompile(`^unexpected argument (.*)$`), "The argument $1 is one too many."},
	{regexp.MustCompile(`^expected "(<.*)"$`), "An argument is missing: $1."},
	{regexp.MustCompile(`^missing positional arguments (<.*)$`), "An argument is missing: $1."},
	{regexp.MustCompile(`^missing flags: (.*)$`), "A flag is missing: $1."},
	{regexp.MustCompile(`^(--[a-z-]+): (?:expected .* value but got "EOL".*|expected .*perhaps try.*)$`), "$1 needs a value."},
	{regexp.MustCompile(`^(--[a-z-]+)(?:=\S+)? must be one of (.*) but got (".*")$`), "$1 does not accept $3: choose from $2."},
}

// parseMessage returns a message of the parser as a sentence.
func parseMessage(text string) string {
	for _, m := range parseMessages {
		if m.parser.MatchString(text) {
			return strings.ReplaceAll(m.parser.ReplaceAllString(text, m.sentence), `","`, `", "`)
		}
	}
	return strings.ToUpper(text[:1]) + strings.TrimRight(text[1:], ".") + "."
}
