package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"strings"
	"time"

	"github.com/alecthomas/kong"

	"pdpp"
)

// Env is what the process is given.
type Env struct {
	Program string   // how this program was called
	Args    []string // without the program
	Stdin   io.Reader
	Stdout  io.Writer
	Stderr  io.Writer
	Getenv  func(string) string
	Environ func() []string // nil: nothing is set
	Now     func() time.Time
}

// app is one run of the program.
type app struct {
	Env
	*globals
	color    bool // bars and colours may be shown (H-8)
	newStore bool // a store may be made beside what is left of another
}

// Main runs one command and gives the exit code (H-6). When ctx ends, a server
// stops in good order and everything else is interrupted.
func Main(ctx context.Context, env Env) (code int) {
	defer func() {
		switch v := recover().(type) {
		case nil:
		case helpShown:
			code = 0
		default:
			// The value may hold data; the stack names only places.
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
	if err = a.refuseForeign(chosen.Selected()); err == nil {
		err = chosen.Run(a)
	}
	if pdpp.CodeOf(err) == pdpp.CodeUsage {
		return failUsage(parser, env, err)
	}
	return fail(env, err, jsonWanted(chosen))
}

// synonyms replaces words that people try first, and the former name of a command.
func synonyms(args []string) []string {
	if len(args) == 0 {
		return args
	}
	switch args[0] {
	case "help":
		return append(slices.Clone(args[1:]), "--help")
	case "--version":
		return append([]string{"version"}, args[1:]...)
	case "token":
		return append([]string{"credentials"}, args[1:]...)
	}
	return args
}

// helpShown is how the parser leaves after --help: it believes to have ended the
// process.
type helpShown struct{}

func newParser(root *commands, env Env) (*kong.Kong, error) {
	return kong.New(root,
		kong.Name("pdpp"),
		kong.Description("A personal data server: your records, read by others only under grants you can take back."),
		kong.Writers(env.Stdout, env.Stderr),
		kong.Exit(func(int) { panic(helpShown{}) }),
		kong.Help(printHelp),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, WrapUpperBound: 100}),
		kong.Resolvers(fromEnvironment(env.Getenv)),
		kong.ValueFormatter(showVariable),
	)
}

// adapter is the command whose standard output belongs to a protocol (MS-268).
const adapter = "mcp"

// foreign are the global flags that mean nothing to a command (H-6): most of these
// commands have no store.
var foreign = map[string][]string{
	adapter: {"data", "owner"}, "setup": {"data", "owner"}, "credentials": {"data", "owner"}, "version": {"data", "owner"}, "demo": {"owner"},
}

// top is the command of the first level that a command belongs to; "" for none.
func top(chosen *kong.Node) string {
	name := ""
	for ; chosen != nil && chosen.Type != kong.ApplicationNode; chosen = chosen.Parent {
		name = chosen.Name
	}
	return name
}

// refuseForeign refuses flags that would mean nothing.
func (a *app) refuseForeign(chosen *kong.Node) error {
	given := map[string]string{"data": a.Data, "owner": a.Owner}
	for _, name := range foreign[top(chosen)] {
		if given[name] != "" {
			return pdpp.Errorf(pdpp.CodeUsage, "--%s means nothing to %s.", name, top(chosen))
		}
	}
	return nil
}

// printHelp is the usual help, without flags that would mean nothing; that of the
// adapter goes to standard error. The demo has a folder of its own and does not look at
// the variable.
func printHelp(options kong.HelpOptions, ctx *kong.Context) error {
	command := top(ctx.Selected())
	if command == adapter {
		ctx.Stdout = ctx.Stderr
	}
	for _, f := range ctx.Flags() {
		f.Hidden = f.Hidden || slices.Contains(foreign[command], f.Name)
		if command == "demo" && f.Name == "data" {
			f.Help = "Data folder (default: one of the demo's own)."
		}
	}
	return kong.DefaultHelpPrinter(options, ctx)
}

// failUsage reports a wrong command line: one line and the usage (H-6). An error
// with a hint says itself what to write instead, and a program reads no usage.
func failUsage(parser *kong.Kong, env Env, err error) int {
	var parse *kong.ParseError
	var context *kong.Context
	short := len(env.Args) > 0 // nothing at all: the list of commands
	if errors.As(err, &parse) {
		context = parse.Context
		err = pdpp.Errorf(pdpp.CodeUsage, "%s", parseMessage(parse, env.Args))
		if isGroupAlone(context, env.Args) {
			context.Path = context.Path[:len(context.Path)-1]
			short, err = false, pdpp.Errorf(pdpp.CodeUsage, "A command is needed.")
		}
	}
	asJSON := slices.Contains(env.Args, "--json") && !isAdapter(context)
	code := fail(env, err, asJSON)
	var e *pdpp.Error
	if asJSON || errors.As(err, &e) && e.Hint != "" {
		return code
	}
	if context == nil {
		// Parsing went well; doing it again finds the command to explain.
		context, _ = kong.Trace(parser, env.Args)
	}
	if context != nil {
		parser.Stdout = env.Stderr
		_ = context.PrintUsage(short)
	}
	return code
}

// isGroupAlone reports whether only a group was named, whose default command was then
// chosen. People want to see what the group has.
func isGroupAlone(context *kong.Context, args []string) bool {
	chosen := context.Selected()
	return chosen != nil && chosen.Parent != nil && chosen.Parent.DefaultCmd == chosen && args[len(args)-1] == chosen.Parent.Name
}

// isAdapter reports whether the adapter was called, as far as parsing came.
func isAdapter(context *kong.Context) bool {
	return context != nil && context.Selected() != nil && context.Selected().Name == adapter
}

func parseMessage(err error, args []string) string {
	if len(args) == 0 {
		return "A command is needed."
	}
	text := strings.TrimRight(err.Error(), "., ")
	if strings.HasSuffix(text, "?") {
		return text
	}
	return text + "."
}

// jsonWanted reports whether the command was asked for JSON.
func jsonWanted(chosen *kong.Context) bool {
	for _, f := range chosen.Flags() {
		if f.Name == "json" {
			return f.Target.Bool()
		}
	}
	return false
}
