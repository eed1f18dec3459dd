package cli

import (
	"context"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"pdpp"
)

// Env is the environment of the process: arguments, standard streams, variables, clock.
type Env struct {
	Program string   // the name under which this program was called
	Args    []string // without the program
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Environ func() []string // nil: no variables
	Now     func() time.Time
}

// app is one run of the program.
type app struct {
	Env
	*globals
	color    bool // progress bars and colours are allowed (H-8)
	newStore bool // a new store may be created next to the remains of a lost one
}

// Main runs one command and returns its exit code (H-6). When ctx ends, a server shuts
// down gracefully and every other command is interrupted.
func Main(ctx context.Context, env Env) (code int) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case helpShown:
			code = 0
		default:
			// The value may contain data; the stack contains only code positions.
			fmt.Fprintf(env.Stderr, "pdpp: unexpected failure (%T)\n%s", v, debug.Stack())
			code = exitFailure
		}
	}()
	env.Args = synonyms(env.Args)
	root := new(commands)
	parser, err := newParser(root, env)
	if err != nil {
		return fail(env, err, false)
	}
	chosen, err := parser.Parse(env.Args)
	if err != nil {
		return failUsage(parser, env, err)
	}
	a := &app{Env: env, globals: &root.globals}
	a.color = isTerminal(env.Stderr) && env.Getenv("NO_COLOR") == "" && !root.Quiet
	chosen.BindTo(ctx, (*context.Context)(nil))
	if err = a.refuseUnused(chosen.Selected()); err == nil {
		err = chosen.Run(a)
	}
	if pdpp.CodeOf(err) == pdpp.CodeUsage {
		return failUsage(parser, env, err)
	}
	return fail(env, err, jsonWanted(chosen))
}

// helpFlag asks for help. Before the command it is not an argument of the adapter.
const helpFlag = "--help"

// synonyms replaces words that people try first, and the former name of a command.
func synonyms(args []string) []string {
	if len(args) == 0 {
		return args
	}
	rest := args[1:]
	switch args[0] {
	case "help":
		return append([]string{helpFlag}, rest...)
	case "--version":
		return append([]string{"version"}, rest...)
	case "token", "credentials":
		if len(rest) > 0 && strings.ContainsAny(rest[0], ".:") { // a server: no command has such a name
			rest = append([]string{"show"}, rest...)
		}
		return append([]string{"credentials"}, rest...)
	}
	return args
}

// helpShown is the panic with which Main leaves the parser after --help. The parser
// expects its Exit function to end the process.
type helpShown struct{}

func newParser(root *commands, env Env) (*kong.Kong, error) {
	return kong.New(root,
		kong.Name(env.self()),
		kong.Description("A personal data server: your records, read by others only under grants that you can revoke."),
		kong.Writers(env.Stdout, env.Stderr),
		kong.Exit(func(int) { panic(helpShown{}) }),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Resolvers(fromEnvironment(env.Getenv)),
		kong.ValueFormatter(showVariable),
	)
}

// adapter is the command whose standard output carries only MCP messages (MS-268).
const adapter = "mcp"

// unusedGlobals are the global flags that a command, or every command of a group, does
// not accept (H-6).
var unusedGlobals = map[string][]string{
	adapter: {"data", "owner"}, "connect": {"data", "owner"}, "setup": {"data", "owner"}, "credentials": {"data", "owner"}, "version": {"data", "owner"},
	"demo": {"owner"}, "backup": {"owner"}, "blobs": {"owner"}, "doctor": {"owner"}, "owner list": {"owner"}, "owner create": {"owner"},
}

// commandPath returns the words of a command, such as "owner list"; nil for none.
func commandPath(chosen *kong.Node) (words []string) {
	for ; chosen != nil && chosen.Type != kong.ApplicationNode; chosen = chosen.Parent {
		words = append([]string{chosen.Name}, words...)
	}
	return words
}

// unusedFlags returns the global flags that a command does not accept.
func unusedFlags(path []string) []string {
	if len(path) == 0 {
		return nil
	}
	return append(unusedGlobals[strings.Join(path, " ")], unusedGlobals[path[0]]...)
}

// refuseUnused refuses global flags that the command does not accept.
func (a *app) refuseUnused(chosen *kong.Node) error {
	given := map[string]string{"data": a.Data, "owner": a.Owner}
	path := commandPath(chosen)
	for _, name := range unusedFlags(path) {
		if given[name] != "" {
			return pdpp.Errorf(pdpp.CodeUsage, "--%s is not valid for pdpp %s.", name, strings.Join(path, " "))
		}
	}
	return nil
}

// printHelp prints the usual help without the flags that the command does not accept.
// Help that is asked of the adapter itself goes to standard error (H-6). The demo has its
// own default folder and ignores $PDPP_DATA_DIR.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	path := commandPath(ctx.Selected())
	command := strings.Join(path, " ")
	if command == adapter && ctx.Args[0] != helpFlag {
		ctx.Stdout = ctx.Stderr
	}
	for _, f := range ctx.Flags() {
		f.Hidden = f.Hidden || slices.Contains(unusedFlags(path), f.Name)
		if command == "demo" && f.Name == "data" {
			f.Help = "Data folder (default: one of the demo's own)."
		}
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// jsonWanted reports whether the command line has --json.
func jsonWanted(chosen *kong.Context) bool {
	for _, f := range chosen.Flags() {
		if f.Name == "json" {
			return f.Target.Bool()
		}
	}
	return false
}
