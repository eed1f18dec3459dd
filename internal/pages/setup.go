package pages

import (
	"html/template"
	"net/http"
	"strings"

	"pdpp/internal/setup"
)

// setupBody fills setup.html: the list of assistants, or how one of them is connected.
type setupBody struct {
	Clients []setup.Client
	Answer  *setup.Answer
	Link    template.URL // opens the assistant; "" when it has no such link
	Try     string
	Note    string
}

func setupPage(v *visit) error {
	return v.render(http.StatusOK, "setup", &page{Title: "Connect an assistant", Section: "setup", Body: setupBody{Clients: setup.Clients()}})
}

// setupClient shows how an assistant is connected (H-185b). It is public: it contains no
// data and no secret.
func setupClient(v *visit) error {
	answer, ok := setup.For(v.r.PathValue("client"), setup.Place{Base: v.base})
	if !ok {
		return errNoPage
	}
	body := setupBody{Answer: &answer, Try: setup.Try, Note: setup.Note}
	if answer.Recommended.Kind == setup.KindLink {
		body.Link = template.URL(strings.TrimSpace(answer.Recommended.Steps[0].Snippet)) //nolint:gosec // from the table of recipes
	}
	return v.render(http.StatusOK, "setup", &page{Title: "Connect " + answer.Title, Section: "setup", Body: body})
}
