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
	provider, err := c.provider(a, cache)
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
	for _, other := range h.others {
		answer.Alternatives = append(answer.Alternatives, other(l))
	}
	save := recipe{}
	if _, err := cache.Choose(provider, ""); err != nil {
		save = saveRecipe(l, err)
	}
	if !c.JSON {
		return a.print(answer.text(h, provider, save))
	}
	if save.Snippet != "" {
		first := save.Steps[0] + " " + strings.TrimSpace(save.Snippet)
		answer.Recommended.Steps = append([]string{first}, answer.Recommended.Steps...)
	}
	return a.printJSON(answer)
}

func (c *setupCommand) list(a *app) error {
	if c.JSON {
		return a.printJSON(map[string][]string{"clients": hostNames()})
	}
	rows := [][]string{}
	for _, h := range hosts {
		rows = append(rows, []string{h.name, h.title})
	}
	return a.print(table(rows...) + "\n" + a.next(setupFor(c.URL, c.CacheRoot)))
}

// provider is the one that was named, or the only one with a credential.
func (c *setupCommand) provider(a *app, cache *credential.Cache) (string, error) {
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
		return "", &pdpp.Error{Code: pdpp.CodeUsage, Message: "Which server? Name it with --url URL.", Hint: "Servers with a saved credential: " + a.self() + " credentials list"}
	}
	return all[0].Provider, nil
}

// saveRecipe is what comes first where no credential can be used.
func saveRecipe(l launch, why error) recipe {
	step := "Save a credential: run this, paste the token of a grant, and press Enter:"
	if code := pdpp.CodeOf(why); code != pdpp.CodeNotConnected {
		step = "The saved credential cannot be used (" + string(code) + "). " + step
	}
	return recipe{Kind: "command", Steps: []string{step}, Snippet: importCommandFor(quote(l.program), l.provider, l.cacheRoot) + "\n"}
}

func (s setupAnswer) text(h host, provider string, save recipe) string {
	var b strings.Builder
	b.WriteString(h.title + ", reading " + provider + "\n\n")
	if save.Snippet == "" {
		s.Recommended.write(&b, "")
	} else {
		save.write(&b, "1. ")
		b.WriteString("\n")
		s.Recommended.write(&b, "2. ")
	}
	b.WriteString("\nThen try: \"What can you read of my data?\"\n")
	b.WriteString("A program keeps the list of tools it saw when the server was added: after an upgrade, refresh it or add the server again.\n")
	if len(s.Alternatives) > 0 {
		b.WriteString("\nOther ways\n")
	}
	for _, other := range s.Alternatives {
		b.WriteString("\n")
		other.write(&b, "")
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
