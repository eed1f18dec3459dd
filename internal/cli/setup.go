package cli

import (
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
	"pdpp/internal/setup"
)

// setupCommand is `pdpp setup` (H-185b). It shows how to connect a program, the
// recommended way first. Its answers never contain a token.
type setupCommand struct {
	Client string `arg:"" optional:"" help:"Program to connect; without it: list the programs."`
	URL    string `name:"url" var:"PDPP_PROVIDER_URL" placeholder:"URL" help:"Server to read (default: the only one with a saved credential)."`
	cacheFlag
	jsonFlag
}

// Run implements the command.
func (c *setupCommand) Run(a *app) error {
	if c.Client == "" {
		return c.list(a)
	}
	if !slices.Contains(clientNames(), c.Client) {
		return &pdpp.Error{Code: pdpp.CodeUsage, Message: "There is no recipe for " + plain(c.Client) + ".", Hint: "Choose one of: " + strings.Join(clientNames(), ", ") + "."}
	}
	cache, err := a.cache(c.cacheFlag)
	if err != nil {
		return err
	}
	at := setup.Place{Program: absoluteProgram(a.Program)}
	if at.Base, err = c.provider(a, cache); err != nil {
		return err
	}
	if c.CacheRoot != "" {
		if at.CacheRoot, err = filepath.Abs(c.CacheRoot); err != nil {
			return err
		}
	}
	_, err = cache.Choose(at.Base, "")
	if at.Connected = err == nil; pdpp.CodeOf(err) != pdpp.CodeNotConnected && err != nil {
		a.note("pdpp: the saved credential cannot be used: %s", pdpp.CodeOf(err))
	}
	answer, _ := setup.For(c.Client, at)
	if c.JSON {
		return a.printJSON(answer)
	}
	return a.print(setupText(answer, at.Base))
}

func clientNames() []string {
	var names []string
	for _, c := range setup.Clients() {
		names = append(names, c.Name)
	}
	return names
}

func (c *setupCommand) list(a *app) error {
	if c.JSON {
		return a.printJSON(map[string][]string{"clients": clientNames()})
	}
	rows := [][]string{}
	for _, c := range setup.Clients() {
		rows = append(rows, []string{c.Name, c.Title})
	}
	return a.print(table(rows...) + "\n" + a.next(setupFor(c.URL, c.CacheRoot)))
}

// provider returns the server of --url, or the only one with a saved credential.
func (c *setupCommand) provider(a *app, cache *credential.Cache) (string, error) {
	if c.URL != "" {
		return credential.Provider(c.URL)
	}
	all, err := cache.All()
	if err != nil {
		return "", err
	}
	providers := map[string]bool{}
	for _, cred := range all {
		providers[cred.Provider] = true
	}
	if len(providers) != 1 {
		return "", &pdpp.Error{
			Code: pdpp.CodeUsage, Message: "The server is not specified. Name it with --url URL.",
			Hint: "To list servers with a saved credential, run: " + a.self() + " credentials list",
		}
	}
	return all[0].Provider, nil
}

// setupText returns an answer for people: the recommended way first.
func setupText(answer setup.Answer, provider string) string {
	var b strings.Builder
	b.WriteString(answer.Title + ", reading " + provider + "\n\n")
	writeRecipe(&b, answer.Recommended)
	if !answer.Unreachable {
		b.WriteString("Then try: \"" + setup.Try + "\"\n" + setup.Note + "\n\n")
	}
	for _, other := range answer.Alternatives {
		b.WriteString("Another way\n\n")
		writeRecipe(&b, other)
	}
	return strings.TrimRight(b.String(), "\n") + "\n"
}

// writeRecipe writes the steps, numbered if there are several, and what is to be copied.
func writeRecipe(b *strings.Builder, r setup.Recipe) {
	for i, step := range r.Steps {
		if len(r.Steps) > 1 {
			b.WriteString(strconv.Itoa(i+1) + ". ")
		}
		b.WriteString(step.Text + "\n\n")
		for line := range strings.Lines(step.Snippet) {
			b.WriteString("    " + line)
		}
		if step.Snippet != "" {
			b.WriteString("\n")
		}
	}
}

// absoluteProgram returns the full path of this program. Programs that start it may search
// other folders than the shell does.
func absoluteProgram(called string) string {
	path, err := exec.LookPath(called)
	if err == nil {
		path, err = filepath.Abs(path)
	}
	if err != nil {
		return called
	}
	return path
}
