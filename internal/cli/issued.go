package cli

import (
	"context"
	"errors"

	"pdpp/internal/credential"
)

// issued is a credential that was just made, for a grant or a package.
type issued interface {
	credential() *credential.Credential
	savedAs(file string)
	answer() any
	text() string
}

// handing is how a new credential is handed over.
type handing struct {
	save      func(context.Context, *credential.Credential) (file string, err error)
	provider  string // that it is saved for; "" for nowhere
	cacheRoot string
	json      bool
}

// hand saves a new credential and shows it. The token is shown whatever becomes of the
// file: it is stored nowhere else.
func (a *app) hand(ctx context.Context, made issued, h handing) error {
	file, unsaved := h.save(ctx, made.credential())
	made.savedAs(file)
	unsaved = a.tell(unsaved)
	if h.json {
		return errors.Join(a.printJSON(made.answer()), unsaved)
	}
	text := made.text()
	if file != "" {
		text += a.next(setupFor(h.provider, h.cacheRoot))
	}
	return errors.Join(a.print(text), unsaved)
}
