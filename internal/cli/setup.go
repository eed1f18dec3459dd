package cli

import (
	"os/exec"
	"path/filepath"
	"strings"

	"pdpp"
	"pdpp/internal/credential"
)

// setupCommand is `pdpp setup` (H-185b). It shows how to connect a program, the
// recommended way first. Its answers never contain a token.
type setupCommand struct {
	Client string `arg:"" optional:"" help:"Program to connect; without it: list the programs."`
	URL    string `name:"url" var:"PDPP_PROVIDER_URL" placeholder:"URL" help:"Server to read (default: the only one with a saved credential)."`
	cacheFlag
	jsonFlag
}

// setupAnswer is the object of H-185c.
type setupAnswer struct {
	Client       string   `json:"client"`
	Recommended  recipe   `json:"recommended"`
	Alternatives []recipe `json:"alternatives"`
	CheckedOn    *string  `json:"checked_on"` // null: not tested with the program itself
}

// Run implements the command.
func (c *setupCommand) Run(a *app) error {
	if c.Client == "" {
		return c.list(a)
	}
	h, ok := findHost(c.Client)
	if !ok {
		return &pdpp.Error{Code: pdpp.CodeUsage, Message: "There is no recipe for " + plain(c.Client) + ".", Hint: "Choose one of: " + strings.Join(hostNames(), ", ") + "."}
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

// saveRecipe returns the first step when there is no usable credential.
func saveRecipe(l launch, why error) recipe {
	step := "Save a credential. Run this, paste the token of a grant, and press Enter:"
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
	b.WriteString("A program keeps the list of tools from when the server was added. After an upgrade, refresh the list or add the server again.\n")
	if len(s.Alternatives) > 0 {
		b.WriteString("\nOther ways\n")
	}
	for _, other := range s.Alternatives {
		b.WriteString("\n")
		other.write(&b, "")
	}
	return b.String()
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
