package cli

import (
	"os/exec"
	"path/filepath"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
)

// setupCommand is `pdpp setup` (H-185b): how a program is connected, one way first.
// There is never a token in it.
type setupCommand struct {
	Client string `arg:"" optional:"" help:"The program to connect; without it: the list of them."`
	URL    string `name:"url" var:"PDPP_PROVIDER_URL" placeholder:"URL" help:"The server to read (default: the one with a saved credential)."`
	cacheFlag
	jsonFlag
}

// setupAnswer is the object of H-185c.
type setupAnswer struct {
	Client       string   `json:"client"`
	Recommended  recipe   `json:"recommended"`
	Alternatives []recipe `json:"alternatives"`
	CheckedOn    *string  `json:"checked_on"` // null: not tried with the program itself
}

// Run implements the command.
func (c *setupCommand) Run(a *app) error {
	if c.Client == "" {
		return c.list(a)
	}
	h, ok := findHost(c.Client)
	if !ok {
		return &pdpp.Error{Code: pdpp.CodeUsage, Message: "There is no recipe for " + plain(c.Client) + ".", Hint: "There is: " + strings.Join(hostNames(), ", ") + "."}
	}
	cache, err := a.cache(c.cacheFlag)
	if err != nil {
		return err
	}
	provider, err := c.provider(cache)
	if err != nil {
		return err
	}
	l := launch{program: absoluteProgram(a.Program), provider: provider}
	if c.CacheRoot != "" {
		if l.cacheRoot, err = filepath.Abs(c.CacheRoot); err != nil {
			return err
		}
	}
	answer := setupAnswer{Client: h.name, Recommended: h.recommended(l), Alternatives: []recipe{}}
	if h.other != nil {
		answer.Alternatives = append(answer.Alternatives, h.other(l))
	}
	if _, err := cache.Choose(provider, ""); err != nil {
		answer.Recommended.Steps = append([]string{saveStep(l, err)}, answer.Recommended.Steps...)
	}
	if c.JSON {
		return a.printJSON(answer)
	}
	return a.print(answer.text(h, provider))
}

func (c *setupCommand) list(a *app) error {
	if c.JSON {
		return a.printJSON(map[string][]string{"clients": hostNames()})
	}
	rows := [][]string{}
	for _, h := range hosts {
		rows = append(rows, []string{h.name, h.title})
	}
	return a.print(table(rows...) + "\nNext: pdpp setup CLIENT\n")
}

// provider is the one that was named, or the only one with a credential.
func (c *setupCommand) provider(cache *credential.Cache) (string, error) {
	if c.URL != "" {
		return credential.Provider(c.URL)
	}
	all, err := cache.All()
	if err != nil {
		return "", err
	}
	known := map[string]bool{}
	for _, cred := range all {
		known[cred.Provider] = true
	}
	if len(known) != 1 {
		return "", &pdpp.Error{Code: pdpp.CodeUsage, Message: "Which server? Name it with --url URL.", Hint: "Servers with a saved credential: pdpp token list"}
	}
	return all[0].Provider, nil
}

// saveStep is what comes first where no credential can be used.
func saveStep(l launch, why error) string {
	step := "Save a credential for " + l.provider + ": " + quote(l.program) + " token import " + quote(l.provider)
	if l.cacheRoot != "" {
		step += " --cache-root " + quote(l.cacheRoot)
	}
	step += " (it reads a token of a grant from standard input)."
	if code := pdpp.CodeOf(why); code != pdpp.CodeNotConnected {
		step += " The saved one cannot be used: " + string(code) + "."
	}
	return step
}

func (s setupAnswer) text(h host, provider string) string {
	var b strings.Builder
	b.WriteString(h.title + ", reading " + provider + "\n\n")
	s.Recommended.write(&b)
	b.WriteString("\nThen try: \"What can you read of my data?\"\n")
	b.WriteString("A program keeps the list of tools it saw when the server was added: after an upgrade, refresh it or add the server again.\n")
	for _, other := range s.Alternatives {
		b.WriteString("\nOther ways\n\n")
		other.write(&b)
	}
	return b.String()
}

// absoluteProgram is where this program is: those that start it have another idea of
// where programs are.
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
